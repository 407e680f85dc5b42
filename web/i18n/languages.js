// @ts-check
/** The page's languages and their tables. Workers have only English. */

import en from "./en/index.js";
import { setLanguage } from "./text.js";
import zh from "./zh/index.js";
import { page as zhPage } from "./zh/page.js";

/** @typedef {import("./text.js").Language} Language */

/**
 * @typedef {object} ViewTable  the texts of a view in a language
 * @property {Record<string, unknown>} texts  those that its modules show
 * @property {Record<string, string>} [page]  those that its HTML has in English
 */

/** @type {Record<Language, object>} */
const TABLES = { en, zh };

/** Translations of what the HTML has in English. @type {Record<Language, Record<string, string>>} */
const PAGES = { en: {}, zh: zhPage };

/** The languages' own names. @type {Record<Language, string>} */
export const LANGUAGES = { en: "English", zh: "中文" };

/** Those into the current language; a live binding. */
export let page = PAGES.en;

/**
 * Add the texts of the views, before any is shown.
 * @param {Record<Language, ViewTable[]>} tables
 */
export function addTexts(tables) {
  for (const code of /** @type {Language[]} */ (Object.keys(tables))) {
    for (const { texts, page: translated } of tables[code]) {
      Object.assign(TABLES[code], texts);
      Object.assign(PAGES[code], translated);
    }
  }
}

/** @param {Language} chosen */
export function choose(chosen) {
  page = PAGES[chosen];
  setLanguage(chosen, /** @type {import("./text.js").Text} */ (TABLES[chosen]));
}

/**
 * @param {readonly string[]} preferred  language tags (BCP 47), in order of preference
 * @returns {Language}  the first one with a table, or English
 */
export function languageFor(preferred) {
  const codes = preferred.map((tag) => tag.toLowerCase().split("-")[0]);
  return /** @type {Language} */ (codes.find((code) => Object.hasOwn(TABLES, code)) ?? "en");
}
