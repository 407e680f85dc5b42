// @ts-check
/** A view whose code, texts, HTML and styles are fetched when it is first opened. */

import { addTexts } from "../i18n/languages.js";
import { words, wordsOf } from "../i18n/messages.js";
import { translate } from "../widgets/language.js";
import { Message } from "../widgets/message.js";
import { made } from "./made.js";

/** @import {Page, View} from "./view.js" */

/** @implements {View} */
export class Lazy {
  #root;
  #page;
  #load;
  #endings;
  /** @type {View | null} */
  #view = null;
  /** @type {Promise<View | null> | null} */
  #opening = null;

  /**
   * @param {HTMLElement} root  empty
   * @param {Page} page
   * @param {(typeof import("../runtime/pages.js").LATER)[string]} load
   * @param {string[]} endings  of files that are for this view only
   */
  constructor(root, page, load, endings) {
    this.#root = root;
    this.#page = page;
    this.#load = load;
    this.#endings = endings;
  }

  /** Fetch and show the view. @returns {Promise<View | null>}  null if that failed; the view says so */
  open() {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async #open() {
    const line = Object.assign(document.createElement("p"), { role: "alert" });
    try {
      const { View, en, zh, html, css } = await this.#load();
      addTexts({ en: [en], zh: [zh] });
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
      document.adoptedStyleSheets.push(sheet);
      const parsed = new DOMParser().parseFromString(html, "text/html");
      const section = /** @type {HTMLElement} */ (parsed.body.firstElementChild);
      this.#root.replaceChildren(...section.childNodes);
      this.#root.setAttribute("aria-labelledby", section.getAttribute("aria-labelledby") ?? "");
      translate(this.#root);
      this.#view = made(View, this.#root, this.#page);
      return this.#view;
    } catch (error) {
      this.#opening = null; // the next opening tries again
      this.#root.replaceChildren(line);
      new Message(line).show(words("viewFailed", wordsOf(error)), () => void this.open());
      return null;
    }
  }

  async model() {
    return this.#view?.model() ?? null;
  }

  /** @param {boolean} died */
  answer(died) {
    this.#view?.answer(died);
  }

  get untouched() {
    return this.#view?.untouched ?? true;
  }

  started() {
    this.#view?.started?.();
  }

  /** @param {File[]} files */
  claims(files) {
    return files.some(({ name }) => this.#endings.some((ending) => name.endsWith(ending)));
  }

  /** @param {DataTransfer} transfer */
  drop(transfer) {
    if (this.#view?.drop) return this.#view.drop(transfer);
    const given = [...transfer.files]; // the transfer is empty later
    void this.open().then((view) => view?.takeFiles?.(given));
  }
}
