// @ts-check
/** The text that a network learns to write: pasted, or of a file; the browser keeps it. */

import { LocalizedError, words, wordsOf } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { make } from "../../../widgets/dom.js";
import { keepText, keptText } from "../../../site/own_examples.js";
import { chooser } from "./chooser.js";

/** Characters, at least: py/tallow_page/train/texts.py. */
const LEAST = 1290;

/** Bytes of a file, at most. */
const MOST = 20e6;

export class OwnText {
  #root;
  #changed;
  #fail;
  #name = "text";
  #field = make("textarea", { rows: "8", "data-testid": "train-text" });
  #count = make("p", { class: "info", "data-testid": "train-text-count", role: "status" });
  #file = make("input", {
    type: "file",
    accept: ".txt,.md,text/*",
    "data-testid": "train-text-file",
  });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {HTMLElement} root  empty
   * @param {() => void} changed
   * @param {(why: import("../../../i18n/messages.js").Words) => void} fail
   */
  constructor(root, changed, fail) {
    this.#root = root;
    this.#changed = changed;
    this.#fail = fail;
    show(this.#field, words("trainOwnText"), "aria-label");
    const choose = chooser(this.#file, words("trainOwnTextFile"), (files) => void this.take(files));
    root.append(choose, this.#field, this.#count);
    this.#field.addEventListener("input", () => {
      this.#name = "text";
      this.#tell();
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#keep(), 500);
    });
    this.#tell();
  }

  /** @param {boolean} isShown */
  set shown(isShown) {
    this.#root.hidden = !isShown;
  }

  /** How many different characters it has. */
  get characters() {
    return new Set(this.#field.value).size;
  }

  /** Show the text of an earlier visit. */
  async restore() {
    const kept = await keptText();
    if (!kept || this.#field.value) return;
    this.#name = kept.name;
    this.#field.value = kept.text;
    this.#tell();
  }

  /** @param {File[]} files  the first one counts */
  async take([file]) {
    if (!file) return;
    try {
      if (file.size > MOST)
        throw new LocalizedError(words("trainOwnLongText", file.name, MOST / 1e6));
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
      this.#name = file.name;
      this.#field.value = text;
      this.#tell();
      await this.#keep();
    } catch (error) {
      this.#fail(
        error instanceof TypeError
          ? words("trainOwnNoText", file.name)
          : /** @type {any} */ (wordsOf(error)),
      );
    }
  }

  /** The text. @throws {LocalizedError}  for too short a one */
  checked() {
    const text = this.#field.value;
    const { length } = [...text];
    if (length < LEAST) throw new LocalizedError(words("trainOwnShortText", length, LEAST));
    return { text, name: this.#name };
  }

  async #keep() {
    const { value } = this.#field;
    try {
      await keepText(this.#name, value);
      this.#count.dataset.kept = String(value === this.#field.value);
    } catch (error) {
      this.#fail(words("trainOwnNoStore", /** @type {any} */ (wordsOf(error))));
    }
  }

  #tell() {
    const { length } = this.#field.value;
    this.#count.dataset.value = String(length);
    this.#count.dataset.kept = "false";
    show(this.#count, words("trainOwnLetters", length, this.characters));
    this.#changed();
  }
}
