// @ts-check
/**
 * The page's view of its worker: which device it computes on, which models are loaded, what it is
 * doing, and how to start again after a failure.
 */

import { WORKER, takeBegun } from "./begun.js";
import { fetchCard, findModel } from "./catalogue.js";
import { Rpc } from "./rpc.js";
import { Said, words, wordsOf } from "./said.js";
import { text } from "./text.js";

/**
 * @typedef {"webgpu" | "numpy"} Device
 * @typedef {import("./said.js").Words} Words
 * @typedef {import("./widgets/tuning.js").Warning} Warning
 * @typedef {{kernels?: number, warnings?: Warning[]}} Facts  what the compiler says of a model
 * @typedef {object} Started
 * @property {Device} device          the one that was had
 * @property {string} adapter
 * @property {Words | null} reason    why that is not the one asked for
 * @property {Record<string, Facts>} models  those that were loaded again
 *
 * @typedef {Started & {lost: boolean}} Had  and whether WebGPU is done without since it was lost too
 *   often
 *
 * @typedef {{state: "loading" | "ready" | "error", words: Words, done?: number, total?: number}} Status
 *
 * @typedef {object} Model  a loaded model
 * @property {string} name
 * @property {{size: number, crop: number}} preprocess
 *
 * @typedef {object} Listener
 * @property {(status: Status) => void} status
 * @property {(had: Had) => void} started
 * @property {(stage: import("./widgets/bootlog.js").Stage) => void} stage
 * @property {(done: number, total: number) => void} compiled  kernels
 * @property {(words: Words, died?: boolean) => void} again  what failed is being replaced: these
 *   words say so, and what is on the page wants a new answer; died: whether it was the worker
 * @property {(words: Words) => void} failed  an action failed, which whoever asked for it hears too
 * @property {(warnings: Warning[]) => void} warned  what a visitor should know, beside an answer
 *
 * @typedef {object} Tuned  see py/tallow_page/app.py
 * @property {number} ops
 * @property {number} measured
 * @property {{op: string, shape: number[], kernel: string, gain: number}[]} replaced
 * @property {"timestamp" | "clock" | "counted" | null} clock
 * @property {Warning[]} warnings
 * @property {boolean} stopped  whether stopTuning() ended it
 * @property {Facts | null} facts  about the model, which was loaded again
 */

/** Errors after which the page is answered again, by what takes the place of what failed. */
const GONE = new Set(["WorkerClosed", "DeviceLostError"]);

/** A device that is lost twice within so many milliseconds is done without. */
const UNSTEADY = 60_000;

/** How often an action is asked for while devices are lost. */
const TRIES = 3;

/** Workers that fail one after the other without an answer between, and are replaced. */
const REPLACED = 2;

/**
 * Seconds for which a worker may keep silent though it is asked. A file that does not come is given
 * up on earlier (fetch.js), and no kernel, no compiler and no start of Python takes as long.
 */
const PATIENCE = 120;

/** The worker or the model failed, which the status says: there is no answer, nor more to say. */
export class NotReady extends Said {}

export class Engine {
  /** @type {Rpc | null} */
  #rpc = null;
  /** @type {Promise<Started> | null} */
  #started = null;
  /** @type {Map<string, Promise<Model>>} */
  #models = new Map();
  /** Of the models on the device of now. @type {Map<string, Facts>} */
  #facts = new Map();
  /** What failed since the last retry(). */
  #failed = { start: false, python: false, models: /** @type {Set<string>} */ (new Set()) };
  /** @type {(done: number, total: number) => void} */
  #tuning = () => {};
  #turn = 0;
  #preparing = false;
  /** Whether the worker has a Python that runs. */
  #python = false;
  /** Workers that have failed since the last answer. */
  #crashes = 0;
  /** When the device was lost last, and whether it is done without now. */
  #lost = { at: -Infinity, often: false };
  /** The device asked for, and the one that was had. */
  #device;
  #had;
  #listener;

  /**
   * @param {Device} device  the one to try first
   * @param {Listener} listener
   */
  constructor(device, listener) {
    this.#device = device;
    this.#had = device;
    this.#listener = listener;
  }

  /**
   * Get ready for this model, and let the status tell how that goes; the latest call decides it.
   * @param {() => Promise<string | null>} findName  null where no model of the site is needed
   * @param {Words} [begun]  what is being done at first
   */
  async prepare(findName, begun = words("preparing")) {
    const turn = ++this.#turn;
    const tell = (/** @type {Status} */ status) => {
      if (turn === this.#turn) this.#listener.status(status);
    };
    this.#preparing = true;
    // What is ready already takes no time to wait for: don't let the status flicker.
    const patience = setTimeout(() => tell({ state: "loading", words: begun }));
    try {
      this.#start();
      const name = await findName();
      await (name === null ? this.running() : this.ready(name));
      const kernels = name && this.#had === "webgpu" ? this.#facts.get(name)?.kernels : 0;
      const ready = this.#lost.often ? text.readyWithoutGpu : text.ready(kernels ?? 0);
      tell({ state: "ready", words: ready });
    } catch (error) {
      tell({ state: "error", words: wordsOf(error) });
    } finally {
      clearTimeout(patience);
      if (turn === this.#turn) this.#preparing = false;
    }
  }

  /**
   * @param {string} name
   * @returns {Promise<Model>}  once the worker has started and the model is loaded
   * @throws {NotReady}  again and again, until retry() is called
   */
  async ready(name) {
    return this.#whenStarted(() => {
      const model = this.#models.get(name) ?? this.#load(name);
      this.#models.set(name, model);
      return model;
    });
  }

  /**
   * Resolves once the worker has started.
   * @throws {NotReady}  again and again, until retry() is called
   */
  async running() {
    await this.#whenStarted(async () => {});
  }

  /**
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #whenStarted(work) {
    for (;;) {
      const started = this.#start();
      try {
        return (await allOver([work(), started]))[0];
      } catch (error) {
        // A start that has been followed by another is not the one to wait for.
        if (this.#started && started !== this.#started) continue;
        throw new NotReady(wordsOf(error));
      }
    }
  }

  /**
   * Compute on another device from now on, with the models that are loaded.
   * @param {Device} device
   */
  switchTo(device) {
    this.#device = device;
    this.#lost = { at: -Infinity, often: false };
    this.retry(); // what failed on one device may do on the other
    if (this.#rpc) this.#begin(this.#rpc, "device");
  }

  /** Forget what failed, so that the next call of prepare() or ready() tries it again. */
  retry() {
    this.#crashes = 0;
    for (const name of this.#failed.models) this.#models.delete(name);
    this.#failed.models.clear();
    if (this.#failed.start || this.#failed.python) this.#drop();
  }

  /**
   * @param {Float32Array<ArrayBuffer>} pixels  784 of 0..1
   * @returns {Promise<{probabilities: number[], ms: number}>}
   */
  digit(pixels) {
    return this.#answer("digit", { pixels });
  }

  /**
   * @param {string} model
   * @param {Uint8ClampedArray<ArrayBuffer>} pixels  RGBA, size * size * 4
   * @param {object} [options]
   * @param {number} [options.watched]  a class whose probability is told, whether it is among the
   *   best or not
   * @param {boolean} [options.keep]  whether profile() and both() compute with these pixels
   * @returns {Promise<{top: {index: number, probability: number}[], watched: number, ms: number}>}
   */
  classify(model, pixels, { watched = 0, keep = true } = {}) {
    return this.#answer("classify", { model, pixels, watched, keep });
  }

  /**
   * Something about the model that the visitor opened.
   * @param {"openModel" | "surveyModel" | "runModel" | "timeModel" | "compareModel"
   *   | "closeModel"} action  of worker/opened.js
   * @param {Record<string, unknown>} args
   * @returns {Promise<any>}
   * @throws {import("./rpc.js").RemoteError}  of the type NotOpenError by a worker that lacks it
   */
  async opened(action, args) {
    await this.running();
    const answer = await this.#ask(action, args);
    if (action === "runModel") this.#crashes = 0;
    return answer;
  }

  /**
   * How long each kernel of a model takes on the last pixels that it answered.
   * @param {string} model
   * @returns {Promise<import("./widgets/kernels.js").Answer>}
   */
  profile(model) {
    return this.#ask("profile", { model });
  }

  /**
   * The last answer of a model, once more, on WebGPU and on NumPy.
   * @param {string} model
   * @param {number} warm  runs after the first of each
   * @returns {Promise<import("./widgets/both.js").Found>}
   */
  both(model, warm) {
    return this.#ask("both", { model, warm });
  }

  /**
   * Time the kernels that could serve a model, and load it again with those that won.
   * @param {string} model
   * @param {(done: number, total: number) => void} progress
   * @returns {Promise<Tuned>}
   */
  async tune(model, progress) {
    this.#tuning = progress;
    const tuned = /** @type {Tuned} */ (
      await this.#ask("tune", { model }).catch((error) => {
        this.#models.delete(model); // it may answer no more: it is loaded again when it is needed
        throw error;
      })
    );
    if (tuned.facts) this.#learn(model, tuned.facts);
    return tuned;
  }

  /** Have tune() end early, with what was measured so far. */
  async stopTuning() {
    await this.#ask("stopTuning", {});
  }

  /** The device that computes. */
  get device() {
    return this.#had;
  }

  /**
   * @param {string} model
   * @param {Facts} facts
   */
  #learn(model, facts) {
    this.#facts.set(model, facts);
    if (facts.warnings?.length) this.#listener.warned(facts.warnings);
  }

  /**
   * End what the worker is doing, which nothing interrupts: another takes its place, and whoever
   * waits for an answer of this one hears the reason.
   * @param {Words} reason
   */
  restart(reason) {
    this.#drop();
    this.#listener.again(reason);
  }

  /**
   * @param {"digit" | "classify"} action
   * @param {Record<string, unknown>} args
   */
  async #answer(action, args) {
    const answer = await this.#ask(action, args);
    // Python may be what fails a worker that answers without it.
    if (this.#python) this.#crashes = 0;
    return answer;
  }

  /**
   * Call an action of the worker, again if the device was lost: another is being opened by then.
   * @param {string} action
   * @param {Record<string, unknown>} args
   */
  async #ask(action, args) {
    for (let tries = 1; ; tries++) {
      const rpc = this.#rpc;
      if (!rpc) throw new NotReady(words("startingAgain"));
      try {
        return await rpc.call(action, args);
      } catch (error) {
        const { type, words } = /** @type {import("./rpc.js").RemoteError} */ (error);
        if (type === "DeviceLostError" && rpc === this.#rpc && tries < TRIES) continue;
        this.#listener.failed(words);
        throw GONE.has(type) ? new NotReady(words) : error;
      }
    }
  }

  /** @returns {Promise<Started>} */
  #start() {
    if (this.#started) return this.#started;
    const rpc = new Rpc(WORKER, PATIENCE, takeBegun());
    this.#rpc = rpc;
    this.#python = false;
    rpc.on("stage", (stage) => this.#listener.stage(stage));
    rpc.on("progress", (progress) => {
      if (progress.stage === "kernels") this.#listener.compiled(progress.done, progress.total);
      if (this.#preparing && rpc === this.#rpc) {
        this.#listener.status({ state: "loading", ...inWords(progress) });
      }
    });
    rpc.on("python", ({ failed }) => {
      if (rpc !== this.#rpc) return;
      this.#python = !failed;
      this.#failed.python = failed;
    });
    rpc.on("tuning", ({ done, total }) => this.#tuning(done, total));
    rpc.on("lost", () => {
      if (rpc === this.#rpc && this.#device === "webgpu") this.#replaceDevice(rpc);
    });
    rpc.on("fatal", ({ message }) => rpc.close(words("workerFailed", message)));
    rpc.on("close", ({ reason }) => {
      if (rpc === this.#rpc) this.#replaceWorker(reason);
    });
    return this.#begin(rpc, "boot");
  }

  /**
   * @param {Rpc} rpc
   * @param {"boot" | "device"} action
   * @returns {Promise<Started>}
   */
  #begin(rpc, action) {
    // What a snapshot restores may fail in any way: the worker after one that failed does without.
    const wanted = { device: this.#device, plain: this.#crashes > 0 };
    const started = /** @type {Promise<Started>} */ (
      rpc.call(action, wanted).catch(inOurWords("startFailed"))
    );
    this.#started = started;
    // Of two quick switches only the last one counts, of two workers only the new one.
    started.then(
      (found) => {
        if (started !== this.#started) return;
        this.#had = found.device;
        for (const [name, facts] of Object.entries(found.models)) this.#learn(name, facts);
        this.#listener.started({ ...found, lost: this.#lost.often });
      },
      () => {
        if (started === this.#started) this.#failed.start = true;
      },
    );
    return started;
  }

  /**
   * The device is gone: have the worker open another, or after the second loss within a minute do
   * without. Calls that come from now on wait for that.
   * @param {Rpc} rpc
   */
  #replaceDevice(rpc) {
    const now = performance.now();
    const often = now - this.#lost.at < UNSTEADY;
    this.#lost = { at: now, often };
    if (often) this.#device = "numpy";
    this.#begin(rpc, "device");
    this.#listener.again(words(often ? "goingOnWithNumpy" : "gpuLost"));
  }

  /**
   * The worker is of no more use: start another, or say why not, and leave that to retry().
   * @param {Words} reason
   */
  #replaceWorker(reason) {
    this.#crashes += 1;
    if (this.#crashes <= REPLACED) {
      this.#drop();
      this.#listener.again(words("workerReplaced", reason), true);
      return;
    }
    this.#turn += 1; // whoever is preparing has no more to tell
    this.#preparing = false;
    this.#failed.start = true;
    this.#started = Promise.reject(new NotReady(reason));
    this.#started.catch(() => {}); // whoever waits for it hears of it
    this.#listener.status({ state: "error", words: reason });
  }

  #drop() {
    const rpc = this.#rpc;
    this.#rpc = null;
    this.#started = null;
    this.#models.clear();
    this.#failed = { start: false, python: false, models: new Set() };
    rpc?.close(words("startingAgain"));
  }

  /**
   * @param {string} name
   * @returns {Promise<Model>}
   */
  #load(name) {
    const loading = this.#ask("load", { model: name }).catch(inOurWords("modelFailed", name));
    const model = allOver([loading, describe(name)]).then(([facts, description]) => {
      this.#learn(name, facts);
      return { name, ...description };
    });
    model.catch(() => {
      if (this.#models.get(name) === model) this.#failed.models.add(name);
    });
    return model;
  }
}

/**
 * Promise.all, but of a failure it tells when all are over: else who tries again at once would wait for
 * what still fails.
 * @template T, U
 * @param {[Promise<T>, Promise<U>]} promises
 * @returns {Promise<[T, U]>}
 */
async function allOver(promises) {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/**
 * For catch(): what Python or the browser says of a failure, in a sentence of the page.
 * @param {"startFailed" | "modelFailed"} entry
 * @param {...string} about
 * @returns {(error: unknown) => never}
 */
function inOurWords(entry, ...about) {
  return (error) => {
    const why = wordsOf(error);
    if (typeof why !== "string") throw error;
    throw new Said({ entry, about: [...about, why] });
  };
}

/**
 * The worker's progress.
 * @param {{stage: string, done?: number, total?: number}} progress
 * @returns {{words: string, done?: number, total?: number}}
 */
function inWords({ stage, done = 0, total = 0 }) {
  switch (stage) {
    case "download":
      return { words: text.loading(done, total), done, total };
    case "python":
      return { words: text.startingPython };
    case "kernels":
      return { words: text.compiling(done, total), done, total };
    default:
      return { words: text.preparing };
  }
}

/**
 * @param {string} name
 */
async function describe(name) {
  const { preprocess } = await fetchCard(await findModel(name));
  return { preprocess };
}
