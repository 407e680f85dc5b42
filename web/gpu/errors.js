// @ts-check
/**
 * What the runner rejects with; py/tallow/runtime/browser.py knows these names. The messages are plain
 * English; a page in another language translates by `code`.
 */

/** The device refused: a mistake in a plan, or in what was fed. */
export class DeviceError extends Error {
  name = "DeviceError";
}

/**
 * There is no device here, and why not:
 *   NO_WEBGPU        this browser or worker has no navigator.gpu
 *   INSECURE_PAGE    browsers offer WebGPU to secure contexts only
 *   NO_ADAPTER       no adapter was found
 *   ADAPTER_REFUSED  the adapter opened no device; `details` holds the browser's reason
 * @typedef {"NO_WEBGPU" | "INSECURE_PAGE" | "NO_ADAPTER" | "ADAPTER_REFUSED"} UnavailableCode
 */
export class DeviceUnavailableError extends DeviceError {
  name = "DeviceUnavailableError";

  /**
   * @param {UnavailableCode} code
   * @param {string} message
   * @param {...string} details  parts of the message that come from the browser
   */
  constructor(code, message, ...details) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** The device went away; a new one must be opened. */
export class DeviceLostError extends DeviceError {
  name = "DeviceLostError";
}

/** The device has no memory left for this. */
export class OutOfMemoryError extends DeviceError {
  name = "OutOfMemoryError";
}
