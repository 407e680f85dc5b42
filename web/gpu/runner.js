// @ts-check
/**
 * The WebGPU runner: loads plans (py/tallow/compile/plan.py) and replays them.
 *
 * Loading creates every pipeline at once, uploads the weights, builds all bind groups and runs
 * `prepare`. A run is one upload per input, one submit and one map; it creates nothing.
 */

import { encode } from "./encode.js";
import { DeviceError, DeviceLostError, OutOfMemoryError } from "./errors.js";
import { profile } from "./profile.js";

/**
 * @typedef {{bytes: number, kind: string, offset: number}} Slot
 * @typedef {{name: string, slot: number, bytes: number}} Port
 * @typedef {object} Step
 * @property {string} name
 * @property {number} module                    -1 if there is nothing to compute
 * @property {Record<string, number>} constants
 * @property {number[]} bindings                the last one is written; if it is also read, in place
 * @property {number[]} params                  words of the uniform that is bound after them
 * @property {[number, number, number]} workgroups
 * @typedef {object} Plan
 * @property {string} name
 * @property {Slot[]} slots
 * @property {Port[]} inputs
 * @property {Port[]} outputs
 * @property {string[]} modules
 * @property {Step[]} prepare
 * @property {Step[]} run
 * @typedef {import("./encode.js").Dispatch} Dispatch
 */

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
    /** @type {Promise<never>} */
    this.loss = device.lost.then(({ reason, message }) => {
      this.lost = new DeviceLostError(`The GPU device was lost (${reason}): ${message}`);
      throw this.lost;
    });
    this.loss.catch(() => {}); // whoever waits on the device is told
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
    try {
      return await Promise.race([promise, this.loss]);
    } catch (error) {
      // A device that goes away fails what waits on it before it says so itself.
      await Promise.race([this.loss, new Promise((resolve) => setTimeout(resolve, LAST_WORDS))]);
      throw error;
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

  /**
   * A pipeline that some program has, or had not long ago; else the one that is made.
   * @param {string} key  its code and constants
   * @param {() => Promise<GPUComputePipeline>} make
   */
  async pipeline(key, make) {
    const known = this.pipelines.get(key)?.deref();
    if (known) return known;
    const made = await make();
    this.pipelines.set(key, new WeakRef(made));
    this.dropped.register(made, key);
    return made;
  }

  /**
   * Load a plan.
   * @param {string} planJson
   * @param {Uint8Array} weights  the block that weight slots point into
   * @param {(done: number, total: number) => void} [onProgress]  pipelines compiled
   * @returns {Promise<Program>}
   */
  async load(planJson, weights, onProgress = () => {}) {
    if (this.lost) throw this.lost;
    const program = new Program(this, JSON.parse(planJson));
    try {
      await program.load(weights, onProgress);
    } catch (error) {
      program.close();
      throw error;
    }
    return program;
  }
}

export class Program {
  /**
   * @param {Runner} runner
   * @param {Plan} plan
   */
  constructor(runner, plan) {
    this.runner = runner;
    this.plan = plan;
    /** @type {(GPUBuffer | undefined)[]} */
    this.buffers = [];
    /** The params of all steps, each at an offset of its own. @type {GPUBuffer | undefined} */
    this.params = undefined;
    /** @type {Map<Step, number>} */
    this.offsets = new Map();
    /** @type {GPUBuffer | undefined} */
    this.staging = undefined;
    /** @type {Dispatch[]} */
    this.dispatches = [];
    this.pipelines = 0;
    this.runs = 0;
    this.closed = false;
    /** Runs that have not ended. */
    this.underWay = 0;
    /** The run before the next one. @type {Promise<unknown>} */
    this.last = Promise.resolve();
  }

  /**
   * @param {Uint8Array} weights
   * @param {(done: number, total: number) => void} onProgress
   */
  async load(weights, onProgress) {
    const { runner, plan } = this;
    const compiling = this.#compile(onProgress);
    compiling.catch(() => {}); // awaited below, after the uploads
    await runner.checked(`${plan.name}: allocating`, () => this.#allocate(weights));
    const pipelines = await compiling;
    /** @type {Dispatch[]} */
    let prepare = [];
    await runner.checked(`${plan.name}: binding`, () => {
      prepare = plan.prepare.flatMap((step) => this.#bind(step, pipelines));
      this.dispatches = plan.run.flatMap((step) => this.#bind(step, pipelines));
    });
    // The first run of a pipeline is slower; nobody waits for this one's answer.
    await this.#warmUp([...prepare, ...this.dispatches]);
    this.#freeUnused();
  }

  /**
   * Run without inputs. What is wrong with a step shows here; then its name is found.
   * @param {Dispatch[]} dispatches
   */
  async #warmUp(dispatches) {
    const { runner, plan } = this;
    const { device } = runner;
    try {
      await runner.checked(`${plan.name}: the first run`, () => {
        const encoder = device.createCommandEncoder();
        encode(encoder, dispatches);
        device.queue.submit([encoder.finish()]);
      });
    } catch (error) {
      if (runner.lost) throw error;
      for (const dispatch of dispatches) {
        await runner.checked(`${plan.name}: the step ${dispatch.group.label}`, () => {
          const encoder = device.createCommandEncoder();
          encode(encoder, [dispatch]);
          encoder.finish();
        });
      }
      throw error;
    }
    await runner.whileAlive(device.queue.onSubmittedWorkDone());
  }

  /**
   * Every pipeline of the plan, by module and constants.
   * @param {(done: number, total: number) => void} onProgress
   * @returns {Promise<Map<string, GPUComputePipeline>>}
   */
  async #compile(onProgress) {
    const { runner, plan } = this;
    const { device } = runner;
    /** @type {Map<string, Step>} */
    const wanted = new Map();
    for (const step of [...plan.prepare, ...plan.run]) {
      if (step.module >= 0) wanted.set(keyOf(step), step);
    }
    device.pushErrorScope("validation");
    const modules = plan.modules.map((code, index) =>
      device.createShaderModule({ code, label: `${plan.name} module ${index}` }),
    );
    device.popErrorScope().catch(() => {}); // the pipelines below tell of it, with their names
    let done = 0;
    onProgress(0, wanted.size);
    /** @param {[string, Step]} entry @returns {Promise<[string, GPUComputePipeline]>} */
    const create = async ([key, step]) => {
      const module = modules[step.module];
      try {
        const text = `${plan.modules[step.module]}${JSON.stringify(step.constants)}`;
        const pipeline = await runner.pipeline(text, () =>
          device.createComputePipelineAsync({
            label: step.name,
            layout: "auto",
            compute: { module, entryPoint: "main", constants: step.constants },
          }),
        );
        onProgress(++done, wanted.size);
        return [key, pipeline];
      } catch (error) {
        const { messages } = await module.getCompilationInfo();
        const said = messages.map(({ lineNum, message }) => `line ${lineNum}: ${message}`);
        const { message } = /** @type {Error} */ (error);
        throw new DeviceError(
          `${plan.name}: the step ${step.name}: ${[message, ...said].join("; ")}`,
        );
      }
    };
    const pipelines = await runner.whileAlive(Promise.all([...wanted].map(create)));
    this.pipelines = wanted.size;
    return new Map(pipelines);
  }

  /** @param {Uint8Array} weights */
  #allocate(weights) {
    const { device } = this.runner;
    const { STORAGE, COPY_DST, COPY_SRC, MAP_READ } = GPUBufferUsage;
    for (const [index, { bytes, kind, offset }] of this.plan.slots.entries()) {
      const label = `${this.plan.name} slot ${index} (${kind})`;
      const usage = STORAGE | COPY_DST | COPY_SRC;
      const buffer = device.createBuffer({ size: bytes, usage, label });
      this.buffers.push(buffer);
      if (kind === "weight") device.queue.writeBuffer(buffer, 0, weights, offset, bytes);
    }
    this.#uploadParams();
    const size = this.plan.outputs.reduce((sum, { bytes }) => sum + wholeWords(bytes), 0);
    const label = `${this.plan.name} staging`;
    this.staging = device.createBuffer({
      size: Math.max(size, 16),
      usage: MAP_READ | COPY_DST,
      label,
    });
  }

  #uploadParams() {
    const { device } = this.runner;
    const steps = [...this.plan.prepare, ...this.plan.run].filter(({ params }) => params.length);
    const align = device.limits.minUniformBufferOffsetAlignment;
    let size = 0;
    for (const step of steps) {
      this.offsets.set(step, size);
      size += Math.ceil((4 * step.params.length) / align) * align;
    }
    if (!size) return;
    const words = new Uint32Array(size / 4);
    for (const [step, offset] of this.offsets) words.set(step.params, offset / 4);
    const { UNIFORM, COPY_DST } = GPUBufferUsage;
    const label = `${this.plan.name} params`;
    this.params = device.createBuffer({ size, usage: UNIFORM | COPY_DST, label });
    device.queue.writeBuffer(this.params, 0, words);
  }

  /**
   * @param {Step} step
   * @param {Map<string, GPUComputePipeline>} pipelines
   * @returns {Dispatch[]}  none if there is nothing to compute
   */
  #bind(step, pipelines) {
    const pipeline = pipelines.get(keyOf(step));
    if (!pipeline) return [];
    const written = step.bindings.at(-1);
    const bound = step.bindings.filter(
      (slot, index) => slot !== written || index === step.bindings.length - 1,
    );
    /** @type {GPUBindGroupEntry[]} */
    const entries = bound.map((slot, binding) => ({
      binding,
      resource: { buffer: this.#buffer(slot) },
    }));
    if (this.params && step.params.length) {
      const offset = this.offsets.get(step);
      const resource = { buffer: this.params, offset, size: 4 * step.params.length };
      entries.push({ binding: entries.length, resource });
    }
    const layout = pipeline.getBindGroupLayout(0);
    const group = this.runner.device.createBindGroup({ label: step.name, layout, entries });
    return [{ pipeline, group, workgroups: step.workgroups }];
  }

  /** @param {number} slot */
  #buffer(slot) {
    const buffer = this.buffers[slot];
    if (!buffer) throw new DeviceError(`${this.plan.name}: slot ${slot} has no buffer`);
    return buffer;
  }

  /** Weights that only `prepare` read are not needed any more. */
  #freeUnused() {
    const used = new Set(this.plan.run.flatMap(({ bindings }) => bindings));
    for (const { slot } of [...this.plan.inputs, ...this.plan.outputs]) used.add(slot);
    for (const [slot, buffer] of this.buffers.entries()) {
      if (used.has(slot)) continue;
      buffer?.destroy();
      this.buffers[slot] = undefined;
    }
  }

  /**
   * Run once. Calls that overlap wait for each other.
   * @param {Uint8Array[]} inputs  in the plan's order; they may change once this has returned
   * @returns {Promise<ArrayBuffer[]>}  in the plan's order, in whole words
   */
  run(inputs) {
    // Without a copy if possible: the upload is done before this returns.
    return this.underWay
      ? this.#inTurn(copyOf(inputs), (kept) => this.#run(kept))
      : this.#inTurn(inputs, (given) => this.#run(given));
  }

  /**
   * Run several times, for the times of the steps.
   * @param {Uint8Array[]} inputs  as for run()
   * @param {number} [budget]  milliseconds after which no further run is begun
   */
  profile(inputs, budget) {
    return this.#inTurn(copyOf(inputs), async (kept) => {
      await this.#run(kept);
      return profile(this, () => this.#upload(kept), budget);
    });
  }

  /**
   * Do a job on the inputs: at once, or when all earlier ones have ended.
   * @template T
   * @param {Uint8Array[]} inputs
   * @param {(inputs: Uint8Array[]) => Promise<T>} job
   * @returns {Promise<T>}
   */
  #inTurn(inputs, job) {
    const started = this.underWay ? this.last.then(() => job(inputs)) : job(inputs);
    this.underWay += 1;
    const mine = started.finally(() => (this.underWay -= 1));
    this.last = mine.catch(() => {});
    return mine;
  }

  /** @param {Uint8Array[]} inputs  which fit */
  #upload(inputs) {
    const { queue } = this.runner.device;
    for (const [index, { slot }] of this.plan.inputs.entries()) {
      const input = inputs[index];
      const whole = input.byteLength % 4 ? padded(input) : input; // writeBuffer wants whole words
      const { buffer, byteOffset, byteLength } = whole;
      queue.writeBuffer(this.#buffer(slot), 0, buffer, byteOffset, byteLength);
    }
  }

  /** @param {Uint8Array[]} inputs */
  async #run(inputs) {
    const { runner, plan, staging } = this;
    if (runner.lost) throw runner.lost;
    if (this.closed || !staging) throw new DeviceError(`${plan.name}: the program is closed`);
    if (inputs.length !== plan.inputs.length) {
      throw new DeviceError(`${plan.name}: ${inputs.length} inputs for ${plan.inputs.length}`);
    }
    for (const [index, { name, bytes }] of plan.inputs.entries()) {
      const { byteLength } = inputs[index];
      if (byteLength !== bytes) {
        throw new DeviceError(
          `${plan.name}: the input ${name} has ${byteLength} bytes instead of ${bytes}`,
        );
      }
    }
    const { device } = runner;
    const checking = runner.checked(plan.name, () => {
      this.#upload(inputs);
      const encoder = device.createCommandEncoder({ label: plan.name });
      encode(encoder, this.dispatches);
      let at = 0;
      for (const { slot, bytes } of plan.outputs) {
        const size = wholeWords(bytes);
        encoder.copyBufferToBuffer(this.#buffer(slot), 0, staging, at, size);
        at += size;
      }
      device.queue.submit([encoder.finish()]);
    });
    const mapping = runner.whileAlive(staging.mapAsync(GPUMapMode.READ));
    try {
      await Promise.all([checking, mapping]);
    } catch (error) {
      // The next run needs the staging buffer unmapped, whichever of the two went wrong.
      await mapping.then(() => staging.unmap()).catch(() => {});
      throw error;
    }
    const content = staging.getMappedRange();
    let at = 0;
    const results = plan.outputs.map(({ bytes }) => {
      const result = content.slice(at, at + wholeWords(bytes));
      at += wholeWords(bytes);
      return result;
    });
    staging.unmap();
    this.runs += 1;
    return results;
  }

  /** Counts, and the bytes that are held now. */
  get stats() {
    const held = [...this.buffers, this.params, this.staging];
    return {
      kernels: this.pipelines,
      dispatches: this.dispatches.length,
      slots: this.plan.slots.length,
      bytes: held.reduce((sum, buffer) => sum + (buffer?.size ?? 0), 0),
      runs: this.runs,
      adapter: this.runner.info.name,
    };
  }

  /** Free all that the program holds. */
  close() {
    this.closed = true;
    for (const buffer of this.buffers) buffer?.destroy();
    this.params?.destroy();
    this.staging?.destroy();
    this.buffers = [];
    this.params = undefined;
    this.staging = undefined;
    this.dispatches = [];
  }
}

/** @param {number} bytes */
function wholeWords(bytes) {
  return Math.ceil(bytes / 4) * 4;
}

/** @param {Uint8Array} bytes */
function padded(bytes) {
  const whole = new Uint8Array(wholeWords(bytes.byteLength));
  whole.set(bytes);
  return whole;
}

/** @param {Uint8Array[]} inputs */
function copyOf(inputs) {
  return inputs.map((input) => input.slice());
}

/** Steps of one key share a pipeline. @param {Step} step */
function keyOf(step) {
  return `${step.module} ${JSON.stringify(step.constants)}`;
}
