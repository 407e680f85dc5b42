// @ts-check
/**
 * A line of words beside a widget that failed, with a button to try again where that may help.
 */

import { say } from "../said.js";
import { text } from "../text.js";

export class Message {
  #place;
  #button;
  /** @type {import("../said.js").Words} */
  #words = "";
  /** @type {(() => void) | null} */
  #again = null;

  /** @param {HTMLElement} place  an empty element with role="alert" */
  constructor(place) {
    this.#place = document.createElement("span");
    this.#button = Object.assign(document.createElement("button"), {
      type: "button",
      hidden: true,
    });
    this.#button.addEventListener("click", () => this.#again?.());
    place.append(this.#place, " ", this.#button);
  }

  /**
   * @param {import("../said.js").Words} words
   * @param {() => void} [again]
   */
  show(words, again) {
    this.#words = words;
    this.relabel();
    this.#again = again ?? null;
    this.#button.hidden = !again;
  }

  clear() {
    this.show("");
  }

  /** Say it again, in another language. */
  relabel() {
    this.#place.textContent = say(this.#words);
    this.#button.textContent = text.tryAgain;
  }
}
