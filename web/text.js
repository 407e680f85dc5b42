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
