// @ts-check
/**
 * The field of one input of the visitor's model: a tensor, a sequence of tensors that the visitor
 * adds, or an optional value.
 */

import { show } from "../../../i18n/show.js";
import { ValueError } from "../../../prepare/elements.js";
import { words } from "../../../i18n/messages.js";
import { text } from "../../../i18n/text.js";
import { OpenValue } from "./value.js";
import { make } from "../../../widgets/dom.js";

/**
 * @typedef {import("../facts.js").Info} Info
 * @typedef {import("../../../engine/types.js").Feed} Feed
 */

const MAX_MEMBERS = 64;

export class OpenField {
  #info;
  /** Of a tensor. @type {OpenValue | null} */
  #value = null;
  /** Of a sequence. @type {{value: OpenValue, element: HTMLElement}[]} */
  #members = [];
  /** Whether an optional input is given. @type {HTMLInputElement | null} */
  #given = null;
  #content;
  /** The input, or the value of an optional one. @type {Info} */
  #held;

  /**
   * @param {Info} info
   * @param {import("./value.js").Lengths} lengths
   * @param {() => void} changed  called when the shape changes
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
    this.#content = make("div", { class: "value" });
    if (optional && info.element) {
      const given = make("input", { type: "checkbox", "data-testid": "open-given" });
      given.addEventListener("change", () => (this.#content.hidden = !given.checked));
      const label = show(make("span"), () => text.openGive);
      this.element.append(make("label", { class: "given-too" }, given, label));
      this.#content.hidden = true;
      this.#given = given;
    }
    this.element.append(this.#content);
    if (this.#held.kind === "sequence") this.#addSequence();
    else if (this.#held.kind === "tensor") {
      // An optional value does not affect the compiled plan, so its shape is free.
      this.#value = new OpenValue(this.#held, optional ? null : lengths, changed);
      this.#content.append(this.#value.element);
    }
  }

  get name() {
    return this.#info.name;
  }

  /** Whether its shape affects the compiled plan. */
  get isTensor() {
    return Boolean(this.#info.dtype);
  }

  /** @returns {number[]} @throws {ValueError} */
  shape() {
    return /** @type {OpenValue} */ (this.#value).shape();
  }

  /**
   * The value, ready for the worker; null if the input is omitted.
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

  /** Add a list of tensors, and a button to add another. */
  #addSequence() {
    if (this.#held.element?.kind !== "tensor") return;
    const list = make("ol", { class: "members" });
    const add = make("button", { type: "button", "data-testid": "open-add" });
    const updateButton = () => (add.disabled = this.#members.length >= MAX_MEMBERS);
    add.addEventListener("click", () => {
      this.#addMember(list, updateButton);
      updateButton();
    });
    this.#content.append(
      list,
      show(add, () => text.openAdd),
    );
    this.#addMember(list, updateButton);
  }

  /**
   * @param {HTMLElement} list
   * @param {() => void} updateButton  called after a removal
   */
  #addMember(list, updateButton) {
    const info = /** @type {Info} */ (this.#held.element);
    const value = new OpenValue(info, null, () => {});
    const remove = make("button", { type: "button", "data-testid": "open-remove" });
    const element = make("li", { "data-testid": "open-member" }, value.element, remove);
    show(remove, () => text.openRemove);
    const member = { value, element };
    remove.addEventListener("click", () => {
      this.#members.splice(this.#members.indexOf(member), 1);
      element.remove();
      updateButton();
    });
    this.#members.push(member);
    list.append(element);
  }
}
