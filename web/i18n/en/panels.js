// @ts-check
/**
 * English texts of what views share: the pad; and of the panels below them: device, offline, boot
 * log, WebGPU beside NumPy, kernels.
 */

import { milliseconds, picture, tiny } from "../../shared/format.js";

export const panels = {
  /** For screen readers, while the keyboard draws on the pad. */
  penDown: "Pen down",
  penUp: "Pen up",

  /** @param {string} device @param {string} reason  a sentence */
  unavailable: (device, reason) => `${device} is unavailable: ${reason}`,
  unnamedAdapter: "Unnamed WebGPU adapter",
  relaxed: " with relaxed SIMD",

  /** @param {string} adapter @param {number} threads */
  withThreads: (adapter, threads) =>
    `${adapter}, ${threads === 1 ? "one thread" : `${threads} threads`}`,

  /** @param {string} adapter */
  notIsolated: (adapter) =>
    `${adapter}, one thread: more need a page that its server has isolated from other origins`,

  /** @param {string} asked @param {number} most */
  notThreads: (asked, most) =>
    `threads=${asked} in the address is no number of threads: choose a whole number from 1 to ${most}.`,

  keeping: "Saving for offline use…",
  kept: "Works offline",
  /** @param {string} why */
  notKept: (why) => `Does not work offline: ${why}`,
  newer: "A new version of this page is available.",
  reload: "Reload to update",
  keepingFailed: "the files could not be saved; the next visit will try again.",
  noServiceWorker: "this browser stores no files for this address.",

  nothingToCheck: "Draw a digit or choose a photograph first.",
  aboutCheck: "Computes this answer on NumPy too, and shows the largest difference.",
  aboutCompare: "Computes this answer on each device, and shows the times side by side.",
  computingEach: "Computing on each device…",

  /** @param {number} difference @param {number} classes */
  checked: (difference, classes) =>
    `The largest difference among the ${classes} probabilities is ${tiny(difference)}: ` +
    (difference < 1e-3 ? "the devices agree." : "more than rounding explains."),

  /** @param {string} model @param {number} runs */
  compared: (model, runs) =>
    `${model}: the first run includes compiling; the warm time is a median of up to ${runs} runs.`,

  /** @param {"first" | "warm"} run @param {string} device */
  runOn: (run, device) => `${run === "first" ? "First run" : "Warm"} · ${device}`,

  /** @param {string} why */
  eachFailed: (why) => `The devices could not be compared: ${why}`,

  /** @type {Record<import("../../shared/stages.js").StageName, (model: string) => string>} */
  stages: {
    snapshot: () => "Python and Tallow, from a snapshot",
    numpySnapshot: () => "Python, Tallow and NumPy, from a snapshot",
    python: () => "Python runtime",
    tallow: () => "Tallow",
    numpy: () => "NumPy",
    model: (model) => `Model ${model}`,
    plan: (model) => `Plan of ${model}, from an earlier visit`,
    kernels: (model) => `Kernels of ${model}`,
    keep: (model) => `Saving the plan of ${model}`,
    storage: () => "Saving plans for later visits",
  },

  /** @param {number} done @param {number} total */
  kernelsOf: (done, total) => `${done} of ${total}`,

  /** @param {string} why */
  stageFailed: (why) => `failed: ${why}`,
  withoutGpu:
    "Without the GPU: its device was lost twice within a minute. Choose WebGPU to try again.",

  elsewhere: "Another machine",

  /** @param {string} why */
  machineAway: (why) =>
    `The other machine is gone: ${why}. Continuing without it; choose it again to reconnect.`,

  noKernelsYet: "Draw a digit or choose a photograph to see its kernels here.",
  measuring: "Measuring…",
  noCode: "NumPy computes this step: it has no code of its own.",
  copy: "Copy",
  copied: "Copied",
  copyByKeys: "Selected: copy with the keyboard",

  /** @param {string} groups */
  workgroups: (groups) => `${groups} workgroups`,

  /** @param {string} why */
  profileFailed: (why) => `The kernels could not be timed: ${why}`,

  /**
   * The number of kernels, their total time, and how it was measured.
   * @param {import("../../shared/contract.js").Profile} profile
   */
  profiled: ({ kernels, milliseconds: ms, source, repeats, resolution }) => {
    const runs = repeats === 1 ? "one run" : `${repeats} runs`;
    const figure = repeats === 1 ? "in" : resolution ? "mean of" : "median of";
    const sum = `${kernels.length} kernels, ${milliseconds(ms)} in all.`;
    if (source === "counted") {
      return (
        `${sum} This device can’t time single kernels: each share is estimated from the kernel’s ` +
        `arithmetic and bytes, not measured. The total is measured over ${runs}.`
      );
    }
    const whose = source === "timestamp" ? "by the GPU’s own clock" : "by Python’s clock";
    if (!resolution) return `${sum} Measured ${whose}, ${figure} ${runs}.`;
    const tick = Number(resolution.toPrecision(2));
    return (
      `${sum} Measured ${whose}, ${figure} ${runs}; in this browser it ticks every ${tick} ms, so ` +
      `the times of short kernels are rough.`
    );
  },

  tune: "Tune for this device",
  cancel: "Cancel",
  cancelling: "Cancelling after this op…",
  tuning:
    "Times every kernel that could compute this model here and keeps the fastest. Takes some seconds.",
  noTuningYet: "A model can be tuned once one of its answers has been measured.",
  tunedThere: "The machine that computes chooses its own kernels; it can be tuned there.",
  nothingToTune: "NumPy has only one way to compute each op, so there is nothing to tune.",

  /** By the kind of warning that py/tallow/devices/webgpu/tuning.py gives. */
  tuningWarnings: {
    /** @param {string} why @param {string} kernel */
    leftOut: (why, kernel) => `${kernel} was left out: ${why}.`,
    /** @param {string} why */
    unread: (why) =>
      `The tuning record can’t be read because this browser refuses storage: ${why}. ` +
      `Kernels are chosen by rule.`,
    /** @param {string} why */
    damaged: (why) =>
      `The tuning record was discarded: ${why}. Kernels are chosen by rule until you tune again.`,
    /** @param {string} why */
    unkept: (why) =>
      `The tuning record can’t be saved because this browser refuses storage: ${why}.`,
  },

  /** @param {number} op @param {number} total */
  tuningOp: (op, total) => `Tuning, op ${op} of ${total}`,

  /** @param {string} why */
  tuningFailed: (why) => `The kernels could not be tuned: ${why}`,

  /** @param {string} why */
  viewFailed: (why) => `This view could not be started: ${why}. The others can be used.`,

  tuningCancelled: "Cancelled before anything was measured: nothing changed.",

  /**
   * What tuning changed.
   * @param {string} model
   * @param {import("../../shared/contract.js").Tuned} tuned
   */
  tuned: (model, { ops, measured, replaced, clock }) => {
    if (!ops) return `${model} has no op with a choice of kernels: nothing changed.`;
    if (!measured) return panels.tuningCancelled;
    const early = measured < ops;
    const part = early ? `Cancelled: ${measured} of ${ops} ops were measured and are kept. ` : "";
    const whose =
      clock === "timestamp"
        ? "Timed by the GPU’s own clock."
        : "Timed by the page’s clock, since this device can’t time single kernels.";
    if (!replaced.length) {
      return `${part}${model}: the rule had already chosen the fastest, so no kernel was replaced. ${whose}`;
    }
    const [{ op, shape, gain }] = replaced;
    const best = gain > 1 ? `, fastest gain ${op} ${picture(shape)} ${gain.toFixed(1)}×` : "";
    return `${part}${model}: ${replaced.length} of ${measured} kernels replaced${best}. ${whose}`;
  },
  copyJson: "Copy as JSON",
  copyCsv: "Copy as CSV",
};
