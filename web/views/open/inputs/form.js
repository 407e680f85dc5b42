// @ts-check
/**
 * The form for the visitor's model: the lengths that its file leaves open, and a field for each
 * input.
 */

import { show } from "../../../i18n/show.js";
import { ValueError } from "../../../prepare/elements.js";
import { lengthOf } from "../../../prepare/guesses.js";
import { LocalizedError, words, wordsOf } from "../../../i18n/messages.js";
import { text } from "../../../i18n/text.js";
import { OpenField } from "./field.js";
import { make } from "../../../widgets/dom.js";

export class OpenForm {
  #root;
  #changed;
  /** @type {OpenField[]} */
  #fields = [];
  /** @type {Map<string, HTMLInputElement>} */
  #lengths = new Map();

  /**
   * @param {HTMLFormElement} root
   * @param {() => void} changed  called when a shape changes
   */
  constructor(root, changed) {
    this.#root = root;
    this.#changed = changed;
  }

  clear() {
    this.#root.hidden = true;
    this.#fields = [];
    this.#lengths.clear();
    this.#content.replaceChildren();
  }

  /** @returns {HTMLElement} */
  get #content() {
    return /** @type {any} */ (this.#root.querySelector(".fields"));
  }

  /** @param {import("../facts.js").Info[]} inputs */
  show(inputs) {
    for (const { shape, dtype } of inputs) {
      shape?.forEach((length, axis) => {
        if (typeof length !== "string") return;
        this.#addLength(length, lengthOf(shape, axis, String(dtype)));
      });
    }
    const lengths = {
      of: (/** @type {string} */ name) => this.#length(name),
      set: (/** @type {string} */ name, /** @type {number} */ length) => {
        const input = this.#lengths.get(name);
        if (input) input.value = String(length);
      },
    };
    const changed = () => this.#changed();
    this.#fields = inputs.map((info) => new OpenField(info, lengths, changed));
    const given = [...this.#lengths.values()].map((input) => input.closest("label"));
    if (given.length) {
      this.#content.append(make("div", { class: "parts" }, .../** @type {Node[]} */ (given)));
    }
    this.#content.append(...this.#fields.map(({ element }) => element));
    this.#root.hidden = false;
  }

  /**
   * The shapes of the tensors, by name.
   * @returns {Record<string, number[]>}
   * @throws {LocalizedError}  naming the input
   */
  shapes() {
    /** @type {[string, number[]][]} */
    const found = [];
    for (const field of this.#fields) {
      try {
        if (field.isTensor) found.push([field.name, field.shape()]);
      } catch (error) {
        throw about(field, error);
      }
    }
    return Object.fromEntries(found);
  }

  /**
   * @returns {Promise<import("../../../engine/types.js").Feed[]>}
   * @throws {LocalizedError}  naming the input
   */
  async feeds() {
    const feeds = [];
    for (const field of this.#fields) {
      try {
        const feed = await field.feed();
        if (feed) feeds.push(feed);
      } catch (error) {
        throw about(field, error);
      }
    }
    return feeds;
  }

  /** @param {string} name @returns {number} */
  #length(name) {
    const typed = this.#lengths.get(name)?.value ?? "";
    if (!/^\d{1,9}$/.test(typed)) throw new ValueError(words("openBadLength"));
    return Number(typed);
  }

  /**
   * @param {string} name
   * @param {number} length
   */
  #addLength(name, length) {
    if (this.#lengths.has(name)) return;
    const input = make("input", {
      type: "number",
      min: "0",
      step: "1",
      value: String(length),
      "data-testid": "open-length",
      "data-name": name,
    });
    input.addEventListener("change", () => this.#changed());
    make(
      "label",
      {},
      show(make("span"), () => text.openLength(name)),
      input,
    );
    this.#lengths.set(name, input);
  }
}

/**
 * @param {OpenField} field
 * @param {unknown} error
 */
function about({ name }, error) {
  const why = /** @type {any} */ (wordsOf(error));
  return new LocalizedError({ entry: "openInputFailed", about: [name, why] });
}
