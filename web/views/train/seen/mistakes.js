// @ts-check
/** The worst mistakes of the last validation, as pictures. */

import { words, wordsOf } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { make } from "../../../widgets/dom.js";
import { Message } from "../../../widgets/message.js";
import { Samples } from "./samples.js";

export class Mistakes {
  #samples;
  #line;
  #list;
  #message;

  /**
   * @param {HTMLElement} root  an empty element
   * @param {{engine: import("../../../engine/engine.js").Engine}} page
   */
  constructor(root, { engine }) {
    this.#line = make("p", { class: "info" });
    this.#list = make("ol", { class: "samples", "data-testid": "train-mistakes" });
    const alert = make("p", { class: "message", role: "alert" });
    this.#message = new Message(alert);
    this.#samples = new Samples(this.#list, engine);
    root.replaceChildren(show(make("h2"), words("trainMistakes")), this.#line, this.#list, alert);
    show(this.#list, words("trainMistakes"), "aria-label");
  }

  clear() {
    this.#samples.clear();
    this.#message.clear();
    show(this.#line, "");
  }

  /** @param {string} run @param {import("../../../shared/contract.js").Insight} insight */
  async show(run, { mistakes, classes, confusion }) {
    const wrong = confusion.flatMap((row, i) => row.filter((_, j) => i !== j));
    const count = wrong.reduce((sum, each) => sum + each, 0);
    this.#message.clear();
    show(this.#line, count ? words("trainWrong", count) : words("trainNoneWrong"));
    try {
      if (count) await this.#samples.show(run, mistakes, classes);
      else this.#samples.clear();
    } catch (error) {
      this.#message.show(words("trainSamplesFailed", /** @type {any} */ (wordsOf(error))));
    }
  }
}
