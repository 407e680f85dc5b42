// @ts-check
/**
 * How a model of the site comes to this worker: as the plan that an earlier visit has kept or, where
 * there is none, as its file, from which Python makes the plan; that is kept once the worker is idle.
 *
 * A plan that was kept needs no Python to be found, uploaded and made ready on the GPU, nor to answer;
 * Python is told of it later. Whatever is wrong with one, the model's file is as good.
 */

import { fetchCard, findModel } from "../../shared/catalogue.js";
import { Part } from "../../shared/streamed.js";
import { download, downloadPieces } from "../downloads.js";
import { find, forget, keep, keyOf } from "./plans.js";
import { BUILD } from "../runtime.js";
import { emit, describeError } from "../serve.js";
import { stage, tell } from "../stage.js";

/**
 * @typedef {import("../gpu.js").Gpu} Gpu
 * @typedef {import("../../gpu/python.js").PythonProgram} PythonProgram
 * @typedef {import("./plans.js").Kept} Kept
 *
 * @typedef {object} Worker  what main.js lends
 * @property {import("../app.js").App} app
 * @property {() => Promise<unknown>} idle  resolves when nothing has been asked for a while
 *
 * @typedef {{seconds: number, warnings: unknown[], lent?: number, compiling?: number}} Facts  what app.py
 *   says of a model, in part; seconds: from its graph, or its plan, until it could answer
 *
 * @typedef {object} Files  of a model; see py/tallow_build/split_model.py
 * @property {Uint8Array} graph
 * @property {import("../../shared/streamed.js").StreamedFile} weights  the .onnx, which may still be on its way
 *
 * @typedef {object} Brought  a model, on its way to Python
 * @property {Gpu} gpu   the device that it was brought for
 * @property {string} card
 * @property {import("./plans.js").Key | null} key
 * @property {Files | null} files
 * @property {Kept | null} kept
 * @property {PythonProgram | null} program  of what was kept, on a GPU, where it can answer
 * @property {number} seconds  that this has taken
 */

/** Of the weights that Python is given: see py/tallow/compile/plan_serialization.py. */
const ALIGNED = 16;

export class Models {
  #worker;

  /** @param {Worker} worker */
  constructor(worker) {
    this.#worker = worker;
  }

  /**
   * Fetch what Python needs of a model, and have it on the GPU if it was kept.
   * @param {string} name
   * @param {Promise<Gpu>} opening  the device; without an adapter, NumPy
   * @returns {Promise<Brought>}
   */
  async bring(name, opening) {
    const entry = await findModel(name);
    const [card, gpu] = await Promise.all([fetchCard(entry), opening]);
    const { info, tuning, tuningRefused } = gpu;
    if (!info) this.#worker.app.start();
    const brought = {
      gpu,
      card: JSON.stringify(card),
      key: /** @type {import("./plans.js").Key | null} */ (null),
      files: /** @type {Files | null} */ (null),
      kept: /** @type {Kept | null} */ (null),
      program: /** @type {PythonProgram | null} */ (null),
      seconds: 0,
    };
    const began = performance.now();
    // Of a tuning record that is refused, Python must tell.
    if (!tuningRefused) {
      brought.key = await keyOf(BUILD, name, entry.sha256, card, info, tuning);
      if (brought.key) await this.#recall(name, brought);
    }
    if (!brought.program) this.#worker.app.start(); // of what goes wrong there, load() hears
    if (!brought.kept) brought.files = await this.#download(name);
    brought.seconds = (performance.now() - began) / 1000;
    return brought;
  }

  /**
   * What app.py would say of a model that answers without it.
   * @param {string} name
   * @param {Brought} brought
   * @returns {Facts}
   */
  facts(name, { kept, program, seconds }) {
    const told = { name, ...kept?.told.facts, kept: true, ...program?.stats };
    return { ...told, seconds, warnings: [] };
  }

  /**
   * Have Python load it, in its turn.
   * @param {string} name
   * @param {Brought} brought
   * @returns {Promise<Facts>}  what app.py says of it
   */
  async load(name, brought) {
    if (brought.kept) {
      try {
        return await this.#loadKept(name, brought, brought.kept);
      } catch (error) {
        await miss(name, brought, error);
      }
    }
    emit("progress", { stage: "compile", model: name });
    const { files, card } = brought;
    brought.files = null; // what Python does not take of them is let go
    const { app } = this.#worker;
    const facts = await stage("kernels", { model: name }, () =>
      this.withFiles(name, (fetch) => app.ask("load_model", name, fetch, card), files),
    );
    // For whoever traces the page (bench/visits.py): a visit with a kept plan has none of this.
    performance.measure("tallow:compile", {
      end: performance.now(),
      duration: facts.compiling,
    });
    this.keep(name, brought, facts).catch(() => {}); // a Python that failed is replaced
    return facts;
  }

  /** What is of no use any more: Python is asked from now on. @param {Brought} brought */
  drop(brought) {
    brought.program?.close();
    brought.program = null;
    brought.files?.weights.stop();
  }

  /**
   * Ask Python for something for which it may need a model's graph.
   * @template T
   * @param {string} name
   * @param {(fetch: () => Promise<Files>) => Promise<T>} ask
   * @param {Files | null} files  which are here, or on their way; else they are fetched
   * @returns {Promise<T>}
   */
  async withFiles(name, ask, files = null) {
    try {
      return await ask(async () => (files ??= await this.#download(name)));
    } catch (error) {
      throw files?.weights.failure ?? error; // of which Python has told in its own words
    } finally {
      files?.weights.stop();
    }
  }

  /**
   * Resolves when the graph is there; the weights are on their way then.
   * @param {string} name
   * @returns {Promise<Files>}
   */
  async #download(name) {
    const { file, bytes, pieces, graph } = await findModel(name);
    const weights = downloadPieces(`models/${file}`, pieces);
    stage("model", { model: name, bytes }, () => weights.whole).catch(() => {}); // said by `failure`
    try {
      const content = await download(`models/${graph.file}`, graph);
      return { graph: content, weights };
    } catch (error) {
      weights.stop();
      throw error;
    }
  }

  /**
   * Look for a plan that was kept, and have the GPU load it.
   * @param {string} name
   * @param {Brought} brought
   */
  async #recall(name, brought) {
    const { gpu, key } = brought;
    if (!key) return;
    const began = performance.now();
    try {
      const kept = await find(key);
      if (!kept) return;
      brought.kept = kept;
      const facts = { model: name, bytes: kept.bytes };
      tell("plan", facts, "begun", began);
      if (gpu.info) {
        const { plan } = kept.told;
        brought.program = await stage("kernels", { model: name }, () =>
          gpu.loadKept(plan, kept.weights),
        );
      } else {
        await kept.weights.ready(kept.weights.count - 1);
      }
      tell("plan", facts, "done", began);
    } catch (error) {
      await miss(name, brought, error);
    }
  }

  /**
   * @param {string} name
   * @param {Brought} brought
   * @param {Kept} kept
   */
  async #loadKept(name, { card, program, seconds }, { text, weights }) {
    /** @type {(...given: unknown[]) => Promise<Facts>} */
    const load = (...given) => this.#worker.app.ask("load_kept", name, card, text, ...given);
    if (program) return load(program, undefined);
    const facts = await stage("kernels", { model: name }, () => {
      const held = this.#copy(weights);
      const loading = load(undefined, held);
      held.destroy(); // they are Python's alone from now on
      return loading;
    });
    return { ...facts, seconds: facts.seconds + seconds };
  }

  /**
   * @param {import("./plans.js").KeptWeights} weights  which are there
   * @returns {any}  a bytearray of Python's with all of them
   */
  #copy(weights) {
    const room = (/** @type {number} */ size) => Math.ceil(size / ALIGNED) * ALIGNED;
    const held = this.#worker.app.call(
      "reserve",
      weights.sizes.reduce((sum, size) => sum + room(size), 0),
    );
    const view = held.getBuffer("u8");
    let at = 0;
    weights.sizes.forEach((size, place) => {
      weights.lend(place, (bytes) => view.data.set(bytes, at));
      at += room(size);
    });
    view.release();
    return held;
  }

  /**
   * Keep what Python has compiled, when nobody waits for an answer.
   * @param {string} name
   * @param {{key: import("./plans.js").Key | null}} brought
   * @param {{warnings: unknown[], lent?: number}} facts
   */
  async keep(name, { key }, { warnings, lent }) {
    const { app, idle } = this.#worker;
    try {
      // What came with a warning is compiled again next time, so that it comes again.
      if (!key || warnings.length) return;
      await idle();
      const began = performance.now();
      try {
        const text = /** @type {string} */ (app.call("kept_text", lent));
        const sizes = JSON.parse(text).weights.map((/** @type {any[]} */ weight) => weight[3]);
        const kept = await keep(key, text, sizes, (place) => {
          const held = app.call("kept_weight", lent, place);
          return held instanceof Part ? held.bytes() : app.copy(held);
        });
        if (kept) tell("keep", { model: name }, "done", began);
      } catch (error) {
        // Another device or model was chosen meanwhile, and this one is not lent any more.
        if (/** @type {{type?: string}} */ (error).type === "KeyError") return;
        tell("keep", { model: name, why: describeError(error).words }, "failed", began);
      }
    } finally {
      app.call("let_go", lent);
    }
  }
}

/**
 * What was kept is of no use: forget it, and say why. A device that was lost says nothing of it.
 * @param {string} name
 * @param {Brought} brought
 * @param {unknown} error
 */
async function miss(name, brought, error) {
  brought.program?.close();
  brought.program = brought.kept = null; // whoever asks now waits for Python
  if (/** @type {Error} */ (error).name === "DeviceLostError") throw error;
  tell("plan", { model: name, why: describeError(error).words }, "failed", performance.now());
  if (brought.key) await forget(brought.key).catch(() => {}); // storage that refuses has said so
}
