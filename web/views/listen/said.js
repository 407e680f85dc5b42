// @ts-check
/** The list of what was said, with times. */

import { clock } from "./subtitles.js";

/** @typedef {import("../../shared/contract.js").HeardText} HeardText */

export class Said {
  #list;
  /** The last piece, while it is still being written down. @type {HTMLElement | null} */
  #partial = null;
  /** @type {HeardText[]} */
  segments = [];

  /** @param {HTMLOListElement} list */
  constructor(list) {
    this.#list = list;
  }

  /** @param {HeardText} heard  a piece, which takes the place of the one that was not final */
  add(heard) {
    const item = this.#partial ?? document.createElement("li");
    item.className = heard.final ? "" : "partial";
    item.dataset.start = String(heard.start);
    item.dataset.end = String(heard.end);
    item.lang = heard.language;
    const time = document.createElement("time");
    time.dateTime = `PT${heard.start}S`;
    time.textContent = clock(heard.start);
    const said = document.createElement("span");
    said.textContent = heard.text.trim();
    item.replaceChildren(time, said);
    const atEnd = this.#list.scrollHeight - this.#list.scrollTop - this.#list.clientHeight < 40;
    if (!this.#partial) this.#list.append(item);
    this.#partial = heard.final ? null : item;
    if (heard.final) this.segments.push(heard);
    if (atEnd) this.#list.scrollTop = this.#list.scrollHeight;
  }

  /** What is not final was not said. */
  drop() {
    this.#partial?.remove();
    this.#partial = null;
  }

  clear() {
    this.segments = [];
    this.#partial = null;
    this.#list.replaceChildren();
  }
}
