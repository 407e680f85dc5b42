// @ts-check
/** How often the device and the worker failed, and what follows: another try, or none. */

/** A device that is lost twice within so many milliseconds is done without. */
const UNSTEADY = 60_000;

/** Workers that fail one after the other without an answer between, and are replaced. */
const REPLACED = 2;

export class Failures {
  #crashes = 0;
  #lostAt = -Infinity;
  #lostOften = false;
  #now;

  /** @param {() => number} now  milliseconds by a clock that only goes on */
  constructor(now) {
    this.#now = now;
  }

  /** Whether a worker has failed since the last answer. */
  get crashed() {
    return this.#crashes > 0;
  }

  /** Whether WebGPU is done without, since it was lost too often. */
  get lostOften() {
    return this.#lostOften;
  }

  /** The worker failed. @returns {boolean}  whether another is to take its place */
  crash() {
    this.#crashes += 1;
    return this.#crashes <= REPLACED;
  }

  /** The device was lost. @returns {boolean}  whether another is to take its place */
  lose() {
    const now = this.#now();
    this.#lostOften = now - this.#lostAt < UNSTEADY;
    this.#lostAt = now;
    return !this.#lostOften;
  }

  /** The worker answered, or the visitor wants another try. */
  forgetCrashes() {
    this.#crashes = 0;
  }

  /** The visitor chose a device. */
  forgetLosses() {
    this.#lostAt = -Infinity;
    this.#lostOften = false;
  }
}
