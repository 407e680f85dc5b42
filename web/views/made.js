// @ts-check
/** Makes the views, so that one that fails leaves the others as they are. */

import { show } from "../i18n/show.js";
import { words, wordsOf } from "../i18n/messages.js";

/** @import {Page, View} from "./view.js" */

/**
 * @param {new (root: HTMLElement, page: Page) => View} View
 * @param {HTMLElement} root
 * @param {Page} page
 * @returns {View}  if it throws, one that does nothing, below whose title stands why
 */
export function made(View, root, page) {
  try {
    return new View(root, page);
  } catch (error) {
    console.error(error);
    const line = Object.assign(document.createElement("p"), { role: "alert" });
    show(line, words("viewFailed", /** @type {any} */ (wordsOf(error))));
    root.replaceChildren(.../** @type {any} */ ([root.firstElementChild]), line);
    return { model: async () => null, answer: () => {}, untouched: true };
  }
}
