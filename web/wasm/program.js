// @ts-check
/**
 * A plan of generated WebAssembly (py/tallow/devices/wasm/target.py), which is loaded once and
 * then run many times, without Python.
 *
 * A plan has a memory of its own, laid out by its slots, and one module. All computation is
 * synchronous. Python can adopt a loaded program (py/tallow/devices/wasm/browser.py).
 */

import { DeviceError, OutOfMemoryError } from "../gpu/errors.js";
import { WasmInstance, withSharedMemory } from "./engine.js";

/**
 * @typedef {import("../gpu/program.js").Weights} Weights
 * @typedef {import("../gpu/program.js").Plan} Plan
 * @typedef {import("./claims.js").Kernel} Kernel
 */

const PAGE = 65536;

/** Bytes to which all parts of the memory are aligned, as in py/tallow/devices/wasm/runner.py. */
const ALIGNMENT = 64;

const MAX_PAGES = 65536; // 4 GiB, the most that WebAssembly can address with 32 bits

/**
 * Whether a plan runs without Python, which has NumPy compute the steps without a function, and
 * keeps the states.
 * @param {Plan} plan
 */
export function runsWithoutPython(plan) {
  const keepsNothing = plan.states.length === 0 && plan.copies.length === 0;
  return keepsNothing && stepsOf(plan).every((step) => kernelOf(step).function !== undefined);
}

/** @param {Plan} plan */
const stepsOf = (plan) => [...plan.prepare, ...plan.run];

/** @param {any} step  of a plan for any device @returns {Kernel} */
const kernelOf = (step) => step.kernel;

export class WasmProgram {
  /**
   * @param {Plan} plan
   * @param {WebAssembly.Module | null} module  null if the plan has no functions
   * @param {import("./pool.js").Pool | null} pool  of threads that share its steps
   * @param {string} adapter  the engine's name
   */
  constructor(plan, module, pool, adapter) {
    this.plan = plan;
    this.adapter = adapter;
    this.runs = 0;
    this.closed = false;
    // Memory begins with what each thread's kernels use while they run. The slots follow.
    const scratch = stepsOf(plan).map((step) => kernelOf(step).scratch ?? 0);
    this.scratch = aligned(Math.max(0, ...scratch));
    let end = (pool?.threads ?? 1) * this.scratch;
    /** The addresses of the slots. */
    this.offsets = plan.slots.map(({ bytes }) => {
      const start = end;
      end += aligned(bytes);
      return start;
    });
    const pages = Math.ceil(end / PAGE);
    if (pages > MAX_PAGES) throw tooLarge(plan.name, end);
    try {
      this.instance = new WasmInstance(module, pages, pool);
    } catch {
      throw tooLarge(plan.name, end);
    }
    this.bytes = this.instance.bytes;
    /** @type {(() => void)[]} */
    this.steps = plan.run.map((step) => this.#bound(step));
  }

  /**
   * Load a plan, whose weights may still be arriving. Every step must have a function.
   * @param {Plan} plan
   * @param {Weights} weights
   * @param {import("./engine.js").WasmEngine} engine
   * @param {string} adapter
   */
  static async load(plan, weights, engine, adapter) {
    const [text] = plan.modules;
    const hasUnits = stepsOf(plan).some((step) => kernelOf(step).units !== undefined);
    const pool = hasUnits ? engine.pool : null;
    const code = text ? decoded(text) : null;
    const module = code && (await compiled(plan.name, pool ? withSharedMemory(code) : code));
    const program = new WasmProgram(plan, module, pool, adapter);
    await program.#fill(weights);
    program.#compute(plan.prepare.map((step) => program.#bound(step)));
    return program;
  }

  /** @param {Weights} weights */
  async #fill(weights) {
    let index = 0;
    for (const [slot, { kind }] of this.plan.slots.entries()) {
      if (kind !== "weight") continue;
      await weights.ready(index);
      weights.lend(index, (content) => this.bytes.set(content, this.offsets[slot]));
      index += 1;
    }
  }

  /** @param {import("../gpu/program.js").Step} step */
  #bound(step) {
    const addresses = step.bindings.map((slot) => this.offsets[slot]);
    return this.instance.bound(kernelOf(step), addresses, this.scratch);
  }

  /** @param {(() => void)[]} steps */
  #compute(steps) {
    try {
      for (const step of steps) step();
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      throw new DeviceError(`${this.plan.name}: WebAssembly stopped: ${message}`);
    }
  }

  /**
   * Run once.
   * @param {Uint8Array[]} inputs  in the plan's order
   * @returns {Promise<ArrayBuffer[]>}  the outputs
   */
  async run(inputs) {
    const { plan, bytes, offsets } = this;
    if (this.closed) throw new DeviceError(`${plan.name}: the program is closed`);
    for (const [index, { name, slot, bytes: size }] of plan.inputs.entries()) {
      if (inputs[index]?.byteLength !== size) {
        const actual = inputs[index]?.byteLength;
        throw new DeviceError(
          `${plan.name}: the input ${name} has ${actual} bytes instead of ${size}`,
        );
      }
      bytes.set(inputs[index], offsets[slot]);
    }
    this.#compute(this.steps);
    this.runs += 1;
    return plan.outputs.map(
      ({ slot, bytes: size }) => bytes.slice(offsets[slot], offsets[slot] + size).buffer,
    );
  }

  get stats() {
    const { plan, bytes, runs, adapter } = this;
    return {
      kernels: plan.prepare.length + plan.run.length,
      dispatches: plan.run.length,
      slots: plan.slots.length,
      bytes: bytes.length,
      runs,
      adapter,
    };
  }

  /** Its memory is freed once nothing refers to the program. */
  close() {
    this.closed = true;
    this.steps = [];
    this.instance.close();
  }
}

/**
 * @param {string} name
 * @param {Uint8Array<ArrayBuffer>} bytes
 */
async function compiled(name, bytes) {
  try {
    return await WebAssembly.compile(bytes);
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    throw new DeviceError(`${name}: this browser refused the plan's WebAssembly: ${message}`);
  }
}

const aligned = (/** @type {number} */ bytes) => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/**
 * @param {string} name
 * @param {number} bytes
 */
const tooLarge = (name, bytes) =>
  new OutOfMemoryError(
    `${name} cannot fit: it needs ${bytes.toLocaleString("en")} bytes of WebAssembly's memory; ` +
      "use a smaller model, or NumPy",
  );

/** @param {string} text  in base 64 */
const decoded = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
