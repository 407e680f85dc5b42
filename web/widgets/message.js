// @ts-check
/**
 * A line of words beside a widget that failed, with a button to try again where that may help.
 */

import { words } from "../i18n/messages.js";
import { show } from "../i18n/show.js";

const TRY_AGAIN = words("tryAgain");

export class Message {
  #place;
  #button;
  /** @type {(() => void) | null} */
  #again = null;

  /** @param {HTMLElement} place  an empty element with role="alert" or "status" */
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
   * @param {import("../i18n/messages.js").Words} words
   * @param {() => void} [again]
   * @param {import("../i18n/messages.js").Words} [label]  of the button that does it
   */
  show(words, again, label = TRY_AGAIN) {
    show(this.#place, words);
    show(this.#button, label);
    this.#again = again ?? null;
    this.#button.hidden = !again;
  }

  clear() {
    this.show("");
  }
}
