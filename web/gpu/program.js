// @ts-check
/**
 * A plan (py/tallow/compile/plan.py) on the device: loaded once, replayed at every run.
 *
 * Loading creates every pipeline at once, uploads the weights, builds all bind groups and runs
 * `prepare`. A run is one upload per input, one submit and one map; it creates nothing.
 */

import { encode } from "./encode.js";
import { DeviceError } from "./errors.js";
import { compile, keyOf } from "./pipelines.js";
import { profile } from "./profile.js";

/**
 * @typedef {{bytes: number, kind: string}} Slot
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
 *
 * @typedef {object} Weights  the bytes of each slot of that kind, by its place among them
 * @property {(place: number) => Promise<void> | void} ready  once they are there
 * @property {(place: number, use: (bytes: Uint8Array) => void) => void} lend  gives them for the
 *   time of a call, once: nobody asks for them again
 */

/** Bytes of weights that only `prepare` reads, after which it runs on them before more are uploaded. */
const PART = 4 << 20;

export class Program {
  /**
   * @param {import("./runner.js").Runner} runner
   * @param {Plan} plan
   */
  constructor(runner, plan) {
    this.runner = runner;
    this.plan = plan;
    /** @type {(GPUBuffer | undefined)[]} */
    this.buffers = [];
    /** The place of each weight among them, by slot. @type {Map<number, number>} */
    this.places = new Map();
    for (const [slot, { kind }] of plan.slots.entries()) {
      if (kind === "weight") this.places.set(slot, this.places.size);
    }
    /** The params of all steps, each at an offset of its own. @type {GPUBuffer | undefined} */
    this.params = undefined;
    /** @type {Map<Step, number>} */
    this.offsets = new Map();
    /** @type {GPUBuffer | undefined} */
    this.staging = undefined;
    /** @type {Dispatch[]} */
    this.dispatches = [];
    this.kernels = 0;
    this.runs = 0;
    this.closed = false;
    /** Milliseconds in which nothing but weights was missing. */
    this.waited = 0;
    /** Runs that have not ended. */
    this.underWay = 0;
    /** The run before the next one. @type {Promise<unknown>} */
    this.last = Promise.resolve();
  }

  /**
   * @param {Weights} weights
   * @param {(done: number, total: number) => void} onProgress
   * @param {boolean} warm  whether to run once; else the run is only checked
   */
  async load(weights, onProgress, warm) {
    const { runner, plan } = this;
    const compiling = compile(runner, plan, onProgress);
    let compiled = Infinity;
    const done = () => (compiled = performance.now());
    compiling.then(done, done); // awaited below, after the uploads
    const lasting = this.#lasting();
    await this.#ready(lasting, weights);
    this.waited = Math.max(0, performance.now() - compiled);
    await runner.checked(`${plan.name}: allocating`, () => this.#allocate(weights, lasting));
    const pipelines = await compiling;
    this.kernels = pipelines.size;
    await this.#prepare(weights, lasting, pipelines);
    await runner.checked(`${plan.name}: binding`, () => {
      this.dispatches = plan.run.flatMap((step) => this.#bind(step, pipelines));
    });
    // The first run of a pipeline is slower; nobody waits for this one's answer.
    await this.#submit(this.dispatches, warm);
  }

  /**
   * Wait for what these slots begin with.
   * @param {Iterable<number>} slots
   * @param {Weights} weights
   */
  async #ready(slots, weights) {
    for (const slot of slots) {
      const place = this.places.get(slot);
      if (place !== undefined) await weights.ready(place);
    }
  }

  /** The slots that are needed after `prepare`. */
  #lasting() {
    const { inputs, outputs, run } = this.plan;
    const slots = new Set(run.flatMap(({ bindings }) => bindings));
    for (const { slot } of [...inputs, ...outputs]) slots.add(slot);
    return slots;
  }

  /**
   * Run `prepare` part by part, so that few of the slots that it alone needs are there at a time.
   * @param {Weights} weights
   * @param {Set<number>} lasting
   * @param {Map<string, GPUComputePipeline>} pipelines
   */
  async #prepare(weights, lasting, pipelines) {
    const { runner, plan } = this;
    const left = plan.prepare.map(({ bindings }) => bindings.filter((slot) => !lasting.has(slot)));
    const steps = [...plan.prepare];
    while (steps.length) {
      /** @type {Step[]} */
      const part = [];
      /** @type {Set<number>} */
      const mine = new Set();
      for (let bytes = 0; steps.length && bytes < PART;) {
        part.push(/** @type {Step} */ (steps.shift()));
        for (const slot of /** @type {number[]} */ (left.shift())) {
          if (!mine.has(slot) && !this.buffers[slot]) bytes += plan.slots[slot].bytes;
          mine.add(slot);
        }
      }
      const missing = [...mine].filter((slot) => !this.buffers[slot]);
      const since = performance.now();
      await this.#ready(missing, weights);
      this.waited += performance.now() - since;
      /** @type {Dispatch[]} */
      const dispatches = [];
      await runner.checked(`${plan.name}: preparing`, () => {
        for (const slot of missing) this.#create(slot, weights);
        for (const step of part) dispatches.push(...this.#bind(step, pipelines));
      });
      await this.#submit(dispatches);
      for (const slot of mine) if (!left.some((slots) => slots.includes(slot))) this.#free(slot);
    }
  }

  /**
   * Run without inputs. What is wrong with a step shows here; then its name is found.
   * @param {Dispatch[]} dispatches
   * @param {boolean} [really]  or only have the device look at it
   */
  async #submit(dispatches, really = true) {
    const { runner, plan } = this;
    const { device } = runner;
    try {
      await runner.checked(`${plan.name}: the first run`, () => {
        const encoder = device.createCommandEncoder();
        encode(encoder, dispatches);
        const commands = encoder.finish();
        if (really) device.queue.submit([commands]);
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
   * The buffers that last.
   * @param {Weights} weights
   * @param {Set<number>} lasting
   */
  #allocate(weights, lasting) {
    const { device } = this.runner;
    for (const slot of lasting) this.#create(slot, weights);
    this.#uploadParams();
    const size = this.plan.outputs.reduce((sum, { bytes }) => sum + wholeWords(bytes), 0);
    const label = `${this.plan.name} staging`;
    this.staging = device.createBuffer({
      size: Math.max(size, 16),
      usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
      label,
    });
  }

  /**
   * @param {number} slot
   * @param {Weights} weights
   */
  #create(slot, weights) {
    const { device } = this.runner;
    const { bytes, kind } = this.plan.slots[slot];
    const { STORAGE, COPY_DST, COPY_SRC } = GPUBufferUsage;
    const label = `${this.plan.name} slot ${slot} (${kind})`;
    const buffer = device.createBuffer({
      size: bytes,
      usage: STORAGE | COPY_DST | COPY_SRC,
      label,
    });
    this.buffers[slot] = buffer;
    const place = this.places.get(slot);
    if (place === undefined) return;
    weights.lend(place, (given) => {
      const { buffer: memory, byteOffset, byteLength } = inWords(given);
      device.queue.writeBuffer(buffer, 0, memory, byteOffset, byteLength);
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

  /** @param {number} slot */
  #free(slot) {
    this.buffers[slot]?.destroy();
    this.buffers[slot] = undefined;
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
      const { buffer, byteOffset, byteLength } = inWords(input);
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
      kernels: this.kernels,
      dispatches: this.dispatches.length,
      slots: this.plan.slots.length,
      bytes: held.reduce((sum, buffer) => sum + (buffer?.size ?? 0), 0),
      runs: this.runs,
      waited: this.waited,
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

/** As writeBuffer wants them. @param {Uint8Array} bytes */
function inWords(bytes) {
  if (bytes.byteLength % 4 === 0) return bytes;
  const whole = new Uint8Array(wholeWords(bytes.byteLength));
  whole.set(bytes);
  return whole;
}

/** @param {Uint8Array[]} inputs */
function copyOf(inputs) {
  return inputs.map((input) => input.slice());
}
