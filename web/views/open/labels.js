// @ts-check
/**
 * The names of an opened model's classes, from a file of the visitor's, given before it runs or
 * after.
 */

import { readLabels } from "../../prepare/labels.js";
import { say, words, wordsOf } from "../../i18n/messages.js";

export class OpenLabels {
  #input;
  #said;
  #changed;
  /** @type {import("../../i18n/messages.js").Words} */
  #words = "";
  /** How many classes the outputs seem to have. @type {number[]} */
  #counts = [];
  #file = "";
  /** @type {string[]} */
  all = [];

  /**
   * @param {HTMLInputElement} input
   * @param {HTMLElement} said
   * @param {(labels: string[]) => void} changed
   */
  constructor(input, said, changed) {
    this.#input = input;
    this.#said = said;
    this.#changed = changed;
    input.addEventListener("change", () => {
      const file = input.files?.[0];
      if (file) void this.read(file);
    });
  }

  clear() {
    this.all = [];
    this.#counts = [];
    this.#input.value = "";
    this.#words = "";
    this.relabel();
  }

  /** @param {(number | string | undefined)[]} lengths  of the outputs' last axes */
  expect(lengths) {
    const counts = lengths.filter((length) => typeof length === "number");
    this.#counts = [...new Set(counts)];
    if (this.all.length) this.#tell();
  }

  /** @param {File} file */
  async read(file) {
    try {
      this.all = await readLabels(file);
      this.#file = file.name;
      this.#tell();
      this.#changed(this.all);
    } catch (error) {
      this.#words = wordsOf(error);
      this.relabel();
    }
  }

  #tell() {
    const [counts, count] = [this.#counts, this.all.length];
    const fits = !counts.length || counts.includes(count);
    this.#words = fits
      ? words("openLabelled", this.#file, count)
      : words("openMislabelled", this.#file, count, counts.join(", "));
    this.relabel();
  }

  /** Say it again, in another language. */
  relabel() {
    this.#said.textContent = say(this.#words);
  }
}
