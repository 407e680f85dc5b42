// @ts-check
/** English texts of the Train view: what a run has learnt, and answers of its network. */

import { count } from "../../../../shared/format.js";

/** @param {number} samples */
const samplesOf = (samples) => (samples === 1 ? "1 sample" : `${count(samples)} samples`);

export const texts = {
  trainConfusion: "Confusion matrix",
  trainConfusionHow: "A row for each class, a column for what the network took it for",
  trainTrue: "True ↓ taken for →",

  /** @param {string} label @param {string} predicted @param {number} samples */
  trainCell: (label, predicted, samples) =>
    label === predicted
      ? `${label}, recognised: ${samplesOf(samples)}`
      : `${label}, taken for ${predicted}: ${samplesOf(samples)}`,

  /** @param {string} label @param {string} predicted @param {string} share */
  trainSample: (label, predicted, share) =>
    label === predicted ? `${label} (${share})` : `${label}, taken for ${predicted} (${share})`,

  /** @param {string} why */
  trainSamplesFailed: (why) => `The samples could not be shown: ${why}`,

  trainLook: "See what this run has learnt",
  trainMistakes: "The worst mistakes",

  /** @param {number} wrong */
  trainWrong: (wrong) =>
    wrong === 1
      ? "1 sample of the test data is wrong."
      : `${count(wrong)} samples of the test data are wrong.`,

  trainNoneWrong: "No sample of the test data is wrong.",
  trainFilters: "Filters of the first layer",
  trainNorms: "Size of the gradients, by layer",
  trainUse: "Try it",
  trainUseBars: "Probability of each class",
  trainUsePad: "Pad to draw on; the network answers while you draw",
  trainUseKeys:
    "Mouse, finger or pen. Or arrows move, hold Space to draw; Enter lowers and lifts the pen.",
  trainUseClear: "Clear",
  trainUsePhoto: "Choose a photograph",
  trainUseCamera: "Use the camera",
  trainUseSound: "Choose a sound file",
  trainUseRecord: "Use the microphone",
  trainUseRecorded: "End the recording",

  /** @param {string} label */
  trainUseSaid: (label) => `Most probable: ${label}`,

  trainWritten: "What it writes",

  /** @param {number} step */
  trainWrittenAt: (step) => `After step ${count(step)}, in its own words:`,

  trainWriteBegin: "How the text begins",
  trainWrite: "Go on with it",
  trainWriteStop: "Stop writing",

  /** @param {string} why */
  trainNotWritten: (why) => `The network wrote nothing: ${why}`,

  /** @param {string} why */
  trainUseFailed: (why) => `The network did not answer: ${why}`,

  trainUseDraw: "Use in Draw",
  trainUseClassify: "Use in Classify",
  trainNoRoom:
    "The browser’s storage has no room for this. Remove runs, then try again: nothing is lost.",

  /** @param {string} why */
  trainUseNotPlaced: (why) => `The network could not be used elsewhere: ${why}`,
};
