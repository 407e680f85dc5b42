// @ts-check
/** A message beside a widget that failed, with a button to try again if that may help. */

import { words } from "../i18n/messages.js";
import { show } from "../i18n/show.js";

const TRY_AGAIN = words("tryAgain");

export class Message {
  #text;
  #button;
  /** @type {(() => void) | null} */
  #again = null;

  /** @param {HTMLElement} root  an empty element with role="alert" or "status" */
  constructor(root) {
    this.#text = document.createElement("span");
    this.#button = Object.assign(document.createElement("button"), {
      type: "button",
      hidden: true,
    });
    this.#button.addEventListener("click", () => this.#again?.());
    root.append(this.#text, " ", this.#button);
  }

  /**
   * @param {import("../i18n/messages.js").Words} words
   * @param {() => void} [again]
   * @param {import("../i18n/messages.js").Words} [label]  of the button
   */
  show(words, again, label = TRY_AGAIN) {
    show(this.#text, words);
    show(this.#button, label);
    this.#again = again ?? null;
    this.#button.hidden = !again;
  }

  clear() {
    this.show("");
  }
}
