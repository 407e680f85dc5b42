// @ts-check
/** Counts failures of the device and of the worker, and decides whether to try again. */

/** WebGPU is given up when the device is lost twice within this many milliseconds. */
const MIN_MS_BETWEEN_LOSSES = 60_000;

/** How many workers in a row are replaced that fail without an answer in between. */
const MAX_REPLACED = 2;

/** Errors of devices, in JavaScript and in Python, after which another device may take over. */
export const FAULTS = new Set(["DeviceError", "OutOfMemoryError", "DeviceMemoryError"]);

export class Failures {
  #crashes = 0;
  #crashed = false;
  #lostAt = -Infinity;
  #lostOften = false;
  #now;

  /** @param {() => number} now  milliseconds of a monotonic clock */
  constructor(now) {
    this.#now = now;
  }

  /** Whether a worker failed since the last answer, other than one that never began. */
  get crashed() {
    return this.#crashed;
  }

  /** Whether WebGPU was given up because the device was lost too often. */
  get lostOften() {
    return this.#lostOften;
  }

  /**
   * The worker failed.
   * @param {boolean} begun  whether it had ever sent a message
   * @returns {boolean}  whether to start another
   */
  crash(begun) {
    this.#crashes += 1;
    this.#crashed ||= begun;
    return this.#crashes <= MAX_REPLACED;
  }

  /** The device was lost. @returns {boolean}  whether to open another */
  lose() {
    const now = this.#now();
    this.#lostOften = now - this.#lostAt < MIN_MS_BETWEEN_LOSSES;
    this.#lostAt = now;
    return !this.#lostOften;
  }

  /** The worker answered, or the visitor asked to try again. */
  forgetCrashes() {
    this.#crashes = 0;
    this.#crashed = false;
  }

  /** The visitor chose a device. */
  forgetLosses() {
    this.#lostAt = -Infinity;
    this.#lostOften = false;
  }
}
