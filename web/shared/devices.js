// @ts-check
/**
 * The kinds of device, one record for each. No other module compares their names
 * (tests/js/devices.test.js).
 */

/** @typedef {"webgpu" | "wasm" | "numpy" | "remote"} Device */

/**
 * A machine that lends its device: what Python calls it, "remote:https://host", and what it asks for.
 * @typedef {{name: string, token: string}} Machine
 */

/**
 * label: for people. onGpu: whether it needs an adapter and can be lost. needsNumpy: whether Python
 * needs NumPy for everything; otherwise only for steps that have no kernel. instead: the device that
 * takes over if a model or an answer fails on this one. elsewhere: whether it is another machine's,
 * which only Python reaches, and whose label is a text (i18n/labels.js).
 * @type {Record<Device, {label: string, onGpu: boolean, needsNumpy: boolean, instead: Device | null,
 *   elsewhere?: true}>}
 */
export const DEVICES = {
  webgpu: { label: "WebGPU", onGpu: true, needsNumpy: false, instead: null },
  wasm: { label: "WebAssembly", onGpu: false, needsNumpy: false, instead: "numpy" },
  numpy: { label: "NumPy", onGpu: false, needsNumpy: true, instead: null },
  remote: { label: "", onGpu: false, needsNumpy: false, instead: "wasm", elsewhere: true },
};

/** The most threads that WebAssembly can have, as in py/tallow/devices/wasm/threads.py. */
export const MOST_THREADS = 64;

/**
 * The best device here: WebGPU if its adapter is hardware, otherwise WebAssembly, which is several
 * times as fast as an adapter that runs on the CPU (docs/performance.md). NumPy works everywhere.
 */
export const BEST = "best";

/** @typedef {Device | typeof BEST} Wanted */

/** The device that is tried first. @param {Wanted} device @returns {Device} */
export const triedFirst = (device) => (device === BEST ? "webgpu" : device);

/** The device to try next when the GPU fails. @type {Device} */
export const FALLBACK = "wasm";

/** The device that works everywhere, against which the others are checked. @type {Device} */
export const REFERENCE = "numpy";

/** @param {string | null} text @returns {text is Device} */
export const isDevice = (text) => text !== null && Object.hasOwn(DEVICES, text);
