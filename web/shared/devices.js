// @ts-check
/** The kinds of device, a record each. No other module tells them apart by name (tests/js/devices.test.js). */

/** @typedef {"webgpu" | "numpy"} Device */

/**
 * @type {Record<Device, {label: string, onGpu: boolean}>}
 * label: for people. onGpu: it needs an adapter, runs kernels and may be lost; the other computes in Python.
 */
export const DEVICES = {
  webgpu: { label: "WebGPU", onGpu: true },
  numpy: { label: "NumPy", onGpu: false },
};

/** The device that is used unless the visitor wants another. @type {Device} */
export const DEFAULT = "webgpu";

/** The device that works everywhere. @type {Device} */
export const FALLBACK = "numpy";

/** @param {string | null} text @returns {text is Device} */
export const isDevice = (text) => text !== null && Object.hasOwn(DEVICES, text);
