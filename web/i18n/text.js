// @ts-check
/**
 * The texts in the current language. A worker has only its own, in English; the page has all of
 * them (languages.js).
 *
 * `text` is a live binding: read its entries when they are shown, and do not store them.
 */

import { messages } from "./en/messages.js";

/** @typedef {typeof import("./en/index.js").default} Text */
/** @typedef {"en" | "zh"} Language */

/** In a worker, only `messages`. @type {Text} */
export let text = /** @type {Text} */ (messages);

/** The language of `text`; a live binding too. @type {Language} */
export let language = "en";

/** @type {(() => void)[]} */
const listeners = [];

/**
 * @param {Language} chosen
 * @param {Text} table
 */
export function setLanguage(chosen, table) {
  language = chosen;
  text = table;
  for (const listener of listeners) listener();
}

/** @param {() => void} listener  called after each change of the language */
export function onLanguage(listener) {
  listeners.push(listener);
}
