// @ts-check
/** The buttons that copy the results as JSON or as CSV. */

import { toCsv, toJson } from "./results.js";
import { CopyButton } from "../../widgets/copy_button.js";

export class Copies {
  #buttons;
  #results;
  #area;

  /**
   * @param {HTMLElement} root
   * @param {() => import("./results.js").Result[]} results  that are shown
   */
  constructor(root, results) {
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    this.#results = results;
    this.#area = /** @type {HTMLTextAreaElement} */ (find("textarea"));
    const tried = this.#tried.bind(this);
    this.#buttons = [
      new CopyButton(find("[data-testid=copy-json]"), "copyJson", () => toJson(results()), tried),
      new CopyButton(find("[data-testid=copy-csv]"), "copyCsv", () => toCsv(results()), tried),
    ];
    this.update();
  }

  /** The results have changed. */
  update() {
    const none = !this.#results().length;
    for (const { button } of this.#buttons) button.disabled = none;
    this.#area.hidden = true;
  }

  /**
   * @param {string} content
   * @param {boolean} copied
   */
  #tried(content, copied) {
    this.#area.hidden = copied;
    if (copied) return;
    this.#area.value = content;
    this.#area.select();
  }
}
