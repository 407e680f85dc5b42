// @ts-check
/** The worker's end of rpc.js: answers requests from a table of actions. */

import { publicWords, wordsOf } from "../i18n/messages.js";

/** @typedef {(args: any) => unknown} Action */

/** The result of an action, with what of it is handed over instead of copied. */
export class Handed {
  /**
   * @param {unknown} result
   * @param {Transferable[]} parts
   */
  constructor(result, parts) {
    this.result = result;
    this.parts = parts;
  }
}

/**
 * Send an event to the page.
 * @param {string} event
 * @param {Record<string, unknown>} [data]
 */
export function emit(event, data = {}) {
  postMessage({ event, ...data });
}

/**
 * Answer requests with these actions.
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
      const done = await run(args);
      const { result, parts } = done instanceof Handed ? done : new Handed(done, []);
      postMessage({ id, result }, { transfer: parts });
    } catch (error) {
      console.error(error); // with its stack or Python traceback
      postMessage({ id, error: describeError(error) });
    }
  });
}

/**
 * An error, in the form in which it is sent to the page.
 * @param {any} error
 * @returns {{type: string, words: import("../i18n/messages.js").Words}}
 */
export function describeError(error) {
  if (error?.name !== "PythonError") {
    return { type: error?.name ?? "Error", words: wordsOf(error) };
  }
  // The message of a PythonError is the whole traceback; the page shows only that of the exception.
  const last = new RegExp(String.raw`^(?:\w+\.)*${error.type}(?:: |$)`, "gm");
  const start = [...error.message.matchAll(last)].at(-1);
  const message = start ? error.message.slice(start.index + start[0].length) : error.message;
  return { type: error.type, words: publicWords(error.type, message.trim() || error.type) };
}
