// @ts-check
/**
 * The kinds of device, one record for each. No other module compares their names
 * (tests/js/devices.test.js).
 */

/** @typedef {"webgpu" | "wasm" | "numpy"} Device */

/**
 * label: for people. onGpu: whether it needs an adapter, runs kernels and can be lost. Otherwise it
 * computes without one, and Python does what has no kernel.
 * @type {Record<Device, {label: string, onGpu: boolean}>}
 */
export const DEVICES = {
  webgpu: { label: "WebGPU", onGpu: true },
  wasm: { label: "WebAssembly", onGpu: false },
  numpy: { label: "NumPy", onGpu: false },
};

/** The device that is used unless the visitor chooses another. @type {Device} */
export const DEFAULT = "webgpu";

/** The device that works everywhere. @type {Device} */
export const FALLBACK = "numpy";

/** @param {string | null} text @returns {text is Device} */
export const isDevice = (text) => text !== null && Object.hasOwn(DEVICES, text);
