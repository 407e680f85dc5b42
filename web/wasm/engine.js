// @ts-check
/**
 * WebAssembly in this page or worker, with a pool of threads if there can be one. Programs with and
 * without Python use it (program.js, py/tallow/devices/wasm/browser.py).
 */

import { callOf, cuts } from "./claims.js";
import { Pool } from "./pool.js";

/** @typedef {import("./claims.js").Kernel} Kernel */

/** The number of threads unless another is asked for, as in py/tallow/devices/wasm/threads.py. */
const usualThreads = () => Math.min(navigator.hardwareConcurrency || 1, 4);

/** Whether threads can share memory here. A page's main thread may not wait for others. */
const canShare = () => globalThis.crossOriginIsolated && typeof document === "undefined";

/**
 * Open WebAssembly in this page or worker.
 * @param {number | null} threads  null for the usual number; there is one where there can't be more
 * @param {string | URL} address  of thread.js
 */
export function openEngine(threads, address) {
  const start = () => new Worker(address, { type: "module" });
  return new WasmEngine(threads ?? usualThreads(), canShare() ? start : null);
}

export class WasmEngine {
  #start;
  /** @type {Pool | null} */
  #pool = null;

  /**
   * @param {number} threads
   * @param {(() => import("./pool.js").Thread) | null} start  starts a worker that runs thread.js;
   *   null where threads can't share memory
   */
  constructor(threads, start) {
    this.#start = start;
    this.useThreads(threads);
  }

  /** The threads for programs that are loaded from now on; null if there is one. */
  get pool() {
    return this.#pool?.open ? this.#pool : null;
  }

  /** How many threads share the steps of programs that are loaded from now on. */
  get threads() {
    return this.pool?.threads ?? 1;
  }

  /** Change that number, where there can be threads. @param {number} threads */
  useThreads(threads) {
    const start = this.#start;
    if (!start || threads === this.threads) return;
    this.#pool?.retire();
    this.#pool = threads > 1 ? new Pool(threads, start) : null;
  }

  /**
   * @param {Uint8Array<ArrayBuffer> | null} code  null for a plan without functions
   * @param {number} pages  of its memory
   * @param {boolean} shared  whether all threads share its steps
   * @throws {RangeError}  if there is no memory left
   */
  instance(code, pages, shared) {
    const pool = shared ? this.pool : null;
    return new WasmInstance(code && this.module(code, pool !== null), pages, pool);
  }

  /**
   * @param {Uint8Array<ArrayBuffer>} code
   * @param {boolean} shared  whether its memory is shared by threads
   */
  module(code, shared) {
    return new WebAssembly.Module(shared ? withSharedMemory(code) : code);
  }

  /**
   * As `instance`, on a memory that many programs share.
   * @param {WebAssembly.Module | null} module
   * @param {WebAssembly.Memory} memory
   * @param {number} start  of its part of that
   * @param {boolean} shared
   */
  placed(module, memory, start, shared) {
    return new WasmInstance(module, { memory, start }, shared ? this.pool : null);
  }
}

/** Programs that are no longer used leave the pool, even if nobody closed them. */
const forgotten = new FinalizationRegistry((/** @type {() => void} */ leave) => leave());

/** @typedef {{memory: WebAssembly.Memory, start: number}} Region  from `start` on */

/** @param {number} pages @param {boolean} shared @returns {Region} */
function ownMemory(pages, shared) {
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared });
  return { memory, start: 0 };
}

/**
 * A module with a memory of its own, or a part of one. That begins with scratch memory for each
 * thread.
 */
export class WasmInstance {
  #pool;
  #program = 0;
  #start;

  /**
   * @param {WebAssembly.Module | null} module  compiled for shared memory if there is a pool
   * @param {number | Region} region  the pages of a memory of its own, or a region of another one
   * @param {Pool | null} pool
   */
  constructor(module, region, pool) {
    const given = typeof region === "number" ? ownMemory(region, pool !== null) : region;
    const { memory, start } = given;
    this.#pool = pool;
    this.#start = start;
    this.bytes = new Uint8Array(memory.buffer);
    this.exports = module ? new WebAssembly.Instance(module, { tallow: { memory } }).exports : {};
    if (!pool || !module) return;
    const program = pool.enter(module, memory);
    this.#program = program;
    forgotten.register(this, () => pool.leave(program), this);
  }

  /** How many threads share its steps. */
  get threads() {
    return this.#pool?.threads ?? 1;
  }

  /**
   * A step as a call.
   * @param {Kernel} kernel
   * @param {number[]} addresses  of what it reads and writes
   * @param {number} scratch  bytes that each thread has at the beginning of its part
   * @returns {() => void}
   */
  bound(kernel, addresses, scratch) {
    const start = this.#start;
    const call = callOf(this.exports, kernel, addresses, start);
    const { units } = kernel;
    if (units === undefined) return () => call();
    const pool = this.#pool;
    const own = { start, size: scratch };
    const id = units > 1 && pool ? pool.add(this.#program, kernel, addresses, own) : 0;
    if (!pool || !id) return () => call(0, units);
    const job = { id, call, cuts: cuts(units, pool.threads) };
    return () => pool.run(job);
  }

  /**
   * Calls as one, since each call from Python costs some microseconds.
   * @param {(() => void)[]} calls
   */
  together(calls) {
    return () => {
      for (const call of calls) call();
    };
  }

  /**
   * Copies within the memory as one call: from an offset to another one, so many bytes.
   * @param {[source: number, target: number, size: number][]} moves
   */
  copies(moves) {
    return () => {
      for (const [source, target, size] of moves) {
        this.bytes.copyWithin(target, source, source + size);
      }
    };
  }

  /** Let the threads forget it. */
  close() {
    if (this.#program) this.#pool?.leave(this.#program);
    this.#program = 0;
    forgotten.unregister(this);
  }
}

/** The import of the memory, up to its limits. */
const MEMORY = [..."\x06tallow\x06memory\x02"].map((letter) => letter.charCodeAt(0));

/** In the limits: that the memory has a maximum, and that threads share it. */
const SHARED = 3;

/**
 * A plan's module for a memory that threads share; see py/tallow/devices/wasm/codegen/assembler.py.
 * @param {Uint8Array<ArrayBuffer>} module
 */
export function withSharedMemory(module) {
  const at = module.findIndex((_, start) => MEMORY.every((byte, i) => byte === module[start + i]));
  return module.with(at + MEMORY.length, SHARED);
}
