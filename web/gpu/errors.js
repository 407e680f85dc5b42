// @ts-check
/** What the runner rejects with; py/tallow/runtime/browser.py knows these names. */

/** The device refused: a mistake in a plan, or in what was fed. */
export class DeviceError extends Error {
  name = "DeviceError";
}

/** The device went away; a new one must be opened. */
export class DeviceLostError extends DeviceError {
  name = "DeviceLostError";
}

/** The device has no memory left for this. */
export class OutOfMemoryError extends DeviceError {
  name = "OutOfMemoryError";
}
