// @ts-check
/**
 * What the page's code says, in words: one place, so that the tone stays one.
 */

export const PREPARING = "Preparing…";
export const STARTING_AGAIN = "Starting again…";

/** @param {number} bytes */
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

/**
 * @param {string} device
 * @param {number | undefined} kernels
 */
export const ready = (device, kernels) =>
  device === "webgpu" && kernels ? `Ready · ${kernels} kernels compiled` : "Ready";

/**
 * The worker's progress.
 * @param {{stage: string, done?: number, total?: number}} progress
 * @returns {{words: string, done?: number, total?: number}}
 */
export function progress({ stage, done = 0, total = 0 }) {
  switch (stage) {
    case "download":
      return { words: `Loading ${megabytes(done)} of ${megabytes(total)} MB`, done, total };
    case "python":
      return { words: "Starting Python…" };
    case "kernels":
      return { words: `Compiling kernels, ${done} of ${total}`, done, total };
    default:
      return { words: PREPARING };
  }
}

/** @param {number} ms */
export function time(ms) {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  return `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}

/** @param {string} why */
export const digitFailed = (why) => `The digit could not be read: ${why}`;

/**
 * @param {string} name
 * @param {string} why
 */
export const photoFailed = (name, why) => `“${name}” could not be classified: ${why}`;

/** @param {string} name */
export const unknownModel = (name) =>
  `There is no model named “${name}” here; this is the one used instead.`;

/** @param {string} reason */
export const noWebGpu = (reason) => `WebGPU can’t be had: ${reason}`;

// Kernels

export const NO_KERNELS_YET = "Draw a digit or choose a photograph; its kernels are shown here.";
export const MEASURING = "Measuring…";
export const NO_WGSL = "NumPy computes this step: there is no WGSL.";
export const COPY = "Copy";
export const COPIED = "Copied";
export const COPY_BY_KEYS = "Marked: copy with the keyboard";

/** @param {string} why */
export const profileFailed = (why) => `The kernels could not be timed: ${why}`;

export const TUNE = "Tune for this device";
export const CANCEL = "Cancel";
export const CANCELLING = "Cancelling after this op…";
export const TUNING =
  "Times every kernel that could compute this model here, and keeps the fastest: some seconds.";
export const NO_TUNING_YET = "Once an answer is there and measured, its model can be tuned.";
export const NOTHING_TO_TUNE = "NumPy has one way to compute each op: there is nothing to tune.";

/**
 * @param {number} op
 * @param {number} total
 */
export const tuningOp = (op, total) => `Tuning, op ${op} of ${total}`;

/** @param {string} why */
export const tuningFailed = (why) => `The kernels could not be tuned: ${why}`;

/**
 * Python's words as a sentence of their own.
 * @param {string} words
 */
export const sentence = (words) => `${words[0].toUpperCase()}${words.slice(1)}.`;

/**
 * What tuning has changed.
 * @param {string} model
 * @param {import("./engine.js").Tuned} tuned
 */
export function tuned(model, { ops, measured, replaced, clock, stopped }) {
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
  const [
    {
      op,
      shape: [batch, ...sizes],
      gain,
    },
  ] = replaced;
  const best =
    gain > 1
      ? `, fastest gain ${op} ${shape(batch === 1 ? sizes : [batch, ...sizes])} ${gain.toFixed(1)}×`
      : "";
  return `${part}${model}: ${replaced.length} of ${measured} kernels replaced${best}. ${whose}`;
}

/** @param {number[]} shape */
export const shape = (shape) => shape.join("×");

/** @param {number} ms */
export const milliseconds = (ms) => `${ms.toFixed(ms < 10 ? 3 : 1)} ms`;

/** @param {number} share */
export const percent = (share) => `${(share * 100).toFixed(1)} %`;

/** @param {number} gflops */
export const gflops = (gflops) => gflops.toFixed(gflops < 10 ? 2 : 0);

/** @param {number} count */
export function bytes(count) {
  if (count < 1000) return `${count} B`;
  return count < 1e6 ? `${(count / 1000).toFixed(1)} kB` : `${megabytes(count)} MB`;
}

/**
 * How many kernels, how long, and how that is known.
 * @param {import("./widgets/kernels.js").Profile} profile
 */
export function profiled({ kernels, milliseconds: ms, source, repeats, resolution }) {
  const runs = repeats === 1 ? "one run" : `${repeats} runs`;
  const figure = repeats === 1 ? "in" : resolution ? "mean of" : "median of";
  const sum = `${kernels.length} kernels, ${milliseconds(ms)} in all.`;
  if (source === "counted") {
    return (
      `${sum} This device has no clock for single kernels: each one’s share is counted from its ` +
      `arithmetic and bytes, not measured. The whole is measured, over ${runs}.`
    );
  }
  const whose = source === "timestamp" ? "by the GPU’s own clock" : "by Python’s clock";
  if (!resolution) return `${sum} Measured ${whose}, ${figure} ${runs}.`;
  const tick = Number(resolution.toPrecision(2));
  return (
    `${sum} Measured ${whose}, ${figure} ${runs}; in this browser it ticks every ${tick} ms, so the ` +
    `times of short kernels are rough.`
  );
}
