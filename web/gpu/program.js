// @ts-check
/**
 * A plan (py/tallow/compile/plan.py) on the device, which is loaded once and then run many times.
 *
 * Loading compiles all pipelines in parallel, uploads the weights and runs the plan's `prepare`. A
 * run needs one upload per input, one submit and one map. It creates no buffers, unless outputs
 * stay on the device.
 */

import { BoundStep } from "./bound.js";
import { bufferSize } from "./buffers.js";
import { encode } from "./encode.js";
import { DeviceError } from "./errors.js";
import { compile, compileNow, computes, pipelineKey } from "./pipelines.js";
import { profile } from "./profile.js";
import { paddedToWords, ProgramMemory, wordAligned } from "./program_memory.js";

/**
 * @typedef {{bytes: number, kind: string}} Slot
 * @typedef {{name: string, slot: number, bytes: number}} Port
 * @typedef {object} Step
 * @property {string} name
 * @property {number[]} bindings                slots; the last one is written, and listed twice if
 *   the step works in place
 * @property {Kernel | {}} kernel               empty if there is nothing to compute
 * @typedef {object} Kernel
 * @property {number} module
 * @property {Record<string, number>} constants
 * @property {number[]} params                  words of the uniform buffer, bound after all slots
 * @property {[number, number, number]} workgroups
 * @property {string} [op]                      the name of the user's op whose WGSL the module is
 * @typedef {Step & {kernel: Kernel}} Computing  a step with a kernel
 * @typedef {object} Plan
 * @property {string} name
 * @property {Slot[]} slots
 * @property {Port[]} inputs
 * @property {Port[]} outputs
 * @property {string[]} modules
 * @property {Step[]} prepare
 * @property {Step[]} run
 * @property {Port[]} states  values that stay on the device between runs, in the buffers of
 *   useStates()
 * @property {{source: number, target: number, bytes: number}[]} copies  between slots, after the
 *   last step
 *
 * @typedef {Uint8Array | number} Feed  bytes from the host, or the id of a buffer on the device
 *
 * @typedef {object} Weights  the weights of a plan, by their index among its slots of that kind
 * @property {(index: number) => Promise<void> | void} ready  resolves once a weight has arrived
 * @property {(index: number, use: (bytes: Uint8Array) => void) => void} lend  calls `use` with a
 *   weight, which is valid only during the call. It is called once for each weight, so that the
 *   weight can be freed.
 */

export class Program {
  /**
   * @param {import("./runner.js").Runner} runner
   * @param {Plan} plan
   * @param {Map<number, number>} shared  the numbers of slots that programs have in common
   */
  constructor(runner, plan, shared) {
    this.runner = runner;
    this.plan = plan;
    /** The program's buffers, those with it that others have, too. */
    this.memory = new ProgramMemory(runner, plan, shared);
    /** @type {BoundStep[]} */
    this.dispatches = [];
    /**
     * Buffers that replace the program's own in the current run, by slot.
     * @type {Map<number, GPUBuffer>}
     */
    this.replacements = new Map();
    /**
     * The buffers of the states, by slot.
     * @type {Map<number, GPUBuffer>}
     */
    this.states = new Map();
    /** Slots whose buffers can be replaced. */
    this.externalSlots = new Set(
      [...plan.inputs, ...plan.states, ...plan.outputs]
        .map(({ slot }) => slot)
        .filter((slot) => ["input", "state", "output"].includes(plan.slots[slot].kind)),
    );
    this.kernels = 0;
    this.runs = 0;
    this.closed = false;
    /**
     * Why it cannot run: the device did not compile the kernel of a user's op.
     * @type {import("./errors.js").KernelError | undefined}
     */
    this.failure = undefined;
    /** Resolves with that, while it is unknown. @type {Promise<DeviceError | undefined> | undefined} */
    this.compiling = undefined;
    /** Milliseconds of loading spent waiting only for weights. */
    this.waited = 0;
  }

  /**
   * Load the plan, which may begin before the weights have arrived.
   * @param {Weights} weights
   * @param {(done: number, total: number) => void} onProgress
   * @param {boolean} warm  whether to run once; otherwise the run is only validated
   */
  async load(weights, onProgress, warm) {
    const { runner, plan, memory } = this;
    const compiling = compile(runner, plan, onProgress);
    let compiledAt = Infinity;
    const noteTime = () => (compiledAt = performance.now());
    compiling.then(noteTime, noteTime); // awaited below, after the uploads
    const persistent = memory.persistentSlots();
    memory.claim(persistent);
    await memory.weightsReady(persistent, weights);
    this.waited = Math.max(0, performance.now() - compiledAt);
    await runner.checked(`${plan.name}: allocating`, () => {
      memory.allocate(weights, persistent);
      memory.idleStaging.push(memory.createStaging());
    });
    const pipelines = await compiling;
    this.kernels = pipelines.size;
    for (const part of memory.prepareParts(persistent)) {
      const since = performance.now();
      await memory.weightsReady(part.missing, weights);
      this.waited += performance.now() - since;
      /** @type {BoundStep[]} */
      let dispatches = [];
      await runner.checked(`${plan.name}: preparing`, () => {
        dispatches = this.#bindPart(part, weights, pipelines);
      });
      await this.#runOnce(dispatches);
      memory.end(part);
    }
    await runner.checked(`${plan.name}: binding`, () => {
      // Temporary states for the warm-up, so that it changes no real one.
      for (const { slot } of plan.states) memory.create(slot, weights);
      this.dispatches = plan.run.flatMap((step) => this.#bindStep(step, pipelines));
      for (const dispatch of this.dispatches) dispatch.bind((slot) => this.#bufferOf(slot));
    });
    // The first run of a pipeline is slower than later ones, hence the warm-up.
    await this.#runOnce(this.dispatches, warm);
    for (const { slot } of plan.states) memory.destroy(slot);
  }

  /**
   * Load without waiting for the device and without a warm-up. If the plan is wrong, the next read
   * throws the error.
   * @param {Weights} weights  all of which have arrived
   */
  loadNow(weights) {
    const { plan, runner, memory } = this;
    const persistent = memory.persistentSlots();
    const { pipelines, failure } = compileNow(runner, plan);
    this.compiling = failure;
    failure?.then((error) => ([this.failure, this.compiling] = [error, error && failure]));
    this.kernels = pipelines.size;
    this.#explained(() => {
      memory.claim(persistent);
      memory.allocate(weights, persistent);
      for (const part of memory.prepareParts(persistent)) {
        const encoder = runner.device.createCommandEncoder();
        encode(encoder, this.#bindPart(part, weights, pipelines));
        runner.device.queue.submit([encoder.finish()]);
        memory.end(part);
      }
      this.dispatches = plan.run.flatMap((step) => this.#bindStep(step, pipelines));
    });
  }

  /** Call the device, whose errors are those of users' kernels. @param {() => void} action */
  #explained(action) {
    if (this.compiling) this.runner.explained(this.compiling, action);
    else action();
  }

  /**
   * Create the buffers of a part of `prepare`, and bind its steps to them.
   * @param {{steps: Step[], missing: number[]}} part
   * @param {Weights} weights
   * @param {Map<string, GPUComputePipeline>} pipelines
   */
  #bindPart({ steps, missing }, weights, pipelines) {
    for (const slot of missing) this.memory.create(slot, weights);
    const dispatches = steps.flatMap((step) => this.#bindStep(step, pipelines));
    for (const dispatch of dispatches) dispatch.bind((slot) => this.#bufferOf(slot));
    return dispatches;
  }

  /**
   * Run these steps once, without inputs. If a step is invalid, the error names it.
   * @param {BoundStep[]} dispatches
   * @param {boolean} [submit]  if false, they are only validated
   */
  async #runOnce(dispatches, submit = true) {
    const { runner, plan } = this;
    const { device } = runner;
    try {
      await runner.checked(`${plan.name}: the first run`, () => {
        const encoder = device.createCommandEncoder();
        encode(encoder, dispatches);
        const commands = encoder.finish();
        if (submit) device.queue.submit([commands]);
      });
    } catch (error) {
      if (runner.lost) throw error;
      // Encode the steps one by one, to find the invalid one.
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
   * @param {Step} step
   * @param {Map<string, GPUComputePipeline>} pipelines
   * @returns {BoundStep[]}  empty if there is nothing to compute
   */
  #bindStep(step, pipelines) {
    const pipeline = computes(step) && pipelines.get(pipelineKey(step));
    if (!pipeline) return [];
    const params = this.memory.paramsOf(step);
    return [new BoundStep(this.runner, step, pipeline, params, this.externalSlots)];
  }

  /** The buffer of a slot in the current run. @param {number} slot */
  #bufferOf(slot) {
    const buffer =
      this.replacements.get(slot) ?? this.states.get(slot) ?? this.memory.buffers[slot];
    if (!buffer) throw new DeviceError(`${this.plan.name}: slot ${slot} has no buffer`);
    return buffer;
  }

  /**
   * Bind the plan's states to these buffers, which all later runs read and update. A plan with
   * states runs only after that.
   * @param {number[]} ids  of the buffers, in the order of the plan's states
   */
  useStates(ids) {
    this.#checkOpen();
    const { plan, runner } = this;
    if (ids.length !== plan.states.length) {
      throw new DeviceError(
        `${plan.name}: got ${ids.length} states instead of ${plan.states.length}`,
      );
    }
    const before = this.states;
    this.states = new Map(
      plan.states.map(({ slot }, index) => [slot, runner.buffers.get(ids[index])]),
    );
    /** @param {number} slot */
    const changed = (slot) => before.get(slot) !== this.states.get(slot);
    for (const dispatch of this.dispatches) {
      if (dispatch.externalSlots.some(changed)) dispatch.bindGroup = undefined;
    }
  }

  /**
   * Run once. Runs may overlap, because the device executes them in order.
   * @param {Feed[]} inputs  in the plan's order. The caller may change their bytes as soon as this
   *   call returns.
   * @param {number[]} [outputIds]  for each output, the id of the new buffer that keeps it on the
   *   device, or 0 to fetch it
   * @returns {Promise<ArrayBuffer[]>}  the fetched outputs, padded to a multiple of 4 bytes
   */
  async run(inputs, outputIds = []) {
    this.#checkInputs(inputs);
    return this.#runAndFetch(inputs, outputIds);
  }

  /**
   * Run once without fetching anything, and don't wait. If the run fails, the next read throws the
   * error.
   * @param {Feed[]} inputs  as for run()
   * @param {number[]} outputIds  for each output, the id of the new buffer that keeps it
   */
  start(inputs, outputIds) {
    this.#checkInputs(inputs);
    this.#explained(() => this.#submitRun(inputs, outputIds));
  }

  /**
   * Run several times and measure each step. Each run updates the states.
   * @param {Feed[]} inputs  as for run()
   * @param {number} [budget]  milliseconds after which no further run begins
   */
  async profile(inputs, budget) {
    this.#checkInputs(inputs);
    const copies = inputs.map((input) => (typeof input === "number" ? input : input.slice()));
    await this.#runAndFetch(copies, []);
    return profile(this, () => this.#feed(copies), budget);
  }

  /** @throws {DeviceError} */
  #checkOpen() {
    if (this.runner.lost) throw this.runner.lost;
    if (this.failure) throw this.failure;
    if (this.closed) throw new DeviceError(`${this.plan.name}: the program is closed`);
  }

  /**
   * Check that the program can run on these inputs.
   * @param {Feed[]} inputs
   * @throws {DeviceError}
   */
  #checkInputs(inputs) {
    this.#checkOpen();
    const { plan } = this;
    if (inputs.length !== plan.inputs.length) {
      throw new DeviceError(
        `${plan.name}: got ${inputs.length} inputs instead of ${plan.inputs.length}`,
      );
    }
    if (this.states.size !== plan.states.length) {
      throw new DeviceError(`${plan.name}: a run needs the states; call useStates() first`);
    }
    for (const [index, { name, bytes }] of plan.inputs.entries()) {
      const input = inputs[index];
      if (typeof input !== "number" && input.byteLength !== bytes) {
        throw new DeviceError(
          `${plan.name}: the input ${name} has ${input.byteLength} bytes instead of ${bytes}`,
        );
      }
    }
  }

  /**
   * Upload the inputs that come from the host, and bind the buffers that are already on the device.
   * @param {Feed[]} inputs  checked by #checkInputs()
   * @param {Map<number, GPUBuffer>} [replacements]  the buffers of outputs that stay on the device
   */
  #feed(inputs, replacements = new Map()) {
    const { plan, runner } = this;
    const before = this.replacements;
    for (const [index, { slot }] of plan.inputs.entries()) {
      const input = inputs[index];
      if (typeof input === "number") replacements.set(slot, runner.buffers.get(input));
    }
    this.replacements = replacements;
    for (const [index, { slot }] of plan.inputs.entries()) {
      const input = inputs[index];
      if (typeof input === "number") continue;
      const { buffer, byteOffset, byteLength } = paddedToWords(input);
      runner.device.queue.writeBuffer(this.#bufferOf(slot), 0, buffer, byteOffset, byteLength);
    }
    /** @param {number} slot */
    const changed = (slot) => before.get(slot) !== replacements.get(slot);
    for (const dispatch of this.dispatches) {
      if (!dispatch.bindGroup || dispatch.externalSlots.some(changed)) {
        dispatch.bind((slot) => this.#bufferOf(slot));
      }
    }
  }

  /**
   * Submit a run.
   * @param {Feed[]} inputs
   * @param {number[]} outputIds
   * @param {GPUBuffer} [staging]  receives the outputs to fetch
   */
  #submitRun(inputs, outputIds, staging) {
    const { plan, runner } = this;
    const { device, buffers } = runner;
    /** @type {Map<number, GPUBuffer>} */
    const replacements = new Map();
    /** @type {{slot: number, buffer: GPUBuffer, size: number}[]} */
    const outputCopies = [];
    for (const [index, { slot, bytes }] of plan.outputs.entries()) {
      if (!outputIds[index]) continue;
      const size = bufferSize(bytes);
      const buffer = buffers.allocate(size);
      buffers.register(outputIds[index], buffer);
      // If possible, the run writes into the new buffer directly; otherwise the output is copied.
      const replaceable = plan.slots[slot].kind === "output" && plan.slots[slot].bytes === size;
      if (replaceable && !replacements.has(slot)) replacements.set(slot, buffer);
      else outputCopies.push({ slot, buffer, size: wordAligned(bytes) });
    }
    this.#feed(inputs, replacements);
    const encoder = device.createCommandEncoder({ label: plan.name });
    encode(encoder, this.dispatches);
    let offset = 0;
    for (const [index, { slot, bytes }] of plan.outputs.entries()) {
      if (outputIds[index] || !staging) continue;
      const size = wordAligned(bytes);
      encoder.copyBufferToBuffer(this.#bufferOf(slot), 0, staging, offset, size);
      offset += size;
    }
    for (const { slot, buffer, size } of outputCopies) {
      encoder.copyBufferToBuffer(this.#bufferOf(slot), 0, buffer, 0, size);
    }
    for (const { source, target, bytes } of plan.copies) {
      const size = wordAligned(bytes);
      encoder.copyBufferToBuffer(this.#bufferOf(source), 0, this.#bufferOf(target), 0, size);
    }
    device.queue.submit([encoder.finish()]);
    this.runs += 1;
  }

  /**
   * @param {Feed[]} inputs
   * @param {number[]} outputIds
   */
  async #runAndFetch(inputs, outputIds) {
    const { plan, runner } = this;
    const fetched = plan.outputs.filter((_, index) => !outputIds[index]);
    /** @type {GPUBuffer | undefined} */
    let staging;
    const checking = runner.checked(plan.name, () => {
      staging = this.memory.takeStaging();
      this.#submitRun(inputs, outputIds, staging);
    });
    if (!staging) return checking.then(() => []); // `checking` rejects: the buffer was not created
    const mapped = /** @type {GPUBuffer} */ (staging);
    const mapping = runner.whileAlive(mapped.mapAsync(GPUMapMode.READ));
    try {
      await Promise.all([checking, mapping]);
      runner.throwUncapturedError();
      const content = mapped.getMappedRange();
      let offset = 0;
      return fetched.map(({ bytes }) => content.slice(offset, (offset += wordAligned(bytes))));
    } finally {
      // The next run needs the buffer unmapped, even if this one failed.
      await mapping.then(() => mapped.unmap()).catch(() => {});
      this.memory.recycleStaging(mapped);
    }
  }

  /** Counts, and the bytes of the program's buffers. */
  get stats() {
    return {
      kernels: this.kernels,
      dispatches: this.dispatches.length,
      slots: this.plan.slots.length,
      bytes: this.memory.bytes,
      runs: this.runs,
      waited: this.waited,
      adapter: this.runner.info.name,
    };
  }

  /** Destroy the program's buffers. Runs that were already submitted still end normally. */
  close() {
    this.closed = true;
    this.memory.close();
    this.replacements = new Map();
    this.states = new Map();
    this.dispatches = [];
  }
}
