// @ts-check
/**
 * The WebGPU runner: loads programs (program.js) onto a device, and reports the device's errors.
 */

import { Buffers } from "./buffers.js";
import { DeviceError, DeviceLostError, OutOfMemoryError } from "./errors.js";
import { cacheKey, descriptorOf } from "./pipelines.js";
import { Program } from "./program.js";
import { SharedBuffers } from "./shared_buffers.js";

/** How long to wait for `device.lost` after an operation failed. */
const LOSS_REPORT_MS = 100;

export class Runner {
  /**
   * @param {GPUDevice} device
   * @param {{name: string}} info
   */
  constructor(device, info) {
    this.device = device;
    this.info = info;
    /** Set once the device is lost. @type {DeviceLostError | undefined} */
    this.lost = undefined;
    /** Rejects the pending calls of whileAlive(). @type {Set<(error: Error) => void>} */
    this.rejecters = new Set();
    /**
     * Resolves when the device is lost, before any call fails because of that.
     * @type {Promise<DeviceLostError>}
     */
    this.loss = device.lost.then(({ reason, message }) => {
      this.lost = new DeviceLostError(`The GPU device was lost (${reason}): ${message}`);
      for (const reject of this.rejecters) reject(this.lost);
      return this.lost;
    });
    /** Buffers that stay on the device between runs. */
    this.buffers = new Buffers(this);
    /** Those that programs have in common. */
    this.shared = new SharedBuffers();
    /**
     * The first error outside all error scopes, until a read throws it.
     * @type {DeviceError | undefined}
     */
    this.uncapturedError = undefined;
    device.addEventListener("uncapturederror", (event) => {
      const { error } = /** @type {GPUUncapturedErrorEvent} */ (event);
      this.uncapturedError ??=
        error instanceof GPUOutOfMemoryError
          ? new OutOfMemoryError(`the device is out of memory: ${error.message}`)
          : new DeviceError(error.message);
    });
    /**
     * What uses kernels of users' ops that are compiling; each resolves with the error, if any.
     * @type {Set<Promise<DeviceError | undefined>>}
     */
    this.compiling = new Set();
    /**
     * The pipelines of all programs, by code and constants. Programs share equal pipelines. An
     * unused pipeline is kept only until the garbage collector frees it.
     * @type {Map<string, WeakRef<GPUComputePipeline>>}
     */
    this.pipelines = new Map();
    /** Those of the plan that is being written, so that they stay. @type {GPUComputePipeline[]} */
    this.begun = [];
    /** @type {FinalizationRegistry<string>} */
    this.freedPipelines = new FinalizationRegistry((key) => {
      if (!this.pipelines.get(key)?.deref()) this.pipelines.delete(key);
    });
  }

  /**
   * Wait for a promise of the device. Rejects with a DeviceLostError if the device is lost.
   * @template T
   * @param {Promise<T>} promise
   * @returns {Promise<T>}
   */
  async whileAlive(promise) {
    if (this.lost) {
      promise.catch(() => {}); // it may reject too, with a less helpful error
      throw this.lost;
    }
    /** @type {(error: Error) => void} */
    let rejecter = () => {};
    // Not Promise.race with `loss`, which would keep every call in memory until the device is lost.
    const lost = new Promise((_, reject) => this.rejecters.add((rejecter = reject)));
    try {
      return await Promise.race([promise, /** @type {Promise<never>} */ (lost)]);
    } catch (error) {
      // When a device is lost, pending operations can fail before `device.lost` resolves.
      await Promise.race([
        this.loss,
        new Promise((resolve) => setTimeout(resolve, LOSS_REPORT_MS)),
      ]);
      throw this.lost ?? error;
    } finally {
      this.rejecters.delete(rejecter);
    }
  }

  /**
   * Call the device within error scopes. Rejects if a call was invalid or memory ran out.
   * @param {string} what  describes the action in the error's message
   * @param {() => void} action
   * @returns {Promise<void>}
   */
  async checked(what, action) {
    const { device } = this;
    device.pushErrorScope("validation");
    device.pushErrorScope("out-of-memory");
    // Scopes are popped synchronously, so that those of concurrent calls never interleave.
    const scopes = [];
    try {
      action();
    } finally {
      scopes.push(device.popErrorScope(), device.popErrorScope());
    }
    const [memory, validation] = await this.whileAlive(Promise.all(scopes));
    await this.kernelsCompiled(); // a kernel that failed explains whatever follows
    if (memory)
      throw new OutOfMemoryError(`${what}: the device is out of memory: ${memory.message}`);
    if (validation) throw new DeviceError(`${what}: ${validation.message}`);
  }

  /**
   * Call the device for a plan whose kernels of users' ops are compiling. If one fails, it is why any
   * of the calls is invalid, and the next read throws its error.
   * @param {Promise<DeviceError | undefined>} failure
   * @param {() => void} action
   */
  explained(failure, action) {
    this.device.pushErrorScope("validation");
    try {
      action();
    } finally {
      const outcome = Promise.all([failure, this.device.popErrorScope()]).then(
        ([failed, error]) => failed ?? (error ? new DeviceError(error.message) : undefined),
      );
      this.compiling.add(outcome.catch(() => undefined)); // it rejects with a lost device
    }
  }

  /** Wait for the kernels of users' ops that were loaded without waiting. Throws their errors. */
  async kernelsCompiled() {
    if (!this.compiling.size) return;
    const compiling = [...this.compiling];
    this.compiling.clear();
    const failure = (await this.whileAlive(Promise.all(compiling))).find(Boolean);
    if (failure) throw failure;
  }

  /** Throw the uncaptured error, if there is one, and forget it. */
  throwUncapturedError() {
    const error = this.uncapturedError;
    this.uncapturedError = undefined;
    if (error) throw error;
  }

  /**
   * Reuse a pipeline, or create it.
   * @param {string} key  its code and constants
   * @param {() => Promise<GPUComputePipeline>} create
   */
  async pipeline(key, create) {
    return this.pipelines.get(key)?.deref() ?? this.#remember(key, await create());
  }

  /**
   * The same, synchronously.
   * @param {string} key
   * @param {() => GPUComputePipeline} create
   */
  pipelineNow(key, create) {
    return this.pipelines.get(key)?.deref() ?? this.#remember(key, create());
  }

  /**
   * Begin to compile a kernel of a plan that is still being written, for loadNow().
   * @param {string} code
   * @param {Record<string, number>} constants
   */
  begin(code, constants) {
    if (this.lost) return;
    const pipeline = this.pipelineNow(cacheKey(code, constants), () => {
      const module = this.device.createShaderModule({ code });
      return this.device.createComputePipeline(descriptorOf(module, constants));
    });
    this.begun.push(pipeline);
    // Chromium sends what was created at the end of the task, which is Python's, or with a submit.
    this.device.queue.submit([]);
  }

  /**
   * @param {string} key
   * @param {GPUComputePipeline} pipeline
   */
  #remember(key, pipeline) {
    this.pipelines.set(key, new WeakRef(pipeline));
    this.freedPipelines.register(pipeline, key);
    return pipeline;
  }

  /**
   * Load a plan.
   * @param {import("./program.js").Plan} plan
   * @param {import("./program.js").Weights} weights
   * @param {(done: number, total: number) => void} [onProgress]  counts compiled pipelines
   * @param {boolean} [warm]  whether to run it once, because the first run of a pipeline is slower
   * @param {Map<number, number>} [shared]  the numbers of slots that programs have in common
   * @returns {Promise<Program>}
   */
  async load(plan, weights, onProgress = () => {}, warm = true, shared = new Map()) {
    if (this.lost) throw this.lost;
    const program = new Program(this, plan, shared);
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
   * @param {import("./program.js").Weights} weights  all of which have arrived
   * @param {Map<number, number>} [shared]  as for load()
   */
  loadNow(plan, weights, shared = new Map()) {
    if (this.lost) throw this.lost;
    const program = new Program(this, plan, shared);
    program.loadNow(weights);
    this.begun = [];
    return program;
  }
}
