// @ts-check
/** The trained network in another view, under the name of its run: by one press. */

import { words, wordsOf } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { SIDE } from "../../../prepare/digit.js";
import { make } from "../../../widgets/dom.js";
import { Message } from "../../../widgets/message.js";

/** @typedef {{task: "digit" | "image", view: string, entry: "trainUseDraw" | "trainUseClassify"}} Place */

/** @type {Place} */
const DRAW = { task: "digit", view: "draw", entry: "trainUseDraw" };

/** @type {Place} */
const CLASSIFY = { task: "image", view: "classify", entry: "trainUseClassify" };

export class Elsewhere {
  #root;
  #page;
  #button;
  #message;
  #run = "";
  /** @type {Place | null} */
  #place = null;

  /**
   * @param {HTMLElement} root  an empty element
   * @param {import("../../view.js").Page} page
   */
  constructor(root, page) {
    this.#root = root;
    this.#page = page;
    this.#button = make("button", { type: "button", "data-testid": "train-use-elsewhere" });
    this.#button.addEventListener("click", () => void this.#use());
    const alert = make("p", { class: "message", role: "alert" });
    this.#message = new Message(alert);
    root.replaceChildren(make("div", { class: "acts" }, this.#button), alert);
    this.close();
  }

  /** No network is there to be used. */
  close() {
    this.#root.hidden = true;
    this.#message.clear();
  }

  /**
   * A run's network is there.
   * @param {string} run
   * @param {string} kind  of its data
   * @param {readonly number[]} shape  of an input
   */
  open(run, kind, shape) {
    const drawn = kind === "pictures" && shape.join() === `1,${SIDE},${SIDE}`;
    this.#place = kind === "features" ? CLASSIFY : drawn ? DRAW : null;
    this.#run = run;
    this.#root.hidden = !this.#place;
    if (this.#place) show(this.#button, words(this.#place.entry));
  }

  async #use() {
    const [run, place] = [this.#run, this.#place];
    if (!place) return;
    this.#message.clear();
    this.#button.disabled = true;
    try {
      const name = await this.#page.engine.ask("train.place", { run, task: place.task });
      if (name) this.#page.chosen(name, place.view);
      else this.#message.show(words("trainNoRoom"));
    } catch (error) {
      this.#message.show(words("trainUseNotPlaced", /** @type {any} */ (wordsOf(error))));
    } finally {
      this.#button.disabled = false;
    }
  }
}
