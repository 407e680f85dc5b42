// @ts-check
/** Chinese texts of the Train view: layers. */

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {};

/** @type {typeof import("../en/layers.js").texts} */
export const texts = {};
