// @ts-check
/**
 * One tensor, or one array of texts, for an input: the kind of value, and the controls for that
 * kind.
 */

import { show } from "../../../i18n/show.js";
import {
  ValueError,
  encode,
  isInteger,
  randomNumbers,
  readNumbers,
  sizeOf,
} from "../../../prepare/elements.js";
import { fillingOf, lengthOf } from "../../../prepare/guesses.js";
import { readNpy } from "../../../prepare/npy.js";
import { layoutsOf } from "../../../prepare/pictures.js";
import { words } from "../../../i18n/messages.js";
import { text } from "../../../i18n/text.js";
import { OpenImage } from "./image.js";
import { make } from "../../../widgets/dom.js";

/**
 * @typedef {import("../facts.js").Info} Info
 * @typedef {import("../../../engine/types.js").Feed} Feed
 * @typedef {import("../../../prepare/guesses.js").Filling | "npy" | "image" | "texts"} Kind
 *
 * @typedef {object} Lengths  of named dimensions
 * @property {(name: string) => number} of
 * @property {(name: string, length: number) => void} set
 */

/** No tab can compute with more elements. */
const MAX_ELEMENTS = 2 ** 29;

export class OpenValue {
  #info;
  #lengths;
  #changed;
  /** @type {HTMLSelectElement} */
  #kind;
  #parts;
  /** The shape, if the visitor types it. @type {HTMLInputElement | null} */
  #shape = null;
  /** The controls of the chosen kind, by name. @type {Record<string, any>} */
  #controls = {};
  /** @type {OpenImage | null} */
  #image = null;

  /**
   * @param {Info} info  of a tensor
   * @param {Lengths | null} lengths  null if the visitor types the shape
   * @param {() => void} changed  called when the shape changes
   */
  constructor(info, lengths, changed) {
    this.#info = info;
    this.#lengths = lengths;
    this.#changed = changed;
    this.#parts = make("div", { class: "parts" });
    this.#kind = make("select", { "data-testid": "open-kind" });
    for (const kind of this.#kinds()) {
      const option = make("option", { value: kind });
      this.#kind.append(show(option, () => text.openKinds[kind]));
    }
    this.#kind.addEventListener("change", () => this.#choose());
    this.element = make("div", { class: "value" });
    if (!info.shape || !lengths) {
      const initial = info.shape?.map((length, axis) =>
        typeof length === "string"
          ? lengthOf(/** @type {any} */ (info.shape), axis, String(info.dtype))
          : length,
      );
      this.#shape = make("input", {
        "data-testid": "open-shape",
        value: initial?.join(", ") ?? "1",
        type: "text",
      });
      this.#shape?.addEventListener("change", changed);
      this.element.append(this.#labelled(() => text.openGivenShape, this.#shape));
    }
    this.element.append(
      this.#labelled(() => text.openValue, this.#kind),
      this.#parts,
    );
    this.#choose();
    const { filling, numbers } = fillingOf(info.name, String(info.dtype));
    if (!info.dtype) return;
    this.#kind.value = filling;
    this.#choose();
    if (numbers !== undefined) this.#controls.numbers.value = String(numbers);
  }

  /** @returns {Kind[]} */
  #kinds() {
    const { dtype, shape } = this.#info;
    if (!dtype) return ["texts"];
    /** @type {Kind[]} */
    const kinds = ["random", "zeros", "ones", "counting", "numbers", "npy"];
    if (dtype === "bool") kinds.splice(kinds.indexOf("counting"), 1);
    if (shape && dtype !== "bool" && layoutsOf(shape).length) kinds.push("image");
    return kinds;
  }

  /**
   * @returns {number[]}
   * @throws {ValueError}
   */
  shape() {
    const typed = this.#shape?.value.split(/[\s,x×[\]()]+/).filter(Boolean) ?? [];
    if (typed.some((part) => !/^\d{1,9}$/.test(part))) throw new ValueError(words("openBadShape"));
    const found = this.#shape
      ? typed.map(Number)
      : (this.#info.shape ?? []).map((length) =>
          typeof length === "string" ? (this.#lengths?.of(length) ?? 1) : length,
        );
    if (sizeOf(found) > MAX_ELEMENTS) throw new ValueError(words("openTooLarge"));
    return found;
  }

  /**
   * The value, ready for the worker.
   * @returns {Promise<Feed>}
   * @throws {import("../../../i18n/messages.js").LocalizedError}
   */
  async feed() {
    const { name, dtype } = this.#info;
    const kind = /** @type {Kind} */ (this.#kind.value);
    const shape = this.shape();
    if (kind === "texts") return { name, shape, texts: this.#texts(sizeOf(shape)) };
    const type = /** @type {string} */ (dtype);
    const values = await this.#values(kind, shape, type);
    return { name, shape, dtype: type, ...encode(values, type) };
  }

  /**
   * @param {Kind} kind
   * @param {number[]} shape
   * @param {string} dtype
   * @returns {Promise<import("../../../prepare/elements.js").Values>}
   */
  async #values(kind, shape, dtype) {
    const count = sizeOf(shape);
    switch (kind) {
      case "random": {
        const [seed, from, to] = ["seed", "from", "to"].map((name) => this.#number(name));
        return randomNumbers(count, { seed, from, to }, dtype);
      }
      case "numbers":
        return readNumbers(this.#controls.numbers.value, count, dtype);
      case "npy": {
        const found = await readNpy(this.#file());
        if (String(found.shape) === String(shape)) return found.values;
        const [wanted, given] = [shape, found.shape].map((each) => `[${each.join(", ")}]`);
        throw new ValueError(words("openNpyShape", wanted, given));
      }
      case "image":
        return /** @type {OpenImage} */ (this.#image).values(shape);
      case "counting": {
        const row = shape.at(-1) ?? 1;
        return Float64Array.from({ length: count }, (_, i) => i % row);
      }
      default:
        return new Float64Array(count).fill(kind === "ones" ? 1 : 0);
    }
  }

  /** @param {number} count */
  #texts(count) {
    const lines = this.#controls.texts.value.split("\n");
    if (lines.length > count && lines.at(-1) === "") lines.pop();
    if (lines.length !== count) throw new ValueError(words("openTextCount", count, lines.length));
    return lines;
  }

  /** @param {string} name */
  #number(name) {
    const { value } = this.#controls[name];
    if (!value || !Number.isFinite(Number(value))) throw new ValueError(words("openBadRandom"));
    return Number(value);
  }

  /** @returns {File} */
  #file() {
    const file = this.#controls.file.files?.[0];
    if (!file) throw new ValueError(words("openNoFile"));
    return file;
  }

  // ---- controls -----------------------------------------------------------------------------

  /** Show the controls of the chosen kind. */
  #choose() {
    this.#controls = {};
    this.#image = null;
    this.#parts.replaceChildren();
    const { dtype } = this.#info;
    switch (this.#kind.value) {
      case "random":
        this.#add("seed", () => text.openSeed, make("input", { type: "number", value: "1" }));
        this.#add("from", () => text.openFrom, decimal("0"));
        this.#add("to", () => text.openTo, decimal(isInteger(String(dtype)) ? "100" : "1"));
        break;
      case "numbers":
        this.#add("numbers", () => text.openNumbers, make("textarea", { rows: "3" }));
        break;
      case "texts":
        this.#add("texts", () => text.openTexts, make("textarea", { rows: "3" }));
        break;
      case "npy":
        this.#add("file", () => text.openNpy, make("input", { type: "file", accept: ".npy" }));
        this.#controls.file.addEventListener("change", () => void this.#adopt());
        break;
      case "image":
        this.#image = new OpenImage(this.#info, (...control) => this.#add(...control));
    }
  }

  /** Take the lengths that the model leaves open from the chosen file. */
  async #adopt() {
    const { shape } = this.#info;
    try {
      const found = await readNpy(this.#file());
      if (this.#shape) this.#shape.value = found.shape.join(", ");
      if (shape?.length === found.shape.length) {
        shape.forEach((length, axis) => {
          if (typeof length === "string") this.#lengths?.set(length, found.shape[axis]);
        });
      }
      this.#changed();
    } catch {
      // A run will report what is wrong with the file.
    }
  }

  /**
   * @param {string} name  in #controls, and for tests
   * @param {() => string} label
   * @param {any} control
   */
  #add(name, label, control) {
    control.setAttribute("data-testid", `open-${name}`);
    this.#controls[name] = control;
    this.#parts.append(this.#labelled(label, control));
  }

  /**
   * @param {() => string} label
   * @param {any} control
   */
  #labelled(label, control) {
    return make("label", {}, show(make("span"), label), control);
  }
}

/** @param {string} value */
const decimal = (value) => make("input", { type: "number", step: "any", value });
