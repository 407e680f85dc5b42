// @ts-check
/** What the worker is doing, and what went wrong, in sentences of the page. */

import { LocalizedError, words, wordsOf } from "../i18n/messages.js";

/** @typedef {import("../i18n/messages.js").Words} Words */

/**
 * The worker's progress.
 * @param {{stage: string, done?: number, total?: number}} progress
 * @returns {{words: Words, done?: number, total?: number}}
 */
export function inWords({ stage, done = 0, total = 0 }) {
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
 * For catch(): what Python or the browser says of a failure, in a sentence of the page.
 * @param {"startFailed" | "modelFailed"} entry
 * @param {...string} about
 * @returns {(error: unknown) => never}
 */
export function inOurWords(entry, ...about) {
  return (error) => {
    const why = wordsOf(error);
    if (typeof why !== "string" && why.entry !== "unexpected") throw error;
    throw new LocalizedError({ entry, about: [...about, why] });
  };
}
