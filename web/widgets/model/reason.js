// @ts-check
/** Why something failed, in one line. */

import { words, wordsOf } from "../../i18n/messages.js";

/** How JavaScript and Python name the end of the memory; devices say more of it. */
const MEMORY = /^(?:MemoryError|RangeError)|allocation failed|could not allocate/i;

/** @param {unknown} error @returns {import("../../i18n/messages.js").Words} */
export function reason(error) {
  const { type = "", message = "" } = /** @type {any} */ (error ?? {});
  return MEMORY.test(type) || MEMORY.test(message) ? words("choiceMemory") : wordsOf(error);
}
