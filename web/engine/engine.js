// @ts-check
/**
 * The page's client of its worker. It knows the device, the loaded models and the progress, and
 * starts the worker again after a failure.
 */

import { BEST, DEVICES, FALLBACK, triedFirst } from "../shared/devices.js";
import { WORKER, takeFirstWorker } from "./first_worker.js";
import { Rpc } from "./rpc.js";
import { labelOf } from "../i18n/labels.js";
import { LocalizedError, publicTextOf, words, wordsOf } from "../i18n/messages.js";
import { Failures, FAULTS } from "./failures.js";
import { Models, allOver } from "./models.js";
import { explained, describeProgress } from "./progress.js";

/** @typedef {import("../shared/devices.js").Wanted} Wanted */
/** @typedef {import("../shared/devices.js").Machine} Machine */
/** @typedef {import("./rpc.js").Options} Options */
/** @import {Device, Words, Started, Status, Outside, Model, Listener, Retuned, Tuned} from "./types.js" */

/** Errors after which calls are retried on a replacement worker or device. */
const GONE = new Set(["WorkerClosed", "DeviceLostError"]);

/** How often an action is tried when the device is lost. */
const MAX_TRIES = 3;

/** Seconds of silence after which a busy worker is stuck: longer than any kernel or download takes. */
const PATIENCE = 120;

/** The same until a worker's first message, which waits for its script and the device. */
const BEGINNING = 30;

/** The worker or the model failed. The status shows it already, so views show nothing more. */
export class NotReady extends LocalizedError {}

export class Engine {
  /** @type {Rpc | null} */
  #rpc = null;
  /** @type {Promise<Started> | null} */
  #started = null;
  /** What failed since the last retry(), apart from models. */
  #failed = { start: false, python: false };
  #turn = 0;
  #preparing = false;
  /** Whether Python runs in the worker. */
  #python = false;
  /** The requested device. @type {Wanted} */
  #device;
  /** The one that computes, or is tried first. @type {Device} */
  #actual;
  /** The machine that the visitor gave last. @type {Machine | null} */
  #machine = null;
  /** Why it was left, until the visitor chooses a device. @type {Words | null} */
  #away = null;
  #listener;
  #threads;
  #connect;
  #models;
  #failures;

  /**
   * @param {Wanted} device  the one to try first
   * @param {Listener} listener
   * @param {Partial<Outside>} [outside]
   * @param {number | null} [threads]  of WebAssembly; null for the usual number
   */
  constructor(device, listener, outside = {}, threads = null) {
    this.#threads = threads;
    this.#device = device;
    this.#actual = triedFirst(device);
    this.#listener = listener;
    this.#connect =
      outside.connect ?? (() => new Rpc(WORKER, PATIENCE, takeFirstWorker(), BEGINNING));
    this.#models = new Models(
      (name) => this.#askAnywhere("load", { model: name }, { onProgress: this.#report }),
      (warnings) => listener.warned(warnings),
      outside.describe,
    );
    this.#failures = new Failures(outside.now ?? (() => performance.now()));
  }

  /**
   * Get ready for this model, and report progress as the status. Only the latest call reports.
   * @param {() => Promise<string | null>} findName  null if no model of the site is needed
   * @param {Words} [progress]  the first status
   */
  async prepare(findName, progress = words("preparing")) {
    const turn = ++this.#turn;
    const report = (/** @type {Status} */ status) => {
      if (turn === this.#turn) this.#listener.status(status);
    };
    this.#preparing = true;
    // If everything is ready already, the status must not flicker.
    const patience = setTimeout(() => report({ state: "loading", words: progress }));
    try {
      this.#start();
      const name = await findName();
      await (name === null ? this.running() : this.ready(name));
      const kernels = name && DEVICES[this.#actual].onGpu ? this.#models.kernels(name) : 0;
      const without = this.#failures.lostOften;
      const ready = without ? words("readyWithoutGpu") : words("ready", kernels);
      report({ state: "ready", words: ready });
    } catch (error) {
      report({ state: "error", words: wordsOf(error) });
    } finally {
      clearTimeout(patience);
      if (turn === this.#turn) this.#preparing = false;
    }
  }

  /**
   * @param {string} name
   * @returns {Promise<Model>}  once the worker has started and the model is loaded
   * @throws {NotReady}  on every call after a failure, until retry()
   */
  async ready(name) {
    return this.#whenStarted(() => this.#models.get(name));
  }

  /**
   * Resolves once the worker has started.
   * @throws {NotReady}  on every call after a failure, until retry()
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
        // A newer start has replaced this one: wait for that.
        if (this.#started && started !== this.#started) continue;
        throw new NotReady(wordsOf(error));
      }
    }
  }

  /**
   * Connect with a machine, while the device in use goes on. `switchTo` then computes there.
   * @param {Machine} machine
   * @throws {NotReady | import("./rpc.js").RemoteError}  if it can't be used
   */
  async connect(machine) {
    await this.running();
    await this.#ask("connect", machine);
  }

  /**
   * Switch to another device, with all loaded models.
   * @param {Device} device
   * @param {Machine | null} [machine]  whose device it is, if not this one's
   */
  switchTo(device, machine = null) {
    this.#device = device;
    this.#machine = machine;
    this.#away = null;
    this.#failures.forgetLosses();
    this.retry(); // what failed on one device may work on the other
    if (this.#rpc) this.#begin(this.#rpc, "device");
  }

  /** Forget failures, so that the next prepare() or ready() tries again. */
  retry() {
    this.#failures.forgetCrashes();
    this.#models.forgetFailed();
    if (this.#failed.start || this.#failed.python) this.#drop();
  }

  /**
   * Call an action of a view that answers with one of the site's models, once that is ready. If it
   * fails on the device, the one that takes over answers.
   * @param {string} action  "VIEW.NAME", of web/views/VIEW/worker.js
   * @param {Record<string, unknown>} args
   * @returns {Promise<any>}
   */
  async answer(action, args) {
    const answer = await this.#askAnywhere(action, args);
    // Without Python an answer proves little: starting Python may be what makes workers fail.
    if (this.#python) this.#failures.forgetCrashes();
    return answer;
  }

  /**
   * Call an action of a view, once the worker has started.
   * @param {string} action  "VIEW.NAME", of web/views/VIEW/worker.js
   * @param {Record<string, unknown>} args
   * @param {Options & {proves?: boolean}} [options]  proves: whether an answer shows that the worker
   *   is well, whatever failed before
   * @returns {Promise<any>}
   * @throws {import("./rpc.js").RemoteError}
   */
  async ask(action, args, { proves, ...options } = {}) {
    await this.running();
    const answer = await this.#ask(action, args, options);
    if (proves) this.#failures.forgetCrashes();
    return answer;
  }

  /**
   * Time each kernel of a model on the last pixels that it answered.
   * @param {string} model
   * @returns {Promise<import("../shared/contract.js").Profiled>}
   */
  profile(model) {
    return this.#ask("profile", { model });
  }

  /**
   * Repeat the last answer of a model on WebGPU and on NumPy.
   * @param {string} model
   * @param {number} warm  runs on each device after the first
   * @param {Options} [options]
   * @returns {Promise<import("./types.js").Comparison>}
   */
  compare(model, warm, options) {
    return this.#ask("compare", { model, warm, gpu: !this.#failures.lostOften }, options);
  }

  /**
   * Time the kernels that could serve a model, and load it again with the fastest.
   * @param {string} model
   * @param {AbortSignal} signal  ends it early: what was measured is kept, and the next use of the
   *   model loads it again
   * @param {(soFar: Tuned) => void} measured  called before the first op and after each
   * @returns {Promise<Retuned>}
   */
  async tune(model, signal, measured) {
    let kept = 0;
    const onProgress = (/** @type {any} */ report) => {
      if (report.stage !== "tuning") return; // what it waits for, such as a download
      kept = report.measured;
      measured(report);
    };
    try {
      const tuned = /** @type {Retuned} */ (
        await this.#ask("tune", { model }, { signal, onProgress })
      );
      if (tuned.facts) this.#models.learn(model, tuned.facts);
      return tuned;
    } catch (error) {
      if (kept || !signal.aborted) this.#models.forget(model); // it may no longer work
      throw error;
    }
  }

  /** The device that computes. */
  get device() {
    return this.#actual;
  }

  /**
   * Replace the worker, which is the only way to interrupt it. Open calls are rejected with the
   * reason.
   * @param {Words} reason
   */
  restart(reason) {
    this.#drop();
    this.#listener.again(reason);
  }

  /**
   * Call an action of the worker; if it fails on the device, once more on the one that takes over.
   * @param {string} action
   * @param {Record<string, unknown>} args
   * @param {Options} [options]
   */
  async #askAnywhere(action, args, options) {
    try {
      return await this.#ask(action, args, options);
    } catch (error) {
      const { type, words: why } = /** @type {import("./rpc.js").RemoteError} */ (error);
      const label = labelOf(this.#actual);
      const { instead } = DEVICES[this.#actual];
      if (!FAULTS.has(type) || !instead || !this.#rpc) throw error;
      if (this.#device !== instead) {
        this.#device = instead; // nothing else has failed before
        this.#begin(this.#rpc, "device");
        this.#listener.again(words("goingOnWith", label, why, DEVICES[instead].label));
      }
      return this.#ask(action, args, options);
    }
  }

  /**
   * Call an action of the worker. If the device was lost, call again: another device is being
   * opened.
   * @param {string} action
   * @param {Record<string, unknown>} args
   * @param {Options} [options]
   */
  async #ask(action, args, options = {}) {
    for (let tries = 1; ; tries++) {
      const rpc = this.#rpc;
      if (!rpc) throw new NotReady(words("startingAgain"));
      try {
        return await rpc.call(action, args, options);
      } catch (error) {
        if (options.signal?.aborted) throw error;
        const { type, words } = /** @type {import("./rpc.js").RemoteError} */ (error);
        if (type === "DeviceLostError" && rpc === this.#rpc && tries < MAX_TRIES) continue;
        this.#listener.failed(words);
        throw GONE.has(type) ? new NotReady(words) : error;
      }
    }
  }

  /**
   * Show what is reported by calls that get the worker or a model ready.
   * @param {import("./progress.js").Progress} progress
   */
  #report = (progress) => {
    const { stage, done = 0, total = 0 } = progress;
    if (stage === "kernels") this.#listener.compiled(done, total);
    if (this.#preparing) this.#listener.status({ state: "loading", ...describeProgress(progress) });
  };

  /** @returns {Promise<Started>} */
  #start() {
    if (this.#started) return this.#started;
    const rpc = this.#connect();
    this.#rpc = rpc;
    this.#python = false;
    rpc.on("stage", (stage) => this.#listener.stage(stage));
    rpc.on("python", ({ failed }) => {
      if (rpc !== this.#rpc) return;
      this.#python = !failed;
      this.#failed.python = failed;
    });
    rpc.on("lost", () => {
      const used = this.#device === BEST ? this.#actual : this.#device;
      if (rpc === this.#rpc && DEVICES[used].onGpu) this.#replaceDevice(rpc);
    });
    rpc.on("away", ({ words }) => {
      if (rpc === this.#rpc) this.#leaveMachine(rpc, words);
    });
    rpc.on("fatal", ({ message }) => rpc.close(words("workerFailed", publicTextOf(message))));
    rpc.on("close", ({ reason, spoke = true }) => {
      if (rpc === this.#rpc) this.#replaceWorker(reason, spoke);
    });
    return this.#begin(rpc, "boot");
  }

  /**
   * @param {Rpc} rpc
   * @param {"boot" | "device"} action
   * @returns {Promise<Started>}
   */
  #begin(rpc, action) {
    // A snapshot can fail in any way, so the worker after a failed one starts without it.
    const plain = this.#failures.crashed;
    const wanted = { device: this.#device, machine: this.#machine, threads: this.#threads, plain };
    const started = /** @type {Promise<Started>} */ (
      rpc.call(action, wanted, { onProgress: this.#report }).catch(explained("startFailed"))
    );
    this.#started = started;
    // Only the latest start counts, after quick switches as after a replaced worker.
    started.then(
      (found) => {
        if (started !== this.#started) return;
        this.#actual = found.device;
        for (const [name, facts] of Object.entries(found.models)) this.#models.learn(name, facts);
        const lost = this.#failures.lostOften;
        this.#listener.started({ ...found, lost, away: this.#away });
      },
      (error) => {
        if (started !== this.#started) return;
        this.#failed.start = !this.#leaveMachine(rpc, wordsOf(error));
      },
    );
    return started;
  }

  /**
   * Have the worker open another device, or go on without a GPU after the second loss within a minute. Later
   * calls wait for that.
   * @param {Rpc} rpc
   */
  #replaceDevice(rpc) {
    const another = this.#failures.lose();
    if (!another) this.#device = FALLBACK;
    this.#begin(rpc, "device");
    this.#listener.again(words(another ? "gpuLost" : "goingOnWithoutGpu"));
  }

  /**
   * Another machine can't be reached any more: go on here, until the visitor chooses again.
   * @param {Rpc} rpc
   * @param {Words} why
   * @returns {boolean}  false if no other machine computes
   */
  #leaveMachine(rpc, why) {
    if (this.#device === BEST || !DEVICES[this.#device].elsewhere) return false;
    this.#device = FALLBACK;
    this.#away = words("machineAway", why);
    this.#begin(rpc, "device");
    this.#listener.again(this.#away);
    return true;
  }

  /**
   * Start another worker after a failure. After too many failures report the reason, and wait for
   * retry().
   * @param {Words} reason
   * @param {boolean} spoke  whether it had ever sent a message
   */
  #replaceWorker(reason, spoke) {
    if (this.#failures.crash(spoke)) {
      this.#drop();
      this.#listener.again(words("workerReplaced", reason), true);
      return;
    }
    this.#turn += 1; // prepare() must no longer report
    this.#preparing = false;
    this.#failed.start = true;
    this.#started = Promise.reject(new NotReady(reason));
    this.#started.catch(() => {}); // handled by those who await it
    this.#listener.status({ state: "error", words: reason });
  }

  #drop() {
    const rpc = this.#rpc;
    this.#actual = triedFirst(this.#device);
    this.#rpc = null;
    this.#started = null;
    this.#models.clear();
    this.#failed = { start: false, python: false };
    rpc?.close(words("startingAgain"));
  }
}
