// @ts-check
/** Shows the worker's status: loading, ready, or failed with a button to try again. */

import { Message } from "../message.js";

export class Status {
  #root;
  #message;
  #bar;
  #retry;

  /**
   * @param {HTMLElement} root
   * @param {() => void} retry
   */
  constructor(root, retry) {
    this.#root = root;
    this.#retry = retry;
    this.#message = new Message(/** @type {HTMLElement} */ (root.querySelector(".words")));
    this.#bar = /** @type {HTMLProgressElement} */ (root.querySelector("progress"));
  }

  /** @param {import("../../engine/types.js").Status} status */
  show({ state, words, done, total }) {
    this.#root.dataset.state = state;
    this.#message.show(words, state === "error" ? this.#retry : undefined);
    if (total) {
      this.#bar.max = total;
      this.#bar.value = done ?? 0;
    } else {
      this.#bar.removeAttribute("value"); // busy, for an unknown time
    }
  }
}
