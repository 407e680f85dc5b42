// @ts-check
/**
 * The select of Draw and Classify: the site's models for a task, and those that the visitor has
 * trained. (In Write, Find and Listen a model also comes from the hub or from files:
 * model/choice.js.)
 */

import { NotReady } from "../engine/engine.js";
import { wordsOf } from "../i18n/messages.js";
import { modelsFor } from "../site/catalogue.js";

export class ModelSelect {
  #select;
  #task;
  #page;
  #usual;
  /** The models that are offered. */
  #listed = "";
  /** Whether the visitor has trained the model that is chosen. */
  own = false;

  /**
   * @param {HTMLSelectElement} select  empty; its parent is hidden while there is nothing to choose
   * @param {import("../site/catalogue.js").Task} task
   * @param {{readonly model: string | null, chosen(model: string): void}} page
   * @param {string | null} [usual]  the site's model for the task, if its name is known: it need not
   *   wait for the list
   */
  constructor(select, task, page, usual = null) {
    this.#select = select;
    this.#task = task;
    this.#page = page;
    this.#usual = usual;
    select.addEventListener("change", () => page.chosen(select.value));
  }

  /**
   * Offer the models that there are now, and choose the one that the address asks for, or the first.
   * @returns {Promise<string>}  its name
   * @throws {NotReady}  then the status shows why
   */
  async model() {
    const offered = this.#offer();
    if (!this.#usual || this.#page.model) return offered;
    offered.catch(() => {}); // who loads the model finds out, too
    this.own = false;
    return this.#usual;
  }

  async #offer() {
    const models = await modelsFor(this.#task).catch((error) => {
      throw new NotReady(wordsOf(error));
    });
    const entry = models.find(({ name }) => name === this.#page.model) ?? models[0];
    const listed = JSON.stringify(models);
    if (listed !== this.#listed)
      this.#select.replaceChildren(...models.map(({ name, title }) => new Option(title, name)));
    this.#listed = listed;
    this.#select.value = entry.name;
    /** @type {HTMLElement} */ (this.#select.parentElement).hidden = models.length < 2;
    this.own = "run" in entry;
    return entry.name;
  }
}
