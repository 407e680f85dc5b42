// @ts-check
/**
 * The page's texts in the language that is chosen: a table per language, in text/.
 *
 * `text` is a live binding: read its entries where they are shown, and do not keep them.
 */

import en from "./en/index.js";
import zh from "./zh/index.js";

/** @typedef {typeof en} Text */
/** @typedef {keyof typeof TABLES} Language */

/** @type {{en: Text, zh: Text}} */
const TABLES = { en, zh };

/** Each language by its own name. */
export const LANGUAGES = { en: "English", zh: "中文" };

/** @type {Text} */
export let text = en;

/** The language of `text`, a live binding too. @type {Language} */
export let language = "en";

/** @param {Language} chosen */
export function speak(chosen) {
  text = TABLES[chosen];
  language = chosen;
}

/**
 * @param {readonly string[]} wishes  language tags (BCP 47), the dearest first
 * @returns {Language}  the first that there is a table for, or English
 */
export function languageFor(wishes) {
  const codes = wishes.map((tag) => tag.toLowerCase().split("-")[0]);
  return /** @type {Language} */ (codes.find((code) => Object.hasOwn(TABLES, code)) ?? "en");
}
