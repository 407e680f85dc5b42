// @ts-check
/** The list of the files that are in the index, or could not be read. */

import { words } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { text } from "../../i18n/text.js";

/** @typedef {import("../../i18n/messages.js").Words} Words */

export class Files {
  #section;
  #list;
  #removed;
  /** By their names. @type {Map<string, {item: HTMLLIElement, passages: number}>} */
  #files = new Map();

  /**
   * @param {HTMLElement} section  shown if there are files
   * @param {HTMLUListElement} list
   * @param {(name: string) => void} removed  called when the visitor removes a file
   */
  constructor(section, list, removed) {
    this.#section = section;
    this.#list = list;
    this.#removed = removed;
  }

  /** How many are in the index. */
  get size() {
    return [...this.#files.values()].filter(({ passages }) => passages).length;
  }

  /** The passages of all. */
  get passages() {
    let sum = 0;
    for (const { passages } of this.#files.values()) sum += passages;
    return sum;
  }

  /** @param {import("../../shared/contract.js").IndexedFile[]} files */
  replace(files) {
    this.remove("");
    for (const { name, passages } of files) this.put(name, passages, null);
  }

  /**
   * @param {string} name
   * @param {number} passages
   * @param {string | null} guessed  the encoding, if that was guessed
   */
  put(name, passages, guessed) {
    const line = this.#put(name, passages);
    show(line, () => {
      const count = text.findPassages(passages);
      return guessed ? `${count}, ${text.findGuessed(guessed)}` : count;
    });
  }

  /** A file that can't be read; the one of its name stays. @param {string} name @param {Words} why */
  fail(name, why) {
    const before = this.#files.get(name)?.passages ?? 0;
    const line = this.#put(name, before);
    show(line, why);
    line.parentElement?.classList.add("failed");
  }

  /** @param {string} name  "" means all */
  remove(name) {
    for (const each of name ? [name] : [...this.#files.keys()]) {
      this.#files.get(each)?.item.remove();
      this.#files.delete(each);
    }
    this.#section.hidden = !this.#files.size;
  }

  /** @param {string} name @param {number} passages */
  #put(name, passages) {
    this.#files.get(name)?.item.remove();
    const item = document.createElement("li");
    const title = Object.assign(document.createElement("b"), { textContent: name });
    const line = Object.assign(document.createElement("span"), { className: "info" });
    const button = Object.assign(document.createElement("button"), {
      type: "button",
      textContent: "✕",
    });
    show(button, words("findRemove", name), "aria-label");
    button.addEventListener("click", () => this.#removed(name));
    item.append(title, line, button);
    item.dataset.source = name;
    this.#list.append(item);
    this.#files.set(name, { item, passages });
    this.#section.hidden = false;
    return line;
  }
}
