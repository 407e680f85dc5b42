// @ts-check
/** The models that answer on the device of now, whether Python knows of them or not. */

import { Model } from "./model.js";

/**
 * @typedef {import("./models.js").Brought} Brought
 * @typedef {import("./models.js").Facts} Facts
 * @typedef {import("../gpu.js").Gpu} Gpu
 *
 * @typedef {object} Worker  what main.js lends
 * @property {import("../app.js").App} app
 * @property {import("./models.js").Models} models
 * @property {() => Promise<Gpu>} gpu  the device of now
 * @property {() => Promise<unknown>} idle  resolves when nothing has been asked for a while
 */

export class Answering {
  #worker;
  /** @type {Map<string, Model>} */
  #models = new Map();
  /** Those that are loaded again on another device. @type {Set<string>} */
  #loaded = new Set();

  /** @param {Worker} worker */
  constructor(worker) {
    this.#worker = worker;
  }

  /** @param {string} name  @returns {boolean}  whether it was ever loaded */
  has(name) {
    return this.#loaded.has(name);
  }

  /** The device changes: none answers until it is loaded on the next one. */
  leave() {
    for (const { brought } of this.#models.values()) this.#worker.models.drop(brought);
    this.#models.clear();
  }

  /** Load all that there were, on the device of now. @returns {Promise<Record<string, Facts>>} */
  async again() {
    /** @type {Record<string, Facts>} */
    const facts = {};
    for (const name of this.#loaded) facts[name] = await this.load(name);
    return facts;
  }

  /**
   * Have a model answer on the device of now; a change.
   * @param {string} name
   * @param {Brought} [brought]  what was brought before it was this one's turn
   * @returns {Promise<Facts>}
   */
  async load(name, brought) {
    const { app, models, gpu } = this.#worker;
    if (brought && brought.gpu !== (await gpu())) {
      models.drop(brought); // it was for the device before
      brought = undefined;
    }
    const mine = brought ?? (await models.bring(name, gpu()));
    const before = this.#models.get(name);
    if (before) models.drop(before.brought);
    const facts = mine.program
      ? models.facts(name, mine)
      : await app
          .inTurn(() => models.load(name, mine))
          .catch((error) => {
            this.#models.delete(name); // what was there before is closed
            throw error;
          });
    this.#models.set(name, new Model(app, name, mine, facts.seconds));
    this.#loaded.add(name);
    if (mine.program) void this.complete();
    return facts;
  }

  /** @param {string} name */
  get(name) {
    const model = this.#models.get(name);
    if (!model) throw new Error(`The model ${name} is not loaded.`);
    return model;
  }

  /**
   * A model that Python knows of, too; in its turn.
   * @param {string} name
   */
  async known(name) {
    const { app, models } = this.#worker;
    const model = this.get(name);
    const { brought } = model;
    if (!brought.program || !brought.kept) return model;
    const facts = await models.load(name, brought);
    brought.kept = null;
    if (brought.program) return model;
    // Python has refused it, and has loaded its file.
    const other = new Model(app, name, brought, facts.seconds);
    if (this.#models.get(name) === model) this.#models.set(name, other);
    return other;
  }

  /** When there is time for it, have Python know of all models. */
  async complete() {
    await this.#worker.idle();
    for (const name of this.#models.keys()) {
      // A Python that does not start has said so, and is tried again when it is needed.
      await this.#worker.app.inTurn(() => this.known(name)).catch(() => {});
    }
  }
}
