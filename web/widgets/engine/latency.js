// @ts-check
/** Shows the time of the page's answer. The cell appears with the first answer. */

import { time } from "../../shared/format.js";

export class Latency {
  #root;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#root = root;
  }

  /** @param {number | null} ms  null if there is no answer */
  show(ms) {
    if (ms === null) {
      delete this.#root.dataset.ms;
      this.#root.textContent = "–";
    } else {
      /** @type {HTMLElement} */ (this.#root.parentElement).hidden = false;
      this.#root.dataset.ms = ms.toFixed(2);
      this.#root.textContent = time(ms);
    }
  }
}
