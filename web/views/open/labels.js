// @ts-check
/** Labels for the classes of the visitor's model, from a file given before or after a run. */

import { readLabels } from "../../prepare/labels.js";
import { words, wordsOf } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";

export class OpenLabels {
  #input;
  #status;
  #changed;
  /** How many classes the outputs seem to have. @type {number[]} */
  #counts = [];
  #file = "";
  /** @type {string[]} */
  all = [];

  /**
   * @param {HTMLInputElement} input
   * @param {HTMLElement} status
   * @param {(labels: string[]) => void} changed
   */
  constructor(input, status, changed) {
    this.#input = input;
    this.#status = status;
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
    show(this.#status, "");
  }

  /** @param {(number | string | undefined)[]} lengths  of the outputs' last axes */
  expect(lengths) {
    const counts = lengths.filter((length) => typeof length === "number");
    this.#counts = [...new Set(counts)];
    if (this.all.length) this.#render();
  }

  /** @param {File} file */
  async read(file) {
    try {
      this.all = await readLabels(file);
      this.#file = file.name;
      this.#render();
      this.#changed(this.all);
    } catch (error) {
      show(this.#status, wordsOf(error));
    }
  }

  #render() {
    const [counts, count] = [this.#counts, this.all.length];
    const fits = !counts.length || counts.includes(count);
    const message = fits
      ? words("openLabelled", this.#file, count)
      : words("openMislabelled", this.#file, count, counts.join(", "));
    show(this.#status, message);
  }
}
