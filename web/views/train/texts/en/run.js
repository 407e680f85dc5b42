// @ts-check
/** English texts of the Train view: settings, a run, the list of runs. */

import { bytes, count, percent } from "../../../../shared/format.js";
import { seconds } from "../../seconds.js";

export const texts = {
  trainStart: "Start",
  trainResume: "Resume",

  /** @param {number} size @param {string} licence */
  trainNeeds: (size, licence) =>
    `${bytes(size)} to download once; then it works offline. Licence: ${licence}.`,
  trainNoData: "This site has no data to learn from.",

  /** @param {string} why */
  trainNoList: (why) => `The list of data did not arrive: ${why}`,

  trainIdle: "Press Start, and watch the network learn here.",
  trainStarting: "Python is starting; then the network learns…",
  trainOpening: "Opening the data and the network…",

  /** @param {number} done @param {number | null} total */
  trainFetching: (done, total) =>
    `Downloading the data: ${bytes(done)}${total === null ? "" : ` of ${bytes(total)}`}`,

  /** @param {number} epoch @param {number} epochs @param {number} step @param {number} steps */
  trainRunning: (epoch, epochs, step, steps) =>
    `Learning: epoch ${epoch} of ${epochs}, step ${count(step)} of ${count(steps)}`,
  trainPausing: "Pausing after this step…",

  /** @param {number} step @param {number} steps */
  trainPaused: (step, steps) =>
    `Paused after step ${count(step)} of ${count(steps)}. The run is saved.`,

  /** @param {number} step */
  trainStopped: (step) => `Stopped after step ${count(step)}. The run is saved.`,

  /** @param {number} step */
  trainDone: (step) => `Done after ${count(step)} steps.`,

  trainNotBegun: "Nothing was learnt.",

  /** @param {string} why */
  trainFailed: (why) => `Training failed: ${why}`,

  /** @param {number} step */
  trainFailedAfter: (step) => `Failed after step ${count(step)}.`,

  /** @param {number} lost @param {number} step */
  trainLossKept: (lost, step) =>
    `the loss of step ${count(lost)} is not a finite number. The network is that of step ${count(step)}, its last good checkpoint, which is kept. Lower the learning rate, or look at the data.`,

  /** @param {number} lost */
  trainLossLost: (lost) =>
    `the loss of step ${count(lost)} is not a finite number, and no checkpoint was kept before. Lower the learning rate, or look at the data, and begin again.`,
  trainFull:
    "the browser’s storage is full. What was kept is still there, and so is the network in memory: remove runs, then resume.",

  /** @param {string} why */
  trainUnkept: (why) => `the browser does not keep the run: ${why}`,
  trainBatchTooLarge:
    "the batch is larger than the data to learn from. Take a smaller batch, or more data.",
  trainDataDamaged:
    "the data files are damaged, or their labels are out of range. Choose other data, and let the site's owner know.",
  trainAllDamaged: "all checkpoints of this run are damaged. Remove it, and begin another one.",

  /** @param {string} name */
  trainNoRunFile: (name) => `“${name}” is no run, or it is damaged. Nothing was changed.`,

  trainHidden:
    "This tab was in the background, where browsers slow pages down; nothing is lost by that.",

  /** @param {number} parameters @param {number} samples */
  trainBegun: (parameters, samples) =>
    `${count(parameters)} parameters learn from ${count(samples)} samples an epoch.`,

  /** @param {number} left */
  trainSeconds: (left) => seconds(left),

  trainCount: "Samples (all if empty)",
  trainBatch: "Batch",
  trainEpochs: "Epochs",
  trainOptimizer: "Optimiser",
  trainRateField: "Learning rate",
  trainMomentum: "Momentum",
  trainDecay: "Weight decay",
  trainSchedule: "Schedule",
  trainOnecycle: "one cycle",
  trainCosine: "cosine",
  trainConstant: "constant",
  trainSeed: "Seed",
  trainMirror: "Mirror pictures",
  trainShift: "Shift pictures",
  trainRotate: "Rotate pictures",

  trainElsewhere: "This run learns in another tab right now. Pause it there, or begin another one.",
  trainNoRuns: "No runs are kept yet.",
  trainShow: "Open",
  trainRemove: "Remove",
  trainShare: "Save as a file",
  trainCompare: "Compare",
  trainName: "Name of the run",
  trainSetting: "Setting",
  trainDataName: "Data",
  trainAugment: "Changes to pictures",

  /** @param {number} step @param {number} epoch @param {number} epochs @param {string} state */
  trainRun: (step, epoch, epochs, state) =>
    `${state}, ${count(step)} steps, ${epoch} of ${epochs} epochs`,

  /** @param {number} share */
  trainRight: (share) => `· test accuracy ${percent(share)}`,

  /** @param {string} run */
  trainDamagedRun: (run) => `The run ${run} is damaged: what it was can't be read.`,

  trainLossCurve: "Loss",
  trainAccuracyCurve: "Accuracy",
  trainSteps: "Steps",

  /** @param {string} name */
  trainMeasured: (name) => `${name}, test data`,

  /** @param {string} name */
  trainOpened: (name) => `${name} is open.`,

  /** @param {string} checkpoints */
  trainDamaged: (checkpoints) =>
    `Damaged checkpoints were left out: ${checkpoints}. The run goes on from an older one.`,

  /** @param {number} room */
  trainRoom: (room) =>
    `The browser has only ${bytes(room)} left for this page. Remove runs before it is full.`,

  trainStatePaused: "paused",
  trainStateDone: "done",
  trainStateFailed: "failed",
};
