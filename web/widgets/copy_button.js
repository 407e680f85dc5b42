// @ts-check
/** A button that copies text, and shows for a while that it did. */

import { words } from "../i18n/messages.js";
import { show } from "../i18n/show.js";
import { text } from "../i18n/text.js";

/** How long it shows the result. */
const RESULT_MS = 2000;

export class CopyButton {
  #entry;
  #content;
  #tried;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {HTMLButtonElement} button
   * @param {"copy" | "copyJson" | "copyCsv"} entry  its label in the text table
   * @param {() => string} content  what it copies
   * @param {(content: string, copied: boolean) => void} tried  called after a try; if it failed,
   *   selects the text, so that the keyboard can copy it
   */
  constructor(button, entry, content, tried) {
    this.button = button;
    this.#entry = entry;
    this.#content = content;
    this.#tried = tried;
    button.addEventListener("click", () => void this.#copy());
    this.#offer();
  }

  #offer() {
    show(this.button, () => text[this.#entry]);
  }

  async #copy() {
    const content = this.#content();
    let copied = true;
    try {
      await navigator.clipboard.writeText(content);
    } catch {
      copied = false; // not allowed
    }
    this.#tried(content, copied);
    show(this.button, words(copied ? "copied" : "copyByKeys"));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#offer(), RESULT_MS);
  }
}
