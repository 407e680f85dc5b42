// @ts-check
/**
 * The WebGPU runner: a device that programs (program.js) are loaded on, and how it fails.
 */

import { Buffers } from "./buffers.js";
import { DeviceError, DeviceLostError, OutOfMemoryError } from "./errors.js";
import { Program } from "./program.js";

/** Milliseconds in which a lost device tells that it is lost. */
const LAST_WORDS = 100;

export class Runner {
  /**
   * @param {GPUDevice} device
   * @param {{name: string}} info
   */
  constructor(device, info) {
    this.device = device;
    this.info = info;
    /** Why the device is gone, once it is. @type {DeviceLostError | undefined} */
    this.lost = undefined;
    /** How to tell those who wait for the device. @type {Set<(error: Error) => void>} */
    this.waiting = new Set();
    /** Resolves, before anything fails with it. @type {Promise<DeviceLostError>} */
    this.loss = device.lost.then(({ reason, message }) => {
      this.lost = new DeviceLostError(`The GPU device was lost (${reason}): ${message}`);
      for (const tell of this.waiting) tell(this.lost);
      return this.lost;
    });
    /** What stays on the device between runs. */
    this.buffers = new Buffers(this);
    /** What went wrong where nobody waited, until somebody reads. @type {DeviceError | undefined} */
    this.failure = undefined;
    device.addEventListener("uncapturederror", (event) => {
      const { error } = /** @type {GPUUncapturedErrorEvent} */ (event);
      this.failure ??=
        error instanceof GPUOutOfMemoryError
          ? new OutOfMemoryError(`the device has no memory: ${error.message}`)
          : new DeviceError(error.message);
    });
    /**
     * Pipelines by code and constants: what one program uses, another need not compile again.
     * @type {Map<string, WeakRef<GPUComputePipeline>>}
     */
    this.pipelines = new Map();
    /** @type {FinalizationRegistry<string>} */
    this.dropped = new FinalizationRegistry((key) => {
      if (!this.pipelines.get(key)?.deref()) this.pipelines.delete(key);
    });
  }

  /**
   * Wait for the device, but not longer than it lives.
   * @template T
   * @param {Promise<T>} promise
   * @returns {Promise<T>}
   */
  async whileAlive(promise) {
    if (this.lost) {
      promise.catch(() => {}); // which may fail now, but says less
      throw this.lost;
    }
    /** @type {(error: Error) => void} */
    let tell = () => {};
    // No Promise.race with `loss`: that would remember every call for as long as the device lives.
    const lost = new Promise((_, reject) => this.waiting.add((tell = reject)));
    try {
      return await Promise.race([promise, /** @type {Promise<never>} */ (lost)]);
    } catch (error) {
      // A device that goes away fails what waits on it before it says so itself.
      await Promise.race([this.loss, new Promise((resolve) => setTimeout(resolve, LAST_WORDS))]);
      throw this.lost ?? error;
    } finally {
      this.waiting.delete(tell);
    }
  }

  /**
   * Do something on the device and reject if it was invalid or had no memory.
   * @param {string} what  for the message
   * @param {() => void} action
   * @returns {Promise<void>}
   */
  async checked(what, action) {
    const { device } = this;
    device.pushErrorScope("validation");
    device.pushErrorScope("out-of-memory");
    // Scopes are popped in the same turn as they were pushed, so that they never interleave.
    const scopes = [];
    try {
      action();
    } finally {
      scopes.push(device.popErrorScope(), device.popErrorScope());
    }
    const [memory, validation] = await this.whileAlive(Promise.all(scopes));
    if (memory) throw new OutOfMemoryError(`${what}: the device has no memory: ${memory.message}`);
    if (validation) throw new DeviceError(`${what}: ${validation.message}`);
  }

  /** Throw what went wrong where nobody waited, once. */
  throwFailure() {
    const { failure } = this;
    this.failure = undefined;
    if (failure) throw failure;
  }

  /**
   * A pipeline that some program has, or had not long ago; else the one that is made.
   * @param {string} key  its code and constants
   * @param {() => Promise<GPUComputePipeline>} make
   */
  async pipeline(key, make) {
    return this.pipelines.get(key)?.deref() ?? this.#remember(key, await make());
  }

  /**
   * The same, made at once.
   * @param {string} key
   * @param {() => GPUComputePipeline} make
   */
  pipelineNow(key, make) {
    return this.pipelines.get(key)?.deref() ?? this.#remember(key, make());
  }

  /**
   * @param {string} key
   * @param {GPUComputePipeline} made
   */
  #remember(key, made) {
    this.pipelines.set(key, new WeakRef(made));
    this.dropped.register(made, key);
    return made;
  }

  /**
   * Load a plan.
   * @param {import("./program.js").Plan} plan
   * @param {import("./program.js").Weights} weights
   * @param {(done: number, total: number) => void} [onProgress]  pipelines compiled
   * @param {boolean} [warm]  whether to run it once, so that the first answer is no slower
   * @returns {Promise<Program>}
   */
  async load(plan, weights, onProgress = () => {}, warm = true) {
    if (this.lost) throw this.lost;
    const program = new Program(this, plan);
    try {
      await program.load(weights, onProgress, warm);
    } catch (error) {
      program.close();
      throw error;
    }
    return program;
  }

  /**
   * Load a plan without waiting for the device.
   * @param {import("./program.js").Plan} plan
   * @param {import("./program.js").Weights} weights  which are there
   */
  loadNow(plan, weights) {
    if (this.lost) throw this.lost;
    const program = new Program(this, plan);
    program.loadNow(weights);
    return program;
  }
}
