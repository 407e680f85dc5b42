// @ts-check
/** The models that answer on the current device, with or without Python. */

import { Model } from "./model.js";

/**
 * @typedef {import("./models.js").FetchedModel} FetchedModel
 * @typedef {import("./models.js").Facts} Facts
 * @typedef {import("../devices.js").Opened} Opened
 *
 * @typedef {object} Worker  provided by main.js
 * @property {import("../app.js").App} app
 * @property {import("./models.js").Models} models
 * @property {() => Promise<Opened>} device  the current one
 * @property {() => Promise<unknown>} idle  resolves when nothing has been asked for a while
 */

export class Answering {
  #worker;
  /** @type {Map<string, Model>} */
  #models = new Map();
  /** Names of the models to load again after a change of the device. @type {Set<string>} */
  #loaded = new Set();

  /** @param {Worker} worker */
  constructor(worker) {
    this.#worker = worker;
  }

  /** @param {string} name  @returns {boolean}  whether it was ever loaded */
  has(name) {
    return this.#loaded.has(name);
  }

  /** Drop all models, because the device changes. */
  leave() {
    for (const { fetched } of this.#models.values()) this.#worker.models.drop(fetched);
    this.#models.clear();
  }

  /** Load all earlier models on the current device. @returns {Promise<Record<string, Facts>>} */
  async reload() {
    /** @type {Record<string, Facts>} */
    const facts = {};
    for (const name of this.#loaded) facts[name] = await this.load(name);
    return facts;
  }

  /**
   * Load a model on the current device. Call it in turn with other changes.
   * @param {string} name
   * @param {FetchedModel} [fetched]  if it was already fetched
   * @returns {Promise<Facts>}
   */
  async load(name, fetched) {
    const { app, models, device } = this.#worker;
    if (fetched && fetched.opened !== (await device())) {
      models.drop(fetched); // it was for the previous device
      fetched = undefined;
    }
    const current = fetched ?? (await models.fetchModel(name, device()));
    const before = this.#models.get(name);
    if (before) models.drop(before.fetched);
    const facts = current.program
      ? models.facts(name, current)
      : await app
          .inTurn(() => models.load(name, current))
          .catch((error) => {
            this.#models.delete(name); // the previous one is closed
            throw error;
          });
    this.#models.set(name, new Model(app, name, current, facts.seconds));
    this.#loaded.add(name);
    if (current.program) void this.complete();
    return facts;
  }

  /** @param {string} name */
  get(name) {
    const model = this.#models.get(name);
    if (!model) throw new Error(`The model ${name} is not loaded.`);
    return model;
  }

  /**
   * Get a model after loading it in Python too. Call it within a job of Python.
   * @param {string} name
   */
  async inPython(name) {
    const { app, models } = this.#worker;
    const model = this.get(name);
    const { fetched } = model;
    if (!fetched.program || !fetched.saved) return model;
    const facts = await models.load(name, fetched);
    fetched.saved = null;
    if (fetched.program) return model;
    // Python refused the saved plan and loaded the model's file.
    const other = new Model(app, name, fetched, facts.seconds);
    if (this.#models.get(name) === model) this.#models.set(name, other);
    return other;
  }

  /** Load all models in Python too, once the worker is idle. */
  async complete() {
    await this.#worker.idle();
    for (const name of this.#models.keys()) {
      // A failed start of Python was reported, and is retried when Python is needed.
      await this.#worker.app.inTurn(() => this.inPython(name)).catch(() => {});
    }
  }
}
