// @ts-check
/**
 * The buffers that a program owns: a buffer per slot, one with the params of all steps, and those
 * from which the host reads outputs.
 */

import { computes } from "./pipelines.js";

/**
 * @typedef {import("./program.js").Computing} Computing
 * @typedef {import("./program.js").Plan} Plan
 * @typedef {import("./program.js").Step} Step
 * @typedef {import("./program.js").Weights} Weights
 */

/**
 * `prepare` runs in parts. Each part creates about this many bytes of buffers that only `prepare`
 * uses.
 */
const PART_BYTES = 4 << 20;

export class ProgramMemory {
  /**
   * @param {import("./runner.js").Runner} runner
   * @param {Plan} plan
   * @param {Map<number, number>} shared  the numbers of slots that programs have in common
   */
  constructor(runner, plan, shared) {
    this.runner = runner;
    this.plan = plan;
    this.shared = shared;
    /** The steps of `prepare` whose results nobody has yet. @type {Step[]} */
    this.prepare = [];
    /** By slot. @type {(GPUBuffer | undefined)[]} */
    this.buffers = [];
    /** The index of each weight among the weights, by slot. @type {Map<number, number>} */
    this.weightIndices = new Map();
    for (const [slot, { kind }] of plan.slots.entries()) {
      if (kind === "weight") this.weightIndices.set(slot, this.weightIndices.size);
    }
    /** A uniform buffer with the params of all steps. @type {GPUBuffer | undefined} */
    this.params = undefined;
    /** The offset of each step's params in it. @type {Map<Computing, number>} */
    this.paramOffsets = new Map();
    /** Staging buffers that no run is using. @type {GPUBuffer[]} */
    this.idleStaging = [];
    this.closed = false;
  }

  /**
   * Wait for the weights among these slots.
   * @param {Iterable<number>} slots
   * @param {Weights} weights
   */
  async weightsReady(slots, weights) {
    for (const slot of slots) {
      const index = this.weightIndices.get(slot);
      if (index !== undefined && !this.buffers[slot]) await weights.ready(index);
    }
  }

  /** The slots that runs use, other than states, whose buffers the caller passes. */
  persistentSlots() {
    const { inputs, outputs, run, states, copies } = this.plan;
    const slots = new Set(run.flatMap(({ bindings }) => bindings));
    for (const { slot } of [...inputs, ...outputs]) slots.add(slot);
    for (const { source, target } of copies) slots.add(source).add(target);
    for (const { slot } of states) slots.delete(slot);
    return slots;
  }

  /**
   * Take the buffers that other programs have of this one's. What they have computed need not be
   * computed again.
   * @param {Set<number>} persistent
   */
  claim(persistent) {
    const { shared } = this.runner;
    const needed = new Set(persistent);
    for (const step of [...this.plan.prepare].reverse()) {
      const result = /** @type {number} */ (step.bindings.at(-1));
      if (!needed.has(result) || shared.isFilled(this.shared.get(result))) continue;
      for (const slot of step.bindings) needed.add(slot);
      this.prepare.unshift(step);
    }
    for (const slot of needed) this.buffers[slot] = shared.take(this.shared.get(slot));
  }

  /**
   * Split `prepare` into parts, to save memory: few of the slots that only `prepare` uses need a
   * buffer at the same time.
   * @param {Set<number>} persistent
   * @returns {Generator<{steps: Step[], missing: number[], unneeded: number[]}>}  missing: slots
   *   that need a buffer before the part runs; unneeded: slots that no later part uses
   */
  *prepareParts(persistent) {
    const { plan } = this;
    const stepsLeft = [...this.prepare];
    /** The temporary slots of each of these steps. */
    const slotsLeft = stepsLeft.map(({ bindings }) =>
      bindings.filter((slot) => !persistent.has(slot)),
    );
    while (stepsLeft.length) {
      /** @type {Step[]} */
      const steps = [];
      /** @type {Set<number>} */
      const temporary = new Set();
      for (let bytes = 0; stepsLeft.length && bytes < PART_BYTES;) {
        steps.push(/** @type {Step} */ (stepsLeft.shift()));
        for (const slot of /** @type {number[]} */ (slotsLeft.shift())) {
          if (!temporary.has(slot) && !this.buffers[slot]) bytes += plan.slots[slot].bytes;
          temporary.add(slot);
        }
      }
      const missing = [...temporary].filter((slot) => !this.buffers[slot]);
      const unneeded = [...temporary].filter(
        (slot) => !slotsLeft.some((slots) => slots.includes(slot)),
      );
      yield { steps, missing, unneeded };
    }
  }

  /**
   * Create the buffers that runs use.
   * @param {Weights} weights
   * @param {Set<number>} persistent
   */
  allocate(weights, persistent) {
    for (const slot of persistent) this.create(slot, weights);
    this.#uploadParams();
  }

  /** A buffer for the next run, from which the host reads all outputs. */
  takeStaging() {
    return this.idleStaging.pop() ?? this.createStaging();
  }

  /** Create a buffer from which the host reads all outputs. */
  createStaging() {
    const size = this.plan.outputs.reduce((sum, { bytes }) => sum + wordAligned(bytes), 0);
    return this.runner.device.createBuffer({
      size: Math.max(size, 16),
      usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
      label: `${this.plan.name} staging`,
    });
  }

  /**
   * Keep a staging buffer for the next run. One is enough, because runs seldom overlap.
   * @param {GPUBuffer} staging
   */
  recycleStaging(staging) {
    if (this.closed || this.idleStaging.length) staging.destroy();
    else this.idleStaging.push(staging);
  }

  /**
   * Create the buffer of a slot. If the slot is a weight, upload it.
   * @param {number} slot
   * @param {Weights} weights
   */
  create(slot, weights) {
    const { device, shared } = this.runner;
    const number = this.shared.get(slot);
    this.buffers[slot] ??= shared.take(number);
    if (this.buffers[slot]) return;
    const { bytes, kind } = this.plan.slots[slot];
    const { STORAGE, COPY_DST, COPY_SRC } = GPUBufferUsage;
    const label = `${this.plan.name} slot ${slot} (${kind})`;
    const usage = STORAGE | COPY_DST | COPY_SRC;
    const buffer = device.createBuffer({ size: bytes, usage, label });
    this.buffers[slot] = buffer;
    if (number !== undefined) shared.add(number, buffer);
    const index = this.weightIndices.get(slot);
    if (index === undefined) return;
    weights.lend(index, (weight) => {
      const { buffer: memory, byteOffset, byteLength } = paddedToWords(weight);
      device.queue.writeBuffer(buffer, 0, memory, byteOffset, byteLength);
      shared.noteFilled(number);
    });
  }

  /**
   * Note that a part of `prepare` is submitted.
   * @param {{steps: Step[], unneeded: number[]}} part
   */
  end({ steps, unneeded }) {
    for (const { bindings } of steps) {
      this.runner.shared.noteFilled(this.shared.get(/** @type {number} */ (bindings.at(-1))));
    }
    for (const slot of unneeded) this.destroy(slot);
  }

  #uploadParams() {
    const { device } = this.runner;
    const steps = [...this.plan.prepare, ...this.plan.run].filter(computes);
    const align = device.limits.minUniformBufferOffsetAlignment;
    let size = 0;
    for (const step of steps) {
      this.paramOffsets.set(step, size);
      size += Math.ceil((4 * step.kernel.params.length) / align) * align;
    }
    if (!size) return;
    const words = new Uint32Array(size / 4);
    for (const [step, offset] of this.paramOffsets) words.set(step.kernel.params, offset / 4);
    const { UNIFORM, COPY_DST } = GPUBufferUsage;
    const label = `${this.plan.name} params`;
    this.params = device.createBuffer({ size, usage: UNIFORM | COPY_DST, label });
    device.queue.writeBuffer(this.params, 0, words);
  }

  /** Where the params of a step are, if it has any. @param {Computing} step */
  paramsOf(step) {
    const size = 4 * step.kernel.params.length;
    const offset = this.paramOffsets.get(step);
    return this.params && size ? { buffer: this.params, offset, size } : undefined;
  }

  /** @param {number} slot */
  destroy(slot) {
    const number = this.shared.get(slot);
    if (number === undefined) this.buffers[slot]?.destroy();
    else if (this.buffers[slot]) this.runner.shared.release(number);
    this.buffers[slot] = undefined;
  }

  /** The bytes of all of them. */
  get bytes() {
    const buffers = [...this.buffers, this.params, ...this.idleStaging];
    return buffers.reduce((sum, buffer) => sum + (buffer?.size ?? 0), 0);
  }

  /** Destroy them. Runs that were already submitted still end normally. */
  close() {
    this.closed = true;
    for (const slot of this.buffers.keys()) this.destroy(slot);
    for (const buffer of [this.params, ...this.idleStaging]) buffer?.destroy();
    this.buffers = [];
    this.params = undefined;
    this.idleStaging = [];
  }
}

/** Round up to a multiple of 4, as WebGPU's copies and uploads need. @param {number} bytes */
export function wordAligned(bytes) {
  return Math.ceil(bytes / 4) * 4;
}

/** Pad bytes with zeros to a multiple of 4. @param {Uint8Array} bytes */
export function paddedToWords(bytes) {
  if (bytes.byteLength % 4 === 0) return bytes;
  const padded = new Uint8Array(wordAligned(bytes.byteLength));
  padded.set(bytes);
  return padded;
}
