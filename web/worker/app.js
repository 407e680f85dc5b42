// @ts-check
/**
 * py/tallow_page/app.py in this worker. Python is started when it is first needed, or when nothing else is
 * to be done; where that fails, whoever needs it next has it tried again. Whatever touches Python
 * waits its turn.
 */

import { LocalizedError } from "../i18n/messages.js";
import { openGpu, show, withoutGpu } from "./gpu.js";
import { startPython } from "./python.js";
import { Queue } from "./queue.js";
import { emit } from "./serve.js";

/**
 * @typedef {import("./python.js").Python} Python
 * @typedef {import("./gpu.js").Gpu} Gpu
 * @typedef {"webgpu" | "numpy"} Device
 */

export class App {
  /** @type {Promise<Python> | undefined} */
  #python;
  /** py/tallow_page/app.py, once imported. @type {any} */
  #module;
  #turns = new Queue();
  /** What it is to compute on, of which it is told before anything else. */
  #wanted = { device: /** @type {Device} */ ("numpy"), gpu: Promise.resolve(withoutGpu()) };
  /** What it has been told of. */
  #told = /** @type {{gpu: Promise<Gpu>} | null} */ (null);
  /** The name of what it computes on. */
  #adapter = "";

  /** Whether to start it without the memory snapshot. */
  plain = false;

  /** Python, which is being started from now on if it was not yet. */
  start() {
    const starting =
      this.#python ?? startPython({ numpy: this.#wanted.device === "numpy", plain: this.plain });
    this.#python = starting;
    starting.catch(() => {
      if (this.#python !== starting) return;
      this.#python = undefined;
      emit("python", { failed: true });
    });
    return starting;
  }

  /**
   * Have it compute on this device from now on; it forgets all models but the visitor's.
   * @param {Device} device
   * @param {Promise<Gpu>} gpu  the one that was opened, if that is it
   */
  use(device, gpu) {
    this.#wanted = { device, gpu };
  }

  /** The GPU of the one that it computes on, once it has been told of that. */
  get gpu() {
    return this.#told?.gpu;
  }

  /** Start it on the device of now, in turn. @returns {Promise<string>}  the adapter's name */
  ready() {
    return this.inTurn(async () => this.#adapter);
  }

  /**
   * Do what needs Python after all that was to be done before.
   * @template T
   * @param {() => Promise<T>} job
   * @returns {Promise<T>}
   */
  inTurn(job) {
    return this.#turns.add(async () => {
      await this.#tell();
      return job();
    });
  }

  /** Have both devices there for a job, in its turn; rejects with a LocalizedError where there is no GPU. */
  async prepareBoth() {
    const gpu = await openGpu();
    if (!gpu.info) throw new LocalizedError(gpu.words ?? "");
    show(gpu);
    await (await this.start()).loadNumpy();
  }

  /** Resolves when all that was to be done so far has been done. */
  ended() {
    return this.#turns.ended();
  }

  /** Have it compute on the device of now: another may be chosen while it starts. */
  async #tell() {
    while (this.#told !== this.#wanted) {
      const python = await this.start();
      const wanted = this.#wanted;
      show(await wanted.gpu);
      this.#module ??= python.pyodide.pyimport("tallow_page.app");
      if (wanted.device === "numpy") await python.loadNumpy();
      this.#adapter = (await this.ask("start", wanted.device)).adapter;
      this.#told = wanted;
      emit("python", { failed: false });
    }
  }

  /**
   * Call one of its functions; in turn, or when one that was in turn has been called.
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
   * Call a function that gives JSON later, and read that. It is called at once, so that what is handed
   * to it may be destroyed then.
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
   * Call a function that gives a buffer later.
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
      // Python's objects live until told otherwise: the garbage collector takes its time.
      coroutine.destroy();
    }
  }

  /** @param {any} held  a buffer of Python's, which is let go @returns {Uint8Array<ArrayBuffer>} */
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
