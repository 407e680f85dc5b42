// @ts-check
/**
 * Calls py/tallow_page/app.py in this worker. Python starts when it is first needed or when the
 * worker is idle; if the start fails, the next use tries again. All work in Python runs in turn.
 */

import { DEVICES, FALLBACK } from "../shared/devices.js";
import { LocalizedError } from "../i18n/messages.js";
import { openGpu, giveToPython, withoutGpu } from "./gpu.js";
import { startPython } from "./python.js";
import { Queue } from "./queue.js";
import { emit } from "./serve.js";

/**
 * @typedef {import("./python.js").Python} Python
 * @typedef {import("./gpu.js").Gpu} Gpu
 * @typedef {import("../shared/devices.js").Device} Device
 */

export class App {
  /** @type {Promise<Python> | undefined} */
  #python;
  /** The imported py/tallow_page/app.py. @type {any} */
  #module;
  #turns = new Queue();
  /** The requested device. */
  #wanted = { device: FALLBACK, gpu: Promise.resolve(withoutGpu()) };
  /** The device that Python was last switched to. */
  #current = /** @type {{gpu: Promise<Gpu>} | null} */ (null);
  /** The name of that device. */
  #adapter = "";

  /** Whether to start Python without the memory snapshot. */
  plain = false;

  /** Start Python, unless that was done before. */
  start() {
    const starting =
      this.#python ??
      startPython({ numpy: !DEVICES[this.#wanted.device].onGpu, plain: this.plain });
    this.#python = starting;
    starting.catch(() => {
      if (this.#python !== starting) return;
      this.#python = undefined;
      emit("python", { failed: true });
    });
    return starting;
  }

  /**
   * Compute on this device from the next job on. Python then forgets all models except the
   * visitor's.
   * @param {Device} device
   * @param {Promise<Gpu>} gpu  the opened GPU, for "webgpu"
   */
  use(device, gpu) {
    this.#wanted = { device, gpu };
  }

  /** The GPU of the device that Python was last switched to. */
  get gpu() {
    return this.#current?.gpu;
  }

  /** Start Python on the current device, in turn. @returns {Promise<string>}  the adapter's name */
  ready() {
    return this.inTurn(async () => this.#adapter);
  }

  /**
   * Run a job that needs Python, after all earlier jobs.
   * @template T
   * @param {() => Promise<T>} job
   * @returns {Promise<T>}
   */
  inTurn(job) {
    return this.#turns.add(async () => {
      await this.#switch();
      return job();
    });
  }

  /** Get both devices ready, within a job. Rejects with a LocalizedError if there is no GPU. */
  async prepareBoth() {
    const gpu = await openGpu();
    if (!gpu.info) throw new LocalizedError(gpu.words ?? "");
    giveToPython(gpu);
    await (await this.start()).loadNumpy();
  }

  /** Resolves when all jobs so far have ended. */
  ended() {
    return this.#turns.ended();
  }

  /** Switch Python to the requested device. Another may be requested meanwhile, hence the loop. */
  async #switch() {
    while (this.#current !== this.#wanted) {
      const python = await this.start();
      const wanted = this.#wanted;
      giveToPython(await wanted.gpu);
      this.#module ??= python.pyodide.pyimport("tallow_page.app");
      if (!DEVICES[wanted.device].onGpu) await python.loadNumpy();
      this.#adapter = (await this.ask("start", wanted.device)).adapter;
      this.#current = wanted;
      emit("python", { failed: false });
    }
  }

  /**
   * Call a function of app.py, within a job or after one.
   * @param {string} name
   * @param {...unknown} args
   */
  call(name, ...args) {
    const run = this.#module[name];
    try {
      return run(...args);
    } finally {
      run.destroy();
    }
  }

  /**
   * Call a coroutine function that returns JSON, and parse that. The call happens at once, so the
   * caller may destroy the arguments afterwards.
   * @param {"start" | "load_model" | "load_kept" | "profile" | "run_on" | "tune"
   *   | "needed_files" | "open_model" | "survey_model" | "run_model" | "time_model"
   *   | "compare_model"} name
   * @param {...unknown} args  strings, numbers, booleans, byte arrays and callbacks
   * @returns {Promise<any>}
   */
  async ask(name, ...args) {
    return this.#await(this.call(name, ...args), JSON.parse);
  }

  /**
   * Call a coroutine function that returns a buffer.
   * @param {"predict"} name
   * @param {...unknown} args
   * @returns {Promise<ArrayBuffer>}  a copy
   */
  async askBuffer(name, ...args) {
    return this.#await(this.call(name, ...args), (held) => this.copy(held).buffer);
  }

  /**
   * @template T
   * @param {any} coroutine
   * @param {(result: any) => T} read
   */
  async #await(coroutine, read) {
    try {
      return read(await coroutine);
    } finally {
      // The garbage collector would free Python's objects too late.
      coroutine.destroy();
    }
  }

  /** Copy a buffer of Python's and free it. @param {any} held @returns {Uint8Array<ArrayBuffer>} */
  copy(held) {
    const view = held.getBuffer("u8");
    try {
      return view.data.slice();
    } finally {
      view.release();
      held.destroy();
    }
  }
}
