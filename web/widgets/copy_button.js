// @ts-check
/**
 * A button that copies text, and says for a while that it has.
 */

import { words } from "../i18n/messages.js";
import { show } from "../i18n/show.js";
import { text } from "../i18n/text.js";

/** How long it says so, in milliseconds. */
const SAID = 2000;

export class CopyButton {
  #does;
  #content;
  #tried;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {HTMLButtonElement} button
   * @param {"copy" | "copyJson" | "copyCsv"} does  what it says it does: an entry of the text table
   * @param {() => string} content  what it copies
   * @param {(content: string, copied: boolean) => void} tried  shows and marks what could not be
   *   copied, so that the keyboard can do it
   */
  constructor(button, does, content, tried) {
    this.button = button;
    this.#does = does;
    this.#content = content;
    this.#tried = tried;
    button.addEventListener("click", () => void this.#copy());
    this.#offer();
  }

  #offer() {
    show(this.button, () => text[this.#does]);
  }

  async #copy() {
    const content = this.#content();
    let copied = true;
    try {
      await navigator.clipboard.writeText(content);
    } catch {
      copied = false; // not allowed here
    }
    this.#tried(content, copied);
    show(this.button, words(copied ? "copied" : "copyByKeys"));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#offer(), SAID);
  }
}
