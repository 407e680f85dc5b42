// @ts-check
/**
 * One input of an opened model: a tensor; a sequence of as many as the visitor adds; or something
 * that may be left out.
 */

import { show } from "../../../i18n/show.js";
import { ValueError } from "../../../prepare/elements.js";
import { words } from "../../../i18n/messages.js";
import { text } from "../../../i18n/text.js";
import { OpenValue } from "./value.js";
import { make } from "../../../widgets/dom.js";

/**
 * @typedef {import("../facts.js").Info} Info
 * @typedef {import("../../../worker/models/user_model.js").Feed} Feed
 */

/** Members of a sequence at most. */
const MOST = 64;

export class OpenField {
  #info;
  /** Of a tensor. @type {OpenValue | null} */
  #value = null;
  /** Of a sequence. @type {{value: OpenValue, element: HTMLElement}[]} */
  #members = [];
  /** Whether an optional input is given. @type {HTMLInputElement | null} */
  #given = null;
  #place;
  /** What the input is, or what it holds if it is given. @type {Info} */
  #held;

  /**
   * @param {Info} info
   * @param {import("./value.js").Lengths} lengths
   * @param {() => void} changed  the shape is another
   */
  constructor(info, lengths, changed) {
    this.#info = info;
    const optional = info.kind === "optional";
    this.#held = (optional && info.element) || info;
    const type = make("span", { class: "type" });
    show(type, () => text.openShape(info.shape, info.type, info.kind));
    this.element = make(
      "fieldset",
      { class: "field", "data-testid": "open-field", "data-name": info.name },
      make("legend", {}, make("b", {}, info.name), " ", type),
    );
    this.#place = make("div", { class: "value" });
    if (optional && info.element) {
      const given = make("input", { type: "checkbox", "data-testid": "open-given" });
      given.addEventListener("change", () => (this.#place.hidden = !given.checked));
      const label = show(make("span"), () => text.openGive);
      this.element.append(make("label", { class: "given-too" }, given, label));
      this.#place.hidden = true;
      this.#given = given;
    }
    this.element.append(this.#place);
    if (this.#held.kind === "sequence") this.#addSequence();
    else if (this.#held.kind === "tensor") {
      // Optional values count for nothing that is compiled beforehand: their shape is their own.
      this.#value = new OpenValue(this.#held, optional ? null : lengths, changed);
      this.#place.append(this.#value.element);
    }
  }

  get name() {
    return this.#info.name;
  }

  /** Whether its shape counts for what is compiled. */
  get isTensor() {
    return Boolean(this.#info.dtype);
  }

  /** @returns {number[]} @throws {ValueError} */
  shape() {
    return /** @type {OpenValue} */ (this.#value).shape();
  }

  /**
   * The value, ready for the worker; null where the input is left out.
   * @returns {Promise<Feed | null>}
   * @throws {import("../../../i18n/messages.js").LocalizedError}
   */
  async feed() {
    if (this.#info.kind === "optional" && !this.#given?.checked) return null;
    if (this.#value) return this.#value.feed();
    if (this.#held.kind !== "sequence") throw new ValueError(words("openCannotFill"));
    /** @type {Feed[]} */
    const members = [];
    for (const { value } of this.#members) members.push(await value.feed());
    return { name: this.name, shape: [], members };
  }

  /** A list of tensors, and a button for another. */
  #addSequence() {
    if (this.#held.element?.kind !== "tensor") return;
    const list = make("ol", { class: "members" });
    const add = make("button", { type: "button", "data-testid": "open-add" });
    const tell = () => (add.disabled = this.#members.length >= MOST);
    add.addEventListener("click", () => {
      this.#addMember(list, tell);
      tell();
    });
    this.#place.append(
      list,
      show(add, () => text.openAdd),
    );
    this.#addMember(list, tell);
  }

  /**
   * @param {HTMLElement} list
   * @param {() => void} tell  there is one less
   */
  #addMember(list, tell) {
    const info = /** @type {Info} */ (this.#held.element);
    const value = new OpenValue(info, null, () => {});
    const remove = make("button", { type: "button", "data-testid": "open-remove" });
    const element = make("li", { "data-testid": "open-member" }, value.element, remove);
    show(remove, () => text.openRemove);
    const member = { value, element };
    remove.addEventListener("click", () => {
      this.#members.splice(this.#members.indexOf(member), 1);
      element.remove();
      tell();
    });
    this.#members.push(member);
    list.append(element);
  }
}
