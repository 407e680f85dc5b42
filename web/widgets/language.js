// @ts-check
/**
 * Translates the texts in index.html, and lets the visitor choose a language.
 *
 * The HTML has the English. data-text="entry" translates an element's content by that entry of the
 * language's `page`; data-text-label its aria-label, data-text-title its tooltip, data-text-content
 * the `content` of a meta element.
 */

import { LANGUAGES, choose, languageFor, page } from "../i18n/languages.js";
import { show } from "../i18n/show.js";

/** @typedef {import("../i18n/show.js").Part} Part */

/** The key of the choice in local storage. */
const KEY = "tallow.language";

/** The part of an element that each attribute is for. @type {[string, Part][]} */
const PARTS = [
  ["data-text", "text"],
  ["data-text-label", "aria-label"],
  ["data-text-title", "title"],
  ["data-text-content", "content"],
];

export class LanguageChoice {
  #select;

  /**
   * Shows the page in the language chosen earlier, or in the browser's.
   * @param {HTMLSelectElement} select
   */
  constructor(select) {
    this.#select = select;
    select.replaceChildren(
      ...Object.entries(LANGUAGES).map(([code, name]) => {
        const option = new Option(name, code);
        option.lang = code;
        return option;
      }),
    );
    this.#set(languageFor([storedChoice(), ...navigator.languages]));
    translate(document);
    select.addEventListener("change", () => {
      const language = languageFor([select.value]);
      storeChoice(language);
      this.#set(language);
    });
  }

  /** @param {import("../i18n/text.js").Language} language */
  #set(language) {
    choose(language);
    this.#select.value = language;
    document.documentElement.lang = language;
  }
}

/** Translate the texts of what the HTML has here, from now on. @param {ParentNode} root */
export function translate(root) {
  for (const [attribute, part] of PARTS) {
    for (const element of root.querySelectorAll(`[${attribute}]`)) {
      const entry = element.getAttribute(attribute) ?? "";
      const english = (part === "text" ? element.textContent : element.getAttribute(part)) ?? "";
      const plain = english.trim().replace(/\s+/g, " ");
      show(element, () => page[entry] ?? plain, part);
    }
  }
}

/** @returns {string}  empty if nothing is stored, or storage is refused */
function storedChoice() {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} language */
function storeChoice(language) {
  try {
    localStorage.setItem(KEY, language);
  } catch {
    // Storage is refused: the choice lasts as long as the page.
  }
}
