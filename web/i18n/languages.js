// @ts-check
/** The languages of the page, each with its table. A worker knows English alone. */

import en from "./en/index.js";
import { page as enPage } from "./en/page.js";
import { speak } from "./text.js";
import zh from "./zh/index.js";
import { page as zhPage } from "./zh/page.js";

/** @typedef {import("./text.js").Language} Language */

/** @type {Record<Language, import("./text.js").Text>} */
const TABLES = { en, zh };

/** What stands in the HTML from the beginning. @type {Record<Language, typeof enPage>} */
const PAGES = { en: enPage, zh: zhPage };

/** Each language by its own name. @type {Record<Language, string>} */
export const LANGUAGES = { en: "English", zh: "中文" };

/** In the language that is chosen, a live binding. @type {typeof enPage} */
export let page = enPage;

/** @param {Language} chosen */
export function choose(chosen) {
  page = PAGES[chosen];
  speak(chosen, TABLES[chosen]);
}

/**
 * @param {readonly string[]} wishes  language tags (BCP 47), the dearest first
 * @returns {Language}  the first that there is a table for, or English
 */
export function languageFor(wishes) {
  const codes = wishes.map((tag) => tag.toLowerCase().split("-")[0]);
  return /** @type {Language} */ (codes.find((code) => Object.hasOwn(TABLES, code)) ?? "en");
}
