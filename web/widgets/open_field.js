// @ts-check
/**
 * One input of an opened model: the kind of its value, and what that kind needs.
 */

import {
  ValueError,
  encode,
  isInteger,
  randomNumbers,
  readNumbers,
  sizeOf,
} from "../prepare/elements.js";
import { readNpy } from "../prepare/npy.js";
import { readPhoto } from "../prepare/photo.js";
import { formOf, layoutsOf, toTensor } from "../prepare/pictures.js";
import { words } from "../said.js";
import { text } from "../text.js";
import { make } from "./sayings.js";

/**
 * @typedef {import("./open_facts.js").Info} Info
 * @typedef {import("../worker/opened.js").Feed} Feed
 * @typedef {"random" | "zeros" | "numbers" | "npy" | "image" | "texts" | "none"} Kind
 *
 * @typedef {object} Lengths  of the dimensions that have names
 * @property {(name: string) => number} of
 * @property {(name: string, length: number) => void} set
 */

/** Elements of an input at most: more than any tab computes with. */
const MOST = 2 ** 29;

export class OpenField {
  #info;
  #lengths;
  #sayings;
  #changed;
  /** @type {HTMLSelectElement} */
  #kind;
  #parts;
  /** The shape that is typed where the file says none. @type {HTMLInputElement | null} */
  #shape = null;
  /** What the parts of a kind are called. @type {Record<string, any>} */
  #controls = {};

  /**
   * @param {Info} info
   * @param {Lengths} lengths
   * @param {import("./sayings.js").Sayings} sayings
   * @param {() => void} changed  the shape is another
   */
  constructor(info, lengths, sayings, changed) {
    this.#info = info;
    this.#lengths = lengths;
    this.#sayings = sayings;
    this.#changed = changed;
    this.#parts = make("div", { class: "parts" });
    this.#kind = make("select", { "data-testid": "open-kind" });
    for (const kind of this.#kinds()) {
      const option = make("option", { value: kind });
      this.#kind.append(sayings.say(option, () => text.openKinds[kind]));
    }
    this.#kind.addEventListener("change", () => this.#choose());
    const type = make("span", { class: "type" });
    sayings.say(type, () => text.openShape(info.shape, info.type));
    this.element = make(
      "fieldset",
      { class: "field", "data-testid": "open-field", "data-name": info.name },
      make("legend", {}, make("b", {}, info.name), " ", type),
    );
    if (!info.shape && info.kind === "tensor") {
      this.#shape = make("input", { "data-testid": "open-shape", value: "1", type: "text" });
      this.#shape?.addEventListener("change", changed);
      this.element.append(this.#labelled(() => text.openGivenShape, this.#shape));
    }
    this.element.append(
      this.#labelled(() => text.openValue, this.#kind),
      this.#parts,
    );
    this.#choose();
  }

  get name() {
    return this.#info.name;
  }

  /** Whether its shape counts for what is compiled. */
  get isTensor() {
    return Boolean(this.#info.dtype);
  }

  /** @returns {Kind[]}  the likeliest first */
  #kinds() {
    const { dtype, kind, type, shape } = this.#info;
    if (kind === "optional" || kind === "sequence") return ["none"];
    if (!dtype) return type === "string" ? ["texts"] : ["none"];
    /** @type {Kind[]} */
    const kinds = isInteger(dtype) || dtype === "bool" ? ["zeros", "random"] : ["random", "zeros"];
    kinds.push("numbers", "npy");
    if (shape && dtype !== "bool" && layoutsOf(shape).length) kinds.push("image");
    return kinds;
  }

  /**
   * @returns {number[]}
   * @throws {ValueError}
   */
  shape() {
    const { shape } = this.#info;
    const typed = this.#shape?.value.split(/[\s,x×[\]()]+/).filter(Boolean) ?? [];
    if (typed.some((part) => !/^\d{1,9}$/.test(part))) throw new ValueError(words("openBadShape"));
    const found =
      shape?.map((length) => (typeof length === "string" ? this.#lengths.of(length) : length)) ??
      typed.map(Number);
    if (sizeOf(found) > MOST) throw new ValueError(words("openTooLarge"));
    return found;
  }

  /**
   * The value, ready for the worker; null where the input is left out.
   * @returns {Promise<Feed | null>}
   * @throws {import("../said.js").Said}
   */
  async feed() {
    const { name, dtype, kind } = this.#info;
    const chosen = /** @type {Kind} */ (this.#kind.value);
    if (chosen === "none") {
      if (kind === "optional") return null;
      throw new ValueError(words("openCannotFill"));
    }
    const shape = this.shape();
    if (chosen === "texts") return { name, shape, texts: this.#texts(sizeOf(shape)) };
    const type = /** @type {string} */ (dtype);
    const values = await this.#values(chosen, shape, type);
    return { name, shape, dtype: type, ...encode(values, type) };
  }

  /**
   * @param {Kind} kind
   * @param {number[]} shape
   * @param {string} dtype
   * @returns {Promise<import("../prepare/elements.js").Values>}
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
        return this.#image(shape);
      default:
        return new Float64Array(count);
    }
  }

  /** @param {number[]} shape */
  async #image(shape) {
    const { layout, fit, order, mean, scale } = this.#controls;
    const form = formOf(shape, layout.value);
    const rules = {
      mean: rule(mean.value, form.channels),
      scale: rule(scale.value, form.channels),
      bgr: order.value === "BGR",
    };
    const photo = await readPhoto(this.#file());
    const rgba = photo.scaled(form.width, form.height, fit.value === "whole");
    photo.close();
    const one = toTensor(rgba, form, rules);
    if (isInteger(String(this.#info.dtype))) one.forEach((x, i) => (one[i] = Math.round(x)));
    const all = new Float64Array(sizeOf(shape));
    for (let at = 0; at < all.length; at += one.length) all.set(one, at);
    return all;
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
    const value = Number(this.#controls[name].value);
    if (!Number.isFinite(value)) throw new ValueError(words("openBadRandom"));
    return value;
  }

  /** @returns {File} */
  #file() {
    const file = this.#controls.file.files?.[0];
    if (!file) throw new ValueError(words("openNoFile"));
    return file;
  }

  // ---- controls -----------------------------------------------------------------------------

  /** Show what the chosen kind needs. */
  #choose() {
    this.#controls = {};
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
        this.#addImage();
    }
  }

  #addImage() {
    const { dtype, shape } = this.#info;
    const layouts = layoutsOf(shape ?? []);
    this.#add("file", () => text.openImage, make("input", { type: "file", accept: "image/*" }));
    const fits = [
      this.#sayings.say(make("option", { value: "middle" }), () => text.openFitMiddle),
      this.#sayings.say(make("option", { value: "whole" }), () => text.openFitWhole),
    ];
    this.#add("fit", () => text.openFit, make("select", {}, ...fits));
    this.#add("layout", () => text.openLayout, choice(layouts));
    this.#add("order", () => text.openOrder, choice(["RGB", "BGR"]));
    const bytes = isInteger(String(dtype));
    this.#add("mean", () => text.openMean, make("input", { type: "text", value: "0" }));
    const scale = bytes ? "1" : "1/255";
    this.#add("scale", () => text.openScale, make("input", { type: "text", value: scale }));
  }

  /** The lengths of a chosen file, where the model leaves them open. */
  async #adopt() {
    const { shape } = this.#info;
    try {
      const found = await readNpy(this.#file());
      if (this.#shape) this.#shape.value = found.shape.join(", ");
      if (shape?.length === found.shape.length) {
        shape.forEach((length, axis) => {
          if (typeof length === "string") this.#lengths.set(length, found.shape[axis]);
        });
      }
      this.#changed();
    } catch {
      // A run says what is wrong with the file.
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
    return make("label", {}, this.#sayings.say(make("span"), label), control);
  }
}

/** @param {string} value */
const decimal = (value) => make("input", { type: "number", step: "any", value });

/** @param {string[]} names */
const choice = (names) =>
  make("select", {}, ...names.map((name) => make("option", { value: name }, name)));

/**
 * Numbers or quotients, as in 1/255: one, or one for each channel.
 * @param {string} typed
 * @param {number} channels
 */
function rule(typed, channels) {
  const found = typed
    .split(/[\s,[\]]+/)
    .filter(Boolean)
    .map((part) =>
      part
        .split("/")
        .map(Number)
        .reduce((value, by) => value / by),
    );
  if (![1, channels].includes(found.length) || !found.every(Number.isFinite)) {
    throw new ValueError(words("openBadRule"));
  }
  return found;
}
