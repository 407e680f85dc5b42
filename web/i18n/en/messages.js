// @ts-check
/** English texts about progress and failures, which the worker uses too. */

import { megabytes } from "../../shared/format.js";

export const messages = {
  preparing: "Preparing…",
  unexpected: "an unexpected error; see the browser’s console for details",

  startingAgain: "Starting again…",
  startingPython: "Starting Python…",
  tryAgain: "Try again",

  /** @param {number} done @param {number} total  bytes */
  loading: (done, total) => `Loading ${megabytes(done)} of ${megabytes(total)} MB`,

  /** @param {number} done @param {number} total */
  compiling: (done, total) => `Compiling kernels, ${done} of ${total}`,

  /** @param {number} kernels  0 where none are compiled */
  ready: (kernels) => (kernels ? `Ready · ${kernels} kernels compiled` : "Ready"),
  noStorage: "this browser stores nothing for this address.",
  insecure: "browsers store nothing for addresses without https.",
  planDamaged: "the saved plan is damaged; it will be compiled again",

  /** @param {string} why */
  workerFailed: (why) => `The worker failed: ${why}.`,

  /** @param {string} path */
  noWorkerFile: (path) => `${path} or a module that it imports could not be loaded`,

  /** @param {number} seconds */
  workerStuck: (seconds) => `The worker has not responded for ${seconds} seconds.`,

  workerGarbled: "The worker sent a message that the page can’t read.",

  /** @param {string} reason  a sentence */
  workerReplaced: (reason) => `${reason} Starting another…`,

  gpuLost: "The GPU device was lost. Opening another…",
  goingOnWithoutGpu: "The GPU device was lost twice within a minute. Continuing without it…",
  readyWithoutGpu: "Ready · without the GPU, since its device was lost twice",

  /** @param {string} device @param {string} why @param {string} other */
  goingOnWith: (device, why, other) => `${device} failed: ${why}. Continuing with ${other}…`,

  /** @param {string} why */
  startFailed: (why) => `The device could not be initialized: ${why}`,

  /** @param {string} model @param {string} why */
  modelFailed: (model, why) => `The model ${model} could not be loaded: ${why}`,

  /** @param {string} why */
  pythonFailed: (why) => `Python could not be started: ${why}`,

  /** @param {string} version */
  otherSnapshot: (version) => `The snapshot contains another version of Tallow, ${version}.`,

  /** @param {string} why */
  numpyFailed: (why) => `NumPy could not be loaded: ${why}`,

  // These four are the messages of web/gpu/device.js too.
  noGpuHere: "This browser has no WebGPU.",
  gpuNeedsHttps: "WebGPU needs a secure page: https, or an address of this computer.",
  noAdapter: "This browser has WebGPU, but found no adapter for it.",

  /** @param {string} why */
  adapterRefused: (why) => `The WebGPU adapter refused to open a device: ${why}`,

  otherDevice: "another device was chosen meanwhile.",
  nothingToCompare: "this browser can only use NumPy.",
  noSimd: "This browser’s WebAssembly has no SIMD instructions.",

  noWebAssembly:
    "This browser has no WebAssembly, or blocks it on this page. Python can’t run without it.",

  /** @param {string} path */
  unreachable: (path) =>
    `${path} could not be fetched: the server can’t be reached. Check the connection.`,

  /** @param {string} path */
  missing: (path) => `${path} is missing from the server (404).`,

  /** @param {string} path */
  notImported: (path) =>
    `${path} could not be loaded: it is missing or damaged, or the server can’t be reached.`,

  /** @param {string} path @param {number} status */
  refused: (path, status) => `${path} could not be fetched: the server answered ${status}.`,

  /** @param {string} path @param {number} seconds */
  silent: (path, seconds) =>
    `${path} could not be fetched: the server was silent for ${seconds} seconds.`,

  /** @param {string} path @param {number} bytes */
  cutOff: (path, bytes) => `${path} was cut off after ${bytes} bytes. Check the connection.`,

  /** @param {string} path @param {number} found @param {number} expected */
  wrongSize: (path, found, expected) =>
    `${path} is damaged: it has ${found} bytes, expected ${expected}.`,

  /** @param {string} path @param {string} found @param {string} expected */
  wrongSum: (path, found, expected) =>
    `${path} is damaged: its sha256 is ${found}, expected ${expected}.`,

  /** @param {string} path */
  notJson: (path) => `${path} is damaged: it is not JSON.`,

  /** @param {string} name @param {string} names */
  noModel: (name, names) => `There is no model named ${name}. There are: ${names}.`,
};
