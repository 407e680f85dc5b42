// @ts-check
/** Chinese texts of the Train view: insight. */

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {};

/** @type {typeof import("../en/insight.js").texts} */
export const texts = {};
