// @ts-check
/**
 * Loads the site's models: as a plan saved on an earlier visit or, without one, as the model's
 * file, which Python compiles. The new plan is saved once the worker is idle.
 *
 * A saved plan needs no Python, except on NumPy: it is found, uploaded, prepared and answers without
 * it. Python takes it over later. If anything is wrong with a saved plan, the model's file is used instead.
 */

import { fetchCard, findModel } from "../../site/catalogue.js";
import { Part } from "../../site/streamed.js";
import { download, downloadPieces } from "../downloads.js";
import { find, forget, keyOf, mayBePlansFault, save } from "./plans.js";
import { BUILD } from "../runtime.js";
import { announce, describeError } from "../serve.js";
import { reportStage, stage } from "../stage.js";

/**
 * @typedef {import("../devices.js").Opened} Opened
 * @typedef {import("../devices.js").Replayed} Replayed
 * @typedef {import("./plans.js").SavedPlan} SavedPlan
 *
 * @typedef {object} Worker  provided by main.js
 * @property {import("../app.js").App} app
 * @property {() => Promise<unknown>} idle  resolves when nothing has been asked for a while
 *
 * @typedef {Pick<import("../../shared/contract.js").LoadedModel, "seconds" | "warnings" | "planId"
 *   | "compiling">} Facts  about a model, in part
 *
 * @typedef {object} Files  of a model; see py/tallow_build/content/split_model.py
 * @property {Uint8Array} graph
 * @property {import("../../site/streamed.js").StreamedFile} weights  the .onnx, which may still
 *   be downloading
 *
 * @typedef {object} FetchedModel  a model that was fetched, before Python loads it
 * @property {Opened} opened  the device that it was fetched for
 * @property {string} card
 * @property {import("./plans.js").Key | null} key
 * @property {Files | null} files
 * @property {SavedPlan | null} saved
 * @property {Replayed | null} program  of the saved plan, loaded on the device
 * @property {number} seconds  that fetching took
 */

/** Bytes to which weights are aligned: see py/tallow/compile/plan_serialization.py. */
const ALIGNMENT = 16;

export class Models {
  #worker;

  /** @param {Worker} worker */
  constructor(worker) {
    this.#worker = worker;
  }

  /**
   * Fetch a model's files, or load its saved plan on the device.
   * @param {string} name
   * @param {Promise<Opened>} opening
   * @returns {Promise<FetchedModel>}
   */
  async fetchModel(name, opening) {
    const entry = await findModel(name);
    const [card, opened] = await Promise.all([fetchCard(entry), opening]);
    const { device, runner } = opened;
    if (!runner) this.#worker.app.start();
    const fetched = {
      opened,
      card: JSON.stringify(card),
      key: /** @type {import("./plans.js").Key | null} */ (null),
      files: /** @type {Files | null} */ (null),
      saved: /** @type {SavedPlan | null} */ (null),
      program: /** @type {Replayed | null} */ (null),
      seconds: 0,
    };
    const began = performance.now();
    // If the tuning record can't be read, Python must compile the model, to report that. What a
    // plan for another machine depends on, only Python knows.
    if (!runner?.tuningRefused && !opened.machine) {
      const about = [name, entry.sha256, card, device, runner?.info, runner?.tuning];
      fetched.key = await keyOf(BUILD, ...about);
      if (fetched.key) await this.#recall(name, fetched);
    }
    if (!fetched.program) this.#worker.app.start(); // load() reports a failure
    if (!fetched.saved) fetched.files = await this.#download(name);
    fetched.seconds = (performance.now() - began) / 1000;
    return fetched;
  }

  /**
   * The facts that app.py would report about a model that answers without it.
   * @param {string} name
   * @param {FetchedModel} fetched
   * @returns {Facts}
   */
  facts(name, { saved, program, seconds }) {
    const facts = { name, ...saved?.record.facts, kept: true, ...program?.stats };
    return { ...facts, seconds, warnings: [] };
  }

  /**
   * Load a model in Python. Call it within a job of Python.
   * @param {string} name
   * @param {FetchedModel} fetched
   * @returns {Promise<Facts>}
   */
  async load(name, fetched) {
    if (fetched.saved) {
      try {
        return await this.#loadSaved(name, fetched, fetched.saved);
      } catch (error) {
        await discardPlan(name, fetched, error);
      }
    }
    announce({ stage: "compile" });
    const { files, card } = fetched;
    fetched.files = null; // what Python does not take must not stay in memory
    const { app } = this.#worker;
    const facts = await stage("kernels", { model: name }, () =>
      this.withFiles(name, (fetch) => app.askWithNumpy("load_model", name, fetch, card), files),
    );
    // For traces of the page (bench/visits.py). Visits with a saved plan don't have this measure.
    performance.measure("tallow:compile", {
      end: performance.now(),
      duration: facts.compiling ?? 0,
    });
    this.savePlan(name, fetched, facts).catch(() => {}); // fails if Python itself failed
    return facts;
  }

  /**
   * Free what the worker holds of a model; Python answers from now on.
   * @param {FetchedModel} fetched
   */
  drop(fetched) {
    fetched.program?.close();
    fetched.program = null;
    fetched.files?.weights.stop();
  }

  /**
   * Call Python with access to a model's files, which it may need.
   * @template T
   * @param {string} name
   * @param {(fetch: () => Promise<Files>) => Promise<T>} ask
   * @param {Files | null} files  if null, they are fetched when Python needs them
   * @returns {Promise<T>}
   */
  async withFiles(name, ask, files = null) {
    try {
      return await ask(async () => (files ??= await this.#download(name)));
    } catch (error) {
      throw files?.weights.failure ?? error; // Python's error wraps the failure of a download
    } finally {
      files?.weights.stop();
    }
  }

  /**
   * Resolves when the graph has arrived; the weights are still downloading then.
   * @param {string} name
   * @returns {Promise<Files>}
   */
  async #download(name) {
    const { file, bytes, pieces, graph } = await findModel(name);
    const weights = downloadPieces(`models/${file}`, pieces);
    stage("model", { model: name, bytes }, () => weights.whole).catch(() => {}); // see `failure`
    try {
      const content = await download(`models/${graph.file}`, graph);
      return { graph: content, weights };
    } catch (error) {
      weights.stop();
      throw error;
    }
  }

  /**
   * Look for a saved plan, and load it on the device.
   * @param {string} name
   * @param {FetchedModel} fetched
   */
  async #recall(name, fetched) {
    const { key } = fetched;
    const { runner } = fetched.opened;
    if (!key) return;
    const began = performance.now();
    try {
      const saved = await find(key);
      if (!saved) return;
      fetched.saved = saved;
      const facts = { model: name, bytes: saved.bytes };
      reportStage("plan", facts, "begun", began);
      const { plan } = saved.record;
      if (runner?.replays(plan)) {
        fetched.program = await stage("kernels", { model: name }, () =>
          runner.loadKept(plan, saved.weights),
        );
      } else {
        await saved.weights.ready(saved.weights.count - 1);
      }
      reportStage("plan", facts, "done", began);
    } catch (error) {
      await discardPlan(name, fetched, error);
    }
  }

  /**
   * @param {string} name
   * @param {FetchedModel} fetched
   * @param {SavedPlan} saved
   */
  async #loadSaved(name, { card, program, seconds }, { text, weights }) {
    /** @type {(...given: unknown[]) => Promise<Facts>} */
    const load = (...given) => this.#worker.app.ask("load_kept", name, card, text, ...given);
    if (program) return load(program, undefined);
    // The plan has steps for NumPy, or it is NumPy's.
    await (await this.#worker.app.start()).loadNumpy();
    const facts = await stage("kernels", { model: name }, () => {
      const held = this.#copy(weights);
      const loading = load(undefined, held);
      held.destroy(); // only Python refers to them from now on
      return loading;
    });
    return { ...facts, seconds: facts.seconds + seconds };
  }

  /**
   * @param {import("./plans.js").SavedWeights} weights  all of which have arrived
   * @returns {any}  a Python bytearray with all of them
   */
  #copy(weights) {
    const padded = (/** @type {number} */ size) => Math.ceil(size / ALIGNMENT) * ALIGNMENT;
    const held = this.#worker.app.call(
      "reserve",
      weights.sizes.reduce((sum, size) => sum + padded(size), 0),
    );
    const view = held.getBuffer("u8");
    let offset = 0;
    weights.sizes.forEach((size, index) => {
      weights.lend(index, (bytes) => view.data.set(bytes, offset));
      offset += padded(size);
    });
    view.release();
    return held;
  }

  /**
   * Save the plan that Python compiled, once the worker is idle.
   * @param {string} name
   * @param {{key: import("./plans.js").Key | null}} fetched
   * @param {Pick<Facts, "warnings" | "planId">} facts
   */
  async savePlan(name, { key }, { warnings, planId }) {
    const { app, idle } = this.#worker;
    try {
      // A model that caused a warning is compiled again next time, so that it warns again.
      if (!key || warnings.length) return;
      await idle();
      const began = performance.now();
      try {
        const text = /** @type {string} */ (app.call("serialized_plan", planId));
        const sizes = JSON.parse(text).weights.map((/** @type {any[]} */ weight) => weight[3]);
        const saved = await save(key, text, sizes, (index) => {
          const held = app.call("plan_weight", planId, index);
          return held instanceof Part ? held.bytes() : app.copy(held);
        });
        if (saved) reportStage("keep", { model: name }, "done", began);
      } catch (error) {
        // Another device or model was chosen meanwhile, and Python has freed this plan.
        if (/** @type {{type?: string}} */ (error).type === "KeyError") return;
        reportStage("keep", { model: name, why: describeError(error).words }, "failed", began);
      }
    } finally {
      app.call("release_plan", planId);
    }
  }
}

/**
 * Forget a saved plan that can't be used, and report why. Throws the error if the plan is not to
 * blame.
 * @param {string} name
 * @param {FetchedModel} fetched
 * @param {unknown} error
 */
async function discardPlan(name, fetched, error) {
  fetched.program?.close();
  fetched.program = fetched.saved = null; // from now on calls wait for Python
  if (!mayBePlansFault(error)) throw error;
  reportStage(
    "plan",
    { model: name, why: describeError(error).words },
    "failed",
    performance.now(),
  );
  if (fetched.key) await forget(fetched.key).catch(() => {}); // storage has failed before
}
