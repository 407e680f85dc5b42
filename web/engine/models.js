// @ts-check
/** The site's models in the worker: which are loaded, what is known about them, which failed. */

import { fetchCard, findModel } from "../site/catalogue.js";
import { explained } from "./progress.js";

/**
 * @typedef {import("./types.js").Facts} Facts
 * @typedef {import("./types.js").Model} Model
 */

export class Models {
  /** @type {Map<string, Promise<Model>>} */
  #loading = new Map();
  /** About the models on the current device. @type {Map<string, Facts>} */
  #facts = new Map();
  /** Those that failed since forgetFailed(). @type {Set<string>} */
  #failed = new Set();
  #load;
  #describe;
  #warned;

  /**
   * @param {(name: string) => Promise<Facts>} load  into the worker
   * @param {(warnings: NonNullable<Facts["warnings"]>) => void} warned  called for new facts
   * @param {(name: string) => Promise<Omit<Model, "name">>} [describe]
   */
  constructor(load, warned, describe = describeByCard) {
    this.#load = load;
    this.#warned = warned;
    this.#describe = describe;
  }

  /**
   * @param {string} name
   * @returns {Promise<Model>}  once it is loaded
   */
  get(name) {
    const known = this.#loading.get(name);
    if (known) return known;
    const loading = this.#load(name).catch(explained("modelFailed", name));
    const model = allOver([loading, this.#describe(name)]).then(([facts, description]) => {
      this.learn(name, facts);
      return { name, ...description };
    });
    model.catch(() => {
      if (this.#loading.get(name) === model) this.#failed.add(name);
    });
    this.#loading.set(name, model);
    return model;
  }

  /** @param {string} name @param {Facts} facts */
  learn(name, facts) {
    this.#facts.set(name, facts);
    if (facts.warnings?.length) this.#warned(facts.warnings);
  }

  /** How many kernels a model has on the current device. @param {string} name */
  kernels(name) {
    return this.#facts.get(name)?.kernels ?? 0;
  }

  /** Load a model again when it is used next. @param {string} name */
  forget(name) {
    this.#loading.delete(name);
  }

  forgetFailed() {
    for (const name of this.#failed) this.#loading.delete(name);
    this.#failed.clear();
  }

  /** The worker is another one, which has loaded none. */
  clear() {
    this.#loading.clear();
    this.#failed.clear();
  }
}

/**
 * Promise.all that settles only when every promise has. Otherwise an immediate retry would wait for
 * one that is about to fail.
 * @template T, U
 * @param {[Promise<T>, Promise<U>]} promises
 * @returns {Promise<[T, U]>}
 */
export async function allOver(promises) {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/**
 * @param {string} name
 */
async function describeByCard(name) {
  const { preprocess } = await fetchCard(await findModel(name));
  return { preprocess };
}
