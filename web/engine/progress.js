// @ts-check
/** Describes the worker's progress and failures in the page's texts. */

import { LocalizedError, words, wordsOf } from "../i18n/messages.js";

/** @typedef {import("../i18n/messages.js").Words} Words */
/** @typedef {{stage: string, done?: number, total?: number}} Progress  of a call */

/**
 * @param {Progress} progress
 * @returns {{words: Words, done?: number, total?: number}}
 */
export function describeProgress({ stage, done = 0, total = 0 }) {
  switch (stage) {
    case "download":
      return { words: words("loading", done, total), done, total };
    case "python":
      return { words: words("startingPython") };
    case "kernels":
      return { words: words("compiling", done, total), done, total };
    default:
      return { words: words("preparing") };
  }
}

/**
 * For catch(): wraps an error of Python or the browser in a sentence of the page.
 * @param {"startFailed" | "modelFailed"} entry
 * @param {...string} about
 * @returns {(error: unknown) => never}
 */
export function explained(entry, ...about) {
  return (error) => {
    const why = wordsOf(error);
    if (typeof why !== "string" && why.entry !== "unexpected") throw error;
    throw new LocalizedError({ entry, about: [...about, why] });
  };
}
