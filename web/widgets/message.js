// @ts-check
/**
 * A line of words beside a widget that failed, with a button to try again where that may help.
 */

import { text } from "../text.js";

export class Message {
  #words;
  #button;
  /** @type {(() => void) | null} */
  #again = null;

  /** @param {HTMLElement} place  an empty element with role="alert" or "status" */
  constructor(place) {
    this.#words = document.createElement("span");
    this.#button = Object.assign(document.createElement("button"), {
      type: "button",
      hidden: true,
    });
    this.#button.addEventListener("click", () => this.#again?.());
    place.append(this.#words, " ", this.#button);
  }

  /**
   * @param {string} words
   * @param {() => void} [again]
   * @param {string} [label]  of the button that does it
   */
  show(words, again, label = text.tryAgain) {
    this.#words.textContent = words;
    this.#button.textContent = label;
    this.#again = again ?? null;
    this.#button.hidden = !again;
  }

  clear() {
    this.show("");
  }
}
