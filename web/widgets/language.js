// @ts-check
/**
 * The language of the page: what stands in index.html, and the choice.
 *
 * An element with data-text="entry" has that entry of the table's `page` as its content; with
 * data-text-label as its aria-label; with data-text-title as its tooltip; with data-text-content, a
 * meta element, as its `content`.
 */

import { LANGUAGES, choose, languageFor, page } from "../i18n/languages.js";

/** Where the choice is kept between visits. */
const KEPT = "tallow.language";

/**
 * How an entry is set, by the attribute that names it.
 * @type {Record<string, (element: Element, words: string) => void>}
 */
const PARTS = {
  "data-text": (element, words) => {
    // What says it already, as all of index.html does in English, is not laid out a second time.
    if (element.textContent?.trim().replace(/\s+/g, " ") !== words) element.textContent = words;
  },
  "data-text-label": (element, words) => element.setAttribute("aria-label", words),
  "data-text-title": (element, words) => element.setAttribute("title", words),
  "data-text-content": (element, words) => element.setAttribute("content", words),
};

export class LanguageChoice {
  #select;

  /**
   * Sets the page in the language that was chosen before, or that the browser prefers.
   * @param {HTMLSelectElement} select
   * @param {() => void} changed  what widgets have said, they must say again
   */
  constructor(select, changed) {
    this.#select = select;
    select.replaceChildren(
      ...Object.entries(LANGUAGES).map(([code, name]) => {
        const option = new Option(name, code);
        option.lang = code;
        return option;
      }),
    );
    this.#set(languageFor([kept(), ...navigator.languages]));
    select.addEventListener("change", () => {
      const language = languageFor([select.value]);
      keep(language);
      this.#set(language);
      changed();
    });
  }

  /** @param {import("../i18n/text.js").Language} language */
  #set(language) {
    choose(language);
    this.#select.value = language;
    document.documentElement.lang = language;
    const words = /** @type {Record<string, string>} */ (page);
    for (const [attribute, set] of Object.entries(PARTS)) {
      for (const element of document.querySelectorAll(`[${attribute}]`)) {
        set(element, words[element.getAttribute(attribute) ?? ""]);
      }
    }
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
