// @ts-check
/**
 * Calls py/tallow_page in this worker. Python starts when it is first needed or when the
 * worker is idle; if the start fails, the next use tries again. All work in Python runs in turn.
 */

import { BEST, DEVICES, FALLBACK, REFERENCE } from "../shared/devices.js";
import { giveToPython, openDevice } from "./devices.js";
import { startPython } from "./python.js";
import { letMessagesIn, Queue } from "./queue.js";
import { LocalizedError, words } from "../i18n/messages.js";
import { describeError, emit } from "./serve.js";

/**
 * @typedef {import("./python.js").Python} Python
 * @typedef {import("./serve.js").Context} Context
 * @typedef {import("./devices.js").Opened} Opened
 * @typedef {import("../shared/devices.js").Device} Device
 * @typedef {import("../shared/devices.js").Wanted} Wanted
 */

/** Errors that Python raises if NumPy is missing. */
const WITHOUT_NUMPY = new Set(["ModuleNotFoundError", "DeviceUnavailableError"]);

/** @import {AnswerOf, Called, StreamOf, Streamed} from "./services.js" */

export class App {
  /** @type {Promise<Python> | undefined} */
  #python;
  /** @type {any} */
  #pyodide;
  /** The imported modules of py/tallow_page. @type {Record<string, any>} */
  #modules = {};
  #turns = new Queue();
  /** The requested device. @type {Promise<Opened>} */
  #wanted = openDevice("numpy");
  #needsNumpy = false;
  /** The device that Python was last switched to. @type {Promise<Opened> | null} */
  #current = null;
  /** The name of that device. */
  #adapter = "";
  /** Whether it is another machine's. */
  #elsewhere = false;

  /** Whether to start Python without the memory snapshot. */
  plain = false;

  /** Start Python, unless that was done before. */
  start() {
    const starting = this.#python ?? startPython({ numpy: this.#needsNumpy, plain: this.plain });
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
   * @param {Wanted} wanted
   * @param {Promise<Opened>} opening
   */
  use(wanted, opening) {
    this.#wanted = opening;
    this.#needsNumpy = wanted !== BEST && DEVICES[wanted].needsNumpy;
  }

  /** The device that Python was last switched to. */
  get device() {
    return this.#current;
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

  /**
   * Get all devices ready, within a job: the one in use, the engine of WebAssembly, and NumPy.
   * @param {boolean} anyGpu  whether another GPU counts, if it is the best device
   * @returns {Promise<Device[]>}  the GPU first, and NumPy last
   */
  async prepareAll(anyGpu) {
    let opened = await this.#wanted;
    const { onGpu, elsewhere } = DEVICES[opened.device];
    if (anyGpu && !onGpu && !elsewhere) {
      opened = await openDevice(BEST);
      giveToPython(opened);
    }
    await (await this.start()).loadNumpy();
    const { device } = await openDevice(FALLBACK);
    return [...new Set([opened.device, device, REFERENCE])];
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
      const opened = await wanted;
      giveToPython(opened);
      this.#pyodide = python.pyodide;
      if (DEVICES[opened.device].needsNumpy) await python.loadNumpy();
      const { device, machine } = opened;
      this.#elsewhere = false; // what fails now is reported by the start
      this.#adapter = (await this.ask("start", machine?.name ?? device, machine?.token)).adapter;
      this.#elsewhere = Boolean(machine);
      this.#current = wanted;
      emit("python", { failed: false });
    }
  }

  /**
   * Call a function of py/tallow_page/app.py, or VIEW.NAME of a view's module, within a job or
   * after one.
   * @param {string} name
   * @param {...unknown} args
   */
  call(name, ...args) {
    const [own, view = "app"] = name.split(".").reverse();
    const module = (this.#modules[view] ??= this.#pyodide.pyimport(`tallow_page.${view}`));
    const run = module[own];
    try {
      return run(...args);
    } finally {
      run.destroy();
    }
  }

  /**
   * Call a coroutine function that returns JSON, and parse that. The call happens at once, so the
   * caller may destroy the arguments afterwards.
   * @template {Called} Name
   * @param {Name} name
   * @param {...unknown} args  strings, numbers, booleans, byte arrays and callbacks
   * @returns {Promise<AnswerOf<Name>>}
   */
  async ask(name, ...args) {
    return this.#await(this.call(name, ...args), JSON.parse);
  }

  /**
   * Run a long action, a generator of Python's (py/tallow_page/steps.py). Each step is a job, and
   * between two of them the page's messages come in.
   * @template {Streamed} Name
   * @param {Context} context
   * @param {Name} name
   * @param {() => unknown[] | Promise<unknown[]>} begin  returns the arguments, as a job
   * @param {(job: () => Promise<any>) => Promise<any>} [turn]  runs a job
   * @returns {Promise<StreamOf<Name>>}
   * @throws  the signal's reason, once the generator is closed
   */
  async stream({ signal, progress }, name, begin, turn = (job) => this.inTurn(job)) {
    /** @type {Promise<Opened> | null} */
    let device = null;
    /** @param {() => Promise<any>} job */
    const step = (job) =>
      turn(() => {
        signal.throwIfAborted();
        // Python has closed what it had on the other one.
        if (device && device !== this.#current) throw new LocalizedError(words("otherDevice"));
        device = this.#current;
        return job();
      });
    const steps = await step(async () => this.call(name, ...(await begin())));
    try {
      for (;;) {
        const { answer, progress: report } = await step(async () =>
          JSON.parse((await this.#reported(steps.next())).value),
        );
        if (answer) return answer;
        progress(report);
        await letMessagesIn();
      }
    } finally {
      await this.#turns.add(() => steps.return());
      steps.destroy();
    }
  }

  /**
   * Call a coroutine function; if it needs NumPy, which Python has not loaded, again with NumPy.
   * @type {App["ask"]}
   */
  askWithNumpy(name, ...args) {
    return this.#withNumpy(() => this.ask(name, ...args));
  }

  /** Run a long action; if it needs NumPy, again with NumPy. @type {App["stream"]} */
  streamWithNumpy(...given) {
    return this.#withNumpy(() => this.stream(...given));
  }

  /**
   * @template T
   * @param {() => Promise<T>} call
   * @returns {Promise<T>}
   */
  async #withNumpy(call) {
    try {
      return await call();
    } catch (error) {
      const python = await this.start();
      const { type } = /** @type {{type?: string}} */ (error);
      if (!WITHOUT_NUMPY.has(type ?? "") || python.hasNumpy) throw error;
      await python.loadNumpy();
      return call();
    }
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
      return read(await this.#reported(coroutine));
    } finally {
      // The garbage collector would free Python's objects too late.
      coroutine.destroy();
    }
  }

  /** Tells the page if another machine is gone. @param {Promise<any>} work  of Python's */
  async #reported(work) {
    try {
      return await work;
    } catch (error) {
      const { type } = /** @type {{type?: string}} */ (error);
      if (this.#elsewhere && type === "DeviceLostError") emit("away", describeError(error));
      throw error;
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
