// @ts-check
/**
 * The time that the answer on the page took.
 */

import { time } from "../../shared/format.js";

export class Latency {
  #root;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#root = root;
  }

  /** @param {number | null} ms  null where there is no answer */
  show(ms) {
    if (ms === null) {
      delete this.#root.dataset.ms;
      this.#root.textContent = "–";
    } else {
      this.#root.dataset.ms = ms.toFixed(2);
      this.#root.textContent = time(ms);
    }
  }
}
