// @ts-check
/** What the panels below the views say: device, offline, boot log, WebGPU beside NumPy, kernels, in English. */

import { milliseconds, picture, tiny } from "../../shared/format.js";

export const panels = {
  /** @param {string} reason */
  noWebGpu: (reason) => `WebGPU can’t be had: ${reason}`,
  unnamedAdapter: "WebGPU adapter that does not tell its name",

  keeping: "Being kept, to work offline…",
  kept: "Works offline",
  /** @param {string} why */
  notKept: (why) => `Does not work offline: ${why}`,
  newer: "A new version of this page is here.",
  reload: "Reload with it",
  keepingFailed: "the files could not be kept; the next visit tries again.",
  noServiceWorker: "this browser keeps no files for this address.",

  nothingToCheck: "Draw a digit or choose a photograph first.",
  aboutCheck: "Computes this answer on both, and shows the largest difference.",
  aboutCompare: "Computes this answer on both, and shows the times side by side.",
  computingBoth: "Computing on both…",

  /** @param {number} difference @param {number} classes */
  checked: (difference, classes) =>
    `The largest difference of the ${classes} probabilities is ${tiny(difference)}: ` +
    (difference < 1e-3 ? "WebGPU and NumPy agree." : "more than rounding explains."),

  /** @param {string} model @param {number} runs */
  compared: (model, runs) =>
    `${model}: the first answer includes compiling; a warm one is the median of up to ${runs}.`,

  /** @param {"first" | "warm"} run @param {string} device */
  runOn: (run, device) => `${run === "first" ? "First run" : "Warm"} · ${device}`,

  /** @param {string} why */
  bothFailed: (why) => `The answer could not be computed on both: ${why}`,

  /** @type {Record<import("../../widgets/engine/bootlog.js").Stage["name"], (model: string) => string>} */
  stages: {
    snapshot: () => "Python and Tallow, from a snapshot",
    numpySnapshot: () => "Python, Tallow and NumPy, from a snapshot",
    python: () => "Python runtime",
    tallow: () => "Tallow",
    numpy: () => "NumPy",
    model: (model) => `Model ${model}`,
    plan: (model) => `Plan of ${model}, from an earlier visit`,
    kernels: (model) => `Kernels of ${model}`,
    keep: (model) => `Keeping the plan of ${model}`,
    storage: () => "Keeping plans for later visits",
  },

  /** @param {number} done @param {number} total */
  kernelsOf: (done, total) => `${done} of ${total}`,

  /** @param {string} why */
  stageFailed: (why) => `failed: ${why}`,
  withoutGpu:
    "NumPy, since the GPU device was lost twice within a minute. Choose WebGPU to try it again.",

  noKernelsYet: "Draw a digit or choose a photograph; its kernels are shown here.",
  measuring: "Measuring…",
  noWgsl: "NumPy computes this step: there is no WGSL.",
  copy: "Copy",
  copied: "Copied",
  copyByKeys: "Marked: copy with the keyboard",

  /** @param {string} groups */
  workgroups: (groups) => `${groups} workgroups`,

  /** @param {string} why */
  profileFailed: (why) => `The kernels could not be timed: ${why}`,

  /**
   * How many kernels, how long, and how that is known.
   * @param {import("../../widgets/kernels/kernels.js").Profile} profile
   */
  profiled: ({ kernels, milliseconds: ms, source, repeats, resolution }) => {
    const runs = repeats === 1 ? "one run" : `${repeats} runs`;
    const figure = repeats === 1 ? "in" : resolution ? "mean of" : "median of";
    const sum = `${kernels.length} kernels, ${milliseconds(ms)} in all.`;
    if (source === "counted") {
      return (
        `${sum} This device has no clock for single kernels: each one’s share is counted from ` +
        `its arithmetic and bytes, not measured. The whole is measured, over ${runs}.`
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
    "Times every kernel that could compute this model here, and keeps the fastest: some seconds.",
  noTuningYet: "Once an answer is there and measured, its model can be tuned.",
  nothingToTune: "NumPy has one way to compute each op: there is nothing to tune.",

  /** By kind, of py/tallow/tuning.py. */
  tuningWarnings: {
    /** @param {string} why @param {string} kernel */
    leftOut: (why, kernel) => `${kernel} was left out: ${why}.`,
    /** @param {string} why */
    unread: (why) =>
      `The tuning record cannot be read: this browser refuses storage: ${why}. ` +
      `Kernels are chosen by rule.`,
    /** @param {string} why */
    damaged: (why) =>
      `The tuning record is thrown away: ${why}. Kernels are chosen by rule until it is tuned again.`,
    /** @param {string} why */
    unkept: (why) => `The tuning record is not kept: this browser refuses storage: ${why}.`,
  },

  /** @param {number} op @param {number} total */
  tuningOp: (op, total) => `Tuning, op ${op} of ${total}`,

  /** @param {string} why */
  tuningFailed: (why) => `The kernels could not be tuned: ${why}`,

  /**
   * What tuning has changed.
   * @param {string} model
   * @param {import("../../engine/types.js").Tuned} tuned
   */
  tuned: (model, { ops, measured, replaced, clock, stopped }) => {
    if (!ops) return `${model} has no op with a choice of kernels: nothing changed.`;
    if (!measured) return "Cancelled before anything was measured: nothing changed.";
    const early = stopped && measured < ops;
    const part = early ? `Cancelled: ${measured} of ${ops} ops were measured, which is kept. ` : "";
    const whose =
      clock === "timestamp"
        ? "Timed by the GPU’s own clock."
        : "Timed by the page’s clock, since this device has none for single kernels.";
    if (!replaced.length) {
      return `${part}${model}: the rule was right already, no kernel replaced. ${whose}`;
    }
    const [{ op, shape, gain }] = replaced;
    const best = gain > 1 ? `, fastest gain ${op} ${picture(shape)} ${gain.toFixed(1)}×` : "";
    return `${part}${model}: ${replaced.length} of ${measured} kernels replaced${best}. ${whose}`;
  },
};
