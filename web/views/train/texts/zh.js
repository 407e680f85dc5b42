// @ts-check
/** Chinese texts of the Train view. */

import * as classes from "./zh/classes.js";
import * as insight from "./zh/insight.js";
import * as layers from "./zh/layers.js";
import * as review from "./zh/review.js";
import * as run from "./zh/run.js";
import * as take from "./zh/take.js";

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {
  ...run.page,
  ...classes.page,
  ...layers.page,
  ...insight.page,
  ...review.page,
  ...take.page,
};

/** @type {typeof import("./en.js").texts} */
export const texts = {
  ...run.texts,
  ...classes.texts,
  ...layers.texts,
  ...insight.texts,
  ...review.texts,
  ...take.texts,
};
