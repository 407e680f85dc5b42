// @ts-check
/** Chinese texts of the Train view: review. */

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {};

/** @type {typeof import("../en/review.js").texts} */
export const texts = {};
