// @ts-check
/** The page's languages and their tables. Workers have only English. */

import en from "./en/index.js";
import { page as enPage } from "./en/page.js";
import { setLanguage } from "./text.js";
import zh from "./zh/index.js";
import { page as zhPage } from "./zh/page.js";

/** @typedef {import("./text.js").Language} Language */

/** @type {Record<Language, import("./text.js").Text>} */
const TABLES = { en, zh };

/** The texts that the HTML already contains. @type {Record<Language, typeof enPage>} */
const PAGES = { en: enPage, zh: zhPage };

/** The languages' own names. @type {Record<Language, string>} */
export const LANGUAGES = { en: "English", zh: "中文" };

/** Those of the current language; a live binding. @type {typeof enPage} */
export let page = enPage;

/** @param {Language} chosen */
export function choose(chosen) {
  page = PAGES[chosen];
  setLanguage(chosen, TABLES[chosen]);
}

/**
 * @param {readonly string[]} preferred  language tags (BCP 47), in order of preference
 * @returns {Language}  the first one with a table, or English
 */
export function languageFor(preferred) {
  const codes = preferred.map((tag) => tag.toLowerCase().split("-")[0]);
  return /** @type {Language} */ (codes.find((code) => Object.hasOwn(TABLES, code)) ?? "en");
}
