// @ts-check
/**
 * A plan (py/tallow/compile/plan.py) on the device: loaded once, replayed at every run.
 *
 * Loading creates every pipeline at once, uploads the weights and runs `prepare`. A run is one upload
 * per input, one submit and one map; it creates nothing, unless outputs stay on the device.
 */

import { BoundStep } from "./bound.js";
import { inSixteens } from "./buffers.js";
import { encode } from "./encode.js";
import { DeviceError } from "./errors.js";
import { compile, compileNow, computes, keyOf } from "./pipelines.js";
import { profile } from "./profile.js";

/**
 * @typedef {{bytes: number, kind: string}} Slot
 * @typedef {{name: string, slot: number, bytes: number}} Port
 * @typedef {object} Step
 * @property {string} name
 * @property {number[]} bindings                the last one is written; if it is also read, in place
 * @property {Kernel | {}} kernel               empty if there is nothing to compute
 * @typedef {object} Kernel
 * @property {number} module
 * @property {Record<string, number>} constants
 * @property {number[]} params                  words of the uniform that is bound after all slots
 * @property {[number, number, number]} workgroups
 * @typedef {Step & {kernel: Kernel}} Computing  a step with a kernel
 * @typedef {object} Plan
 * @property {string} name
 * @property {Slot[]} slots
 * @property {Port[]} inputs
 * @property {Port[]} outputs
 * @property {string[]} modules
 * @property {Step[]} prepare
 * @property {Step[]} run
 * @property {Port[]} states  what stays from run to run; their buffers are given after the inputs
 * @property {{source: number, target: number, bytes: number}[]} copies  after the last step
 *
 * @typedef {Uint8Array | number} Feed  bytes from the host, or the number of a buffer that stays
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
    /** @type {Map<Computing, number>} */
    this.offsets = new Map();
    /** For outputs on their way to the host: those that no run uses. @type {GPUBuffer[]} */
    this.idle = [];
    /** @type {BoundStep[]} */
    this.dispatches = [];
    /** What slots have in the place of their own buffers. @type {Map<number, GPUBuffer>} */
    this.over = new Map();
    /** Slots whose buffers may be others in every run. */
    this.outside = new Set(
      [...plan.inputs, ...plan.states, ...plan.outputs]
        .map(({ slot }) => slot)
        .filter((slot) => ["input", "state", "output"].includes(plan.slots[slot].kind)),
    );
    this.kernels = 0;
    this.runs = 0;
    this.closed = false;
    /** Milliseconds in which nothing but weights was missing. */
    this.waited = 0;
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
    await runner.checked(`${plan.name}: allocating`, () => {
      this.#allocate(weights, lasting);
      this.idle.push(this.#newStaging());
    });
    const pipelines = await compiling;
    this.kernels = pipelines.size;
    for (const part of this.#parts(lasting)) {
      const since = performance.now();
      await this.#ready(part.missing, weights);
      this.waited += performance.now() - since;
      /** @type {BoundStep[]} */
      let dispatches = [];
      await runner.checked(`${plan.name}: preparing`, () => {
        dispatches = this.#bindPart(part, weights, pipelines);
      });
      await this.#submit(dispatches);
      for (const slot of part.done) this.#free(slot);
    }
    await runner.checked(`${plan.name}: binding`, () => {
      for (const { slot } of plan.states) this.#create(slot, weights);
      this.dispatches = plan.run.flatMap((step) => this.#bind(step, pipelines));
      for (const dispatch of this.dispatches) dispatch.bind((slot) => this.#buffer(slot));
    });
    // The first run of a pipeline is slower; nobody waits for this one's answer, and it is on what is
    // nobody's state.
    await this.#submit(this.dispatches, warm);
    for (const { slot } of plan.states) this.#free(slot);
  }

  /**
   * Load without waiting for the device, nor running once. What is wrong with the plan shows when
   * something is read.
   * @param {Weights} weights  which are there
   */
  loadNow(weights) {
    const { plan, runner } = this;
    const lasting = this.#lasting();
    const pipelines = compileNow(runner, plan);
    this.kernels = pipelines.size;
    this.#allocate(weights, lasting);
    for (const part of this.#parts(lasting)) {
      const encoder = runner.device.createCommandEncoder();
      encode(encoder, this.#bindPart(part, weights, pipelines));
      runner.device.queue.submit([encoder.finish()]);
      for (const slot of part.done) this.#free(slot);
    }
    this.dispatches = plan.run.flatMap((step) => this.#bind(step, pipelines));
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
    const { inputs, outputs, run, states, copies } = this.plan;
    const slots = new Set(run.flatMap(({ bindings }) => bindings));
    for (const { slot } of [...inputs, ...outputs]) slots.add(slot);
    for (const { source, target } of copies) slots.add(source).add(target);
    for (const { slot } of states) slots.delete(slot);
    return slots;
  }

  /**
   * `prepare` part by part, so that few of the slots that it alone needs are there at a time.
   * @param {Set<number>} lasting
   * @returns {Generator<{steps: Step[], missing: number[], done: number[]}>}  the slots to be made
   *   before the steps of a part, and those that nobody needs after it
   */
  *#parts(lasting) {
    const { plan } = this;
    const left = plan.prepare.map(({ bindings }) => bindings.filter((slot) => !lasting.has(slot)));
    const waiting = [...plan.prepare];
    while (waiting.length) {
      /** @type {Step[]} */
      const steps = [];
      /** @type {Set<number>} */
      const mine = new Set();
      for (let bytes = 0; waiting.length && bytes < PART;) {
        steps.push(/** @type {Step} */ (waiting.shift()));
        for (const slot of /** @type {number[]} */ (left.shift())) {
          if (!mine.has(slot) && !this.buffers[slot]) bytes += plan.slots[slot].bytes;
          mine.add(slot);
        }
      }
      const missing = [...mine].filter((slot) => !this.buffers[slot]);
      const done = [...mine].filter((slot) => !left.some((slots) => slots.includes(slot)));
      yield { steps, missing, done };
    }
  }

  /**
   * @param {{steps: Step[], missing: number[]}} part  of `prepare`
   * @param {Weights} weights
   * @param {Map<string, GPUComputePipeline>} pipelines
   */
  #bindPart({ steps, missing }, weights, pipelines) {
    for (const slot of missing) this.#create(slot, weights);
    const dispatches = steps.flatMap((step) => this.#bind(step, pipelines));
    for (const dispatch of dispatches) dispatch.bind((slot) => this.#buffer(slot));
    return dispatches;
  }

  /**
   * Run without inputs. What is wrong with a step shows here; then its name is found.
   * @param {BoundStep[]} dispatches
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
        await runner.checked(`${plan.name}: the step ${dispatch.name}`, () => {
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
    for (const slot of lasting) this.#create(slot, weights);
    this.#uploadParams();
  }

  /** Memory that the host can read, for all outputs. */
  #newStaging() {
    const size = this.plan.outputs.reduce((sum, { bytes }) => sum + wholeWords(bytes), 0);
    return this.runner.device.createBuffer({
      size: Math.max(size, 16),
      usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
      label: `${this.plan.name} staging`,
    });
  }

  /** Keep one for the next run; runs that overlap are the exception. @param {GPUBuffer} staging */
  #giveBack(staging) {
    if (this.closed || this.idle.length) staging.destroy();
    else this.idle.push(staging);
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
    const usage = STORAGE | COPY_DST | COPY_SRC;
    const buffer = device.createBuffer({ size: bytes, usage, label });
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
    const steps = [...this.plan.prepare, ...this.plan.run].filter(computes);
    const align = device.limits.minUniformBufferOffsetAlignment;
    let size = 0;
    for (const step of steps) {
      this.offsets.set(step, size);
      size += Math.ceil((4 * step.kernel.params.length) / align) * align;
    }
    if (!size) return;
    const words = new Uint32Array(size / 4);
    for (const [step, offset] of this.offsets) words.set(step.kernel.params, offset / 4);
    const { UNIFORM, COPY_DST } = GPUBufferUsage;
    const label = `${this.plan.name} params`;
    this.params = device.createBuffer({ size, usage: UNIFORM | COPY_DST, label });
    device.queue.writeBuffer(this.params, 0, words);
  }

  /**
   * @param {Step} step
   * @param {Map<string, GPUComputePipeline>} pipelines
   * @returns {BoundStep[]}  none if there is nothing to compute
   */
  #bind(step, pipelines) {
    const pipeline = computes(step) && pipelines.get(keyOf(step));
    if (!pipeline) return [];
    const size = 4 * step.kernel.params.length;
    const offset = this.offsets.get(step);
    const params = this.params && size ? { buffer: this.params, offset, size } : undefined;
    return [new BoundStep(this.runner, step, pipeline, params, this.outside)];
  }

  /** @param {number} slot */
  #buffer(slot) {
    const buffer = this.over.get(slot) ?? this.buffers[slot];
    if (!buffer) throw new DeviceError(`${this.plan.name}: slot ${slot} has no buffer`);
    return buffer;
  }

  /** @param {number} slot */
  #free(slot) {
    this.buffers[slot]?.destroy();
    this.buffers[slot] = undefined;
  }

  /**
   * Run once. Runs may overlap: the device keeps to their order.
   * @param {Feed[]} inputs  in the plan's order, then the states; bytes may change once this returns
   * @param {number[]} [kept]  for each output the number under which it stays, or 0 if it is fetched
   * @returns {Promise<ArrayBuffer[]>}  those that are fetched, in whole words
   */
  async run(inputs, kept = []) {
    this.#check(inputs);
    return this.#fetch(inputs, kept);
  }

  /**
   * Run once, fetch nothing, and do not wait. What goes wrong shows when something is read.
   * @param {Feed[]} inputs  as for run()
   * @param {number[]} kept  for each output the number under which it stays
   */
  start(inputs, kept) {
    this.#check(inputs);
    this.#send(inputs, kept);
  }

  /**
   * Run several times, for the times of the steps; each run updates the states.
   * @param {Feed[]} inputs  as for run()
   * @param {number} [budget]  milliseconds after which no further run is begun
   */
  async profile(inputs, budget) {
    this.#check(inputs);
    const copies = inputs.map((input) => (typeof input === "number" ? input : input.slice()));
    await this.#fetch(copies, []);
    return profile(this, () => this.#feed(copies), budget);
  }

  /** @param {Feed[]} inputs */
  #check(inputs) {
    const { runner, plan } = this;
    if (runner.lost) throw runner.lost;
    if (this.closed) throw new DeviceError(`${plan.name}: the program is closed`);
    const ports = [...plan.inputs, ...plan.states];
    if (inputs.length !== ports.length) {
      throw new DeviceError(`${plan.name}: ${inputs.length} inputs for ${ports.length}`);
    }
    for (const [index, { name, bytes }] of ports.entries()) {
      const input = inputs[index];
      if (typeof input !== "number" && input.byteLength !== bytes) {
        throw new DeviceError(
          `${plan.name}: the input ${name} has ${input.byteLength} bytes instead of ${bytes}`,
        );
      }
    }
  }

  /**
   * Upload what comes from the host, and have slots be the buffers that stay on the device.
   * @param {Feed[]} inputs  which fit
   * @param {Map<number, GPUBuffer>} [over]  what else slots have
   */
  #feed(inputs, over = new Map()) {
    const { plan, runner } = this;
    const had = this.over.size > 0;
    for (const [index, { slot }] of [...plan.inputs, ...plan.states].entries()) {
      const input = inputs[index];
      if (typeof input === "number") over.set(slot, runner.buffers.get(input));
    }
    this.over = over;
    for (const [index, { slot }] of plan.inputs.entries()) {
      const input = inputs[index];
      if (typeof input === "number") continue;
      const { buffer, byteOffset, byteLength } = inWords(input);
      runner.device.queue.writeBuffer(this.#buffer(slot), 0, buffer, byteOffset, byteLength);
    }
    for (const dispatch of this.dispatches) {
      if (!dispatch.group || (dispatch.outside.length && (had || over.size))) {
        dispatch.bind((slot) => this.#buffer(slot));
      }
    }
  }

  /**
   * Submit a run.
   * @param {Feed[]} inputs
   * @param {number[]} kept
   * @param {GPUBuffer} [staging]  where the outputs go that are not kept
   */
  #send(inputs, kept, staging) {
    const { plan, runner } = this;
    const { device, buffers } = runner;
    /** @type {Map<number, GPUBuffer>} */
    const over = new Map();
    /** @type {[number, GPUBuffer, number][]} */
    const moves = [];
    for (const [index, { slot, bytes }] of plan.outputs.entries()) {
      if (!kept[index]) continue;
      const size = inSixteens(bytes);
      const buffer = buffers.take(size);
      buffers.hold(kept[index], buffer);
      const own = plan.slots[slot].kind === "output" && plan.slots[slot].bytes === size;
      if (own && !over.has(slot)) over.set(slot, buffer);
      else moves.push([slot, buffer, wholeWords(bytes)]);
    }
    this.#feed(inputs, over);
    const encoder = device.createCommandEncoder({ label: plan.name });
    encode(encoder, this.dispatches);
    let at = 0;
    for (const [index, { slot, bytes }] of plan.outputs.entries()) {
      if (kept[index] || !staging) continue;
      encoder.copyBufferToBuffer(this.#buffer(slot), 0, staging, at, wholeWords(bytes));
      at += wholeWords(bytes);
    }
    for (const [slot, buffer, size] of moves) {
      encoder.copyBufferToBuffer(this.#buffer(slot), 0, buffer, 0, size);
    }
    for (const { source, target, bytes } of plan.copies) {
      const size = wholeWords(bytes);
      encoder.copyBufferToBuffer(this.#buffer(source), 0, this.#buffer(target), 0, size);
    }
    device.queue.submit([encoder.finish()]);
    this.runs += 1;
  }

  /**
   * @param {Feed[]} inputs
   * @param {number[]} kept
   */
  async #fetch(inputs, kept) {
    const { plan, runner } = this;
    const fetched = plan.outputs.filter((_, index) => !kept[index]);
    /** @type {GPUBuffer | undefined} */
    let staging;
    const checking = runner.checked(plan.name, () => {
      staging = this.idle.pop() ?? this.#newStaging();
      this.#send(inputs, kept, staging);
    });
    if (!staging) return checking.then(() => []); // there was no memory for it: this rejects
    const host = /** @type {GPUBuffer} */ (staging);
    const mapping = runner.whileAlive(host.mapAsync(GPUMapMode.READ));
    try {
      await Promise.all([checking, mapping]);
      runner.throwFailure();
      const content = host.getMappedRange();
      let at = 0;
      return fetched.map(({ bytes }) => content.slice(at, (at += wholeWords(bytes))));
    } finally {
      // The next run needs it unmapped, whatever went wrong.
      await mapping.then(() => host.unmap()).catch(() => {});
      this.#giveBack(host);
    }
  }

  /** Counts, and the bytes that are held now. */
  get stats() {
    const held = [...this.buffers, this.params, ...this.idle];
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

  /** Free all that the program holds; runs that are under way end well. */
  close() {
    this.closed = true;
    for (const buffer of [...this.buffers, this.params, ...this.idle]) buffer?.destroy();
    this.buffers = [];
    this.params = undefined;
    this.idle = [];
    this.over = new Map();
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
