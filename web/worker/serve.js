// @ts-check
/**
 * The worker's end of rpc.js: a table of actions answers requests; errors cross as words.
 */

import { publicWords, wordsOf } from "../i18n/messages.js";

/** @typedef {(args: any) => unknown} Action */

/**
 * Send an event to the page.
 * @param {string} event
 * @param {Record<string, unknown>} [data]
 */
export function emit(event, data = {}) {
  postMessage({ event, ...data });
}

/**
 * Answer requests from this table.
 * @param {Record<string, Action>} actions
 */
export function serve(actions) {
  addEventListener("message", async ({ data: { id, action, args } }) => {
    try {
      const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
      if (!run)
        throw new Error(
          `The worker has no action ${action}; it has ${Object.keys(actions).join(", ")}.`,
        );
      postMessage({ id, result: await run(args) });
    } catch (error) {
      console.error(error); // with its stack or Python traceback, for whoever opens the console
      postMessage({ id, error: describeError(error) });
    }
  });
}

/**
 * An error, as it crosses to the page.
 * @param {any} error
 * @returns {{type: string, words: import("../i18n/messages.js").Words}}
 */
export function describeError(error) {
  if (error?.name !== "PythonError") {
    return { type: error?.name ?? "Error", words: wordsOf(error) };
  }
  // The message of a PythonError is the whole traceback; the page wants what the exception itself says.
  const last = new RegExp(String.raw`^(?:\w+\.)*${error.type}(?:: |$)`, "gm");
  const start = [...error.message.matchAll(last)].at(-1);
  const message = start ? error.message.slice(start.index + start[0].length) : error.message;
  return { type: error.type, words: publicWords(error.type, message.trim() || error.type) };
}
