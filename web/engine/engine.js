// @ts-check
/**
 * The page's view of its worker: which device it computes on, which models are loaded, what it is
 * doing, and how to start again after a failure.
 */

import { WORKER, takeBegun } from "../boot/begun.js";
import { fetchCard, findModel } from "../shared/catalogue.js";
import { Rpc } from "./rpc.js";
import { LocalizedError, shownOfText, words, wordsOf } from "../i18n/messages.js";
import { Failures } from "./failures.js";
import { inOurWords, inWords } from "./progress.js";

/**
 * @typedef {import("./types.js").Device} Device
 * @typedef {import("./types.js").Words} Words
 * @typedef {import("./types.js").Facts} Facts
 * @typedef {import("./types.js").Started} Started
 * @typedef {import("./types.js").Actual} Actual
 * @typedef {import("./types.js").Status} Status
 * @typedef {import("./types.js").Outside} Outside
 * @typedef {import("./types.js").Model} Model
 * @typedef {import("./types.js").Listener} Listener
 * @typedef {import("./types.js").Tuned} Tuned
 */

/** Errors after which the page is answered again, by what takes the place of what failed. */
const GONE = new Set(["WorkerClosed", "DeviceLostError"]);

/** How often an action is asked for while devices are lost. */
const TRIES = 3;

/**
 * Seconds for which a worker may keep silent though it is asked. A file that does not come is given
 * up on earlier (fetch.js), and no kernel, no compiler and no start of Python takes as long.
 */
const PATIENCE = 120;

/** The worker or the model failed, which the status says: there is no answer, nor more to say. */
export class NotReady extends LocalizedError {}

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
  /** The device asked for, and the one that computes. */
  #device;
  #actual;
  #listener;
  #connect;
  #describe;
  #failures;

  /**
   * @param {Device} device  the one to try first
   * @param {Listener} listener
   * @param {Partial<Outside>} [outside]
   */
  constructor(device, listener, outside = {}) {
    this.#device = device;
    this.#actual = device;
    this.#listener = listener;
    this.#connect = outside.connect ?? (() => new Rpc(WORKER, PATIENCE, takeBegun()));
    this.#describe = outside.describe ?? describe;
    this.#failures = new Failures(outside.now ?? (() => performance.now()));
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
      const kernels = name && this.#actual === "webgpu" ? this.#facts.get(name)?.kernels : 0;
      const without = this.#failures.lostOften;
      const ready = without ? words("readyWithoutGpu") : words("ready", kernels ?? 0);
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
    this.#failures.forgetLosses();
    this.retry(); // what failed on one device may do on the other
    if (this.#rpc) this.#begin(this.#rpc, "device");
  }

  /** Forget what failed, so that the next call of prepare() or ready() tries it again. */
  retry() {
    this.#failures.forgetCrashes();
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
    if (action === "runModel") this.#failures.forgetCrashes();
    return answer;
  }

  /**
   * How long each kernel of a model takes on the last pixels that it answered.
   * @param {string} model
   * @returns {Promise<import("../widgets/kernels/kernels.js").Answer>}
   */
  profile(model) {
    return this.#ask("profile", { model });
  }

  /**
   * The last answer of a model, once more, on WebGPU and on NumPy.
   * @param {string} model
   * @param {number} warm  runs after the first of each
   * @returns {Promise<import("../widgets/both.js").Found>}
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
    return this.#actual;
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
    if (this.#python) this.#failures.forgetCrashes();
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
    const rpc = this.#connect();
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
    rpc.on("fatal", ({ message }) => rpc.close(words("workerFailed", shownOfText(message))));
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
    const wanted = { device: this.#device, plain: this.#failures.crashed };
    const started = /** @type {Promise<Started>} */ (
      rpc.call(action, wanted).catch(inOurWords("startFailed"))
    );
    this.#started = started;
    // Of two quick switches only the last one counts, of two workers only the new one.
    started.then(
      (found) => {
        if (started !== this.#started) return;
        this.#actual = found.device;
        for (const [name, facts] of Object.entries(found.models)) this.#learn(name, facts);
        this.#listener.started({ ...found, lost: this.#failures.lostOften });
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
    const another = this.#failures.lose();
    if (!another) this.#device = "numpy";
    this.#begin(rpc, "device");
    this.#listener.again(words(another ? "gpuLost" : "goingOnWithNumpy"));
  }

  /**
   * The worker is of no more use: start another, or say why not, and leave that to retry().
   * @param {Words} reason
   */
  #replaceWorker(reason) {
    if (this.#failures.crash()) {
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
    const model = allOver([loading, this.#describe(name)]).then(([facts, description]) => {
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
 * @param {string} name
 */
async function describe(name) {
  const { preprocess } = await fetchCard(await findModel(name));
  return { preprocess };
}
