// @ts-check
/**
 * The language of the page: what stands in index.html, and the choice.
 *
 * An element with data-text="entry" has that entry of the table's `page` as its content; with
 * data-text-label as its aria-label; with data-text-title as its tooltip; with data-text-content, a
 * meta element, as its `content`.
 */

import { LANGUAGES, choose, languageFor, page } from "../i18n/languages.js";
import { show } from "../i18n/show.js";

/** @typedef {import("../i18n/show.js").Part} Part */

/** Where the choice is kept between visits. */
const KEPT = "tallow.language";

/** Which part of an element an attribute names the entry of. @type {[string, Part][]} */
const PARTS = [
  ["data-text", "text"],
  ["data-text-label", "aria-label"],
  ["data-text-title", "title"],
  ["data-text-content", "content"],
];

export class LanguageChoice {
  #select;

  /**
   * Sets the page in the language that was chosen before, or that the browser prefers.
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
    this.#set(languageFor([kept(), ...navigator.languages]));
    for (const [attribute, part] of PARTS) {
      for (const element of document.querySelectorAll(`[${attribute}]`)) {
        const entry = /** @type {keyof typeof page} */ (element.getAttribute(attribute));
        show(element, () => page[entry], part);
      }
    }
    select.addEventListener("change", () => {
      const language = languageFor([select.value]);
      keep(language);
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

/** @returns {string}  empty if nothing is kept, or storage is refused */
function kept() {
  try {
    return localStorage.getItem(KEPT) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} language */
function keep(language) {
  try {
    localStorage.setItem(KEPT, language);
  } catch {
    // Storage is refused: the choice lasts as long as the page.
  }
}
