// @ts-check
/**
 * The texts in the language that is chosen: a worker's are English; the page has
 * all of its own, in its language (languages.js).
 *
 * `text` is a live binding: read its entries where they are shown, and do not keep them.
 */

import { messages } from "./en/messages.js";

/** @typedef {typeof import("./en/index.js").default} Text */
/** @typedef {"en" | "zh"} Language */

/** Without a page, those of a worker alone. @type {Text} */
export let text = /** @type {Text} */ (messages);

/** The language of `text`, a live binding too. @type {Language} */
export let language = "en";

/** @type {(() => void)[]} */
const listeners = [];

/**
 * @param {Language} chosen
 * @param {Text} table
 */
export function speak(chosen, table) {
  language = chosen;
  text = table;
  for (const listener of listeners) listener();
}

/** @param {() => void} listener  hears of each language that is spoken from now on */
export function onSpeak(listener) {
  listeners.push(listener);
}
