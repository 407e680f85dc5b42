// @ts-check
/**
 * The errors that the runner throws. py/tallow/devices/webgpu/browser.py recognises them by name.
 * Their messages are in English; a page in another language translates those that have a `code`.
 */

/** The device rejected something: the plan or the inputs are wrong. */
export class DeviceError extends Error {
  name = "DeviceError";
}

/**
 * Why there is no device:
 *   NO_WEBGPU        this browser or worker has no navigator.gpu
 *   INSECURE_PAGE    browsers offer WebGPU to secure contexts only
 *   NO_ADAPTER       no adapter was found
 *   ADAPTER_REFUSED  the adapter could not open a device; `details` holds the browser's reason
 * @typedef {"NO_WEBGPU" | "INSECURE_PAGE" | "NO_ADAPTER" | "ADAPTER_REFUSED"} UnavailableCode
 */

/** There is no device. */
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

/** The device was lost. To continue, open a new one. */
export class DeviceLostError extends DeviceError {
  name = "DeviceLostError";
}

/** The device does not compile the WGSL of a user's op (tl.custom_op in Python). */
export class KernelError extends DeviceError {
  name = "KernelError";

  /**
   * @param {string} message
   * @param {string} op
   * @param {number} line  of the WGSL, counted from 1; 0 where the device does not tell
   */
  constructor(message, op, line) {
    super(message);
    this.op = op;
    this.line = line;
  }
}

/** The device is out of memory. */
export class OutOfMemoryError extends DeviceError {
  name = "OutOfMemoryError";
}
