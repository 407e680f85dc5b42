// @ts-check
/** The worker's end of rpc.js: answers requests from a table of actions. */

import { publicWords, wordsOf } from "../i18n/messages.js";

/**
 * @typedef {object} Context  of a call, for its action
 * @property {AbortSignal} signal  aborted when the page wants the action to stop
 * @property {(report: object | null) => void} progress  tells the page how far the action is; null
 *   says that it is still running. All reports arrive, in order
 *
 * @typedef {(args: any, context: Context) => unknown} Action
 */

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

// Why: docs/decisions/page.md, "Reports of one frame are one message"
/** Reports that follow another one sooner than this many milliseconds are sent together. */
const FRAME_MS = 16;

/** How often a call that has nothing to report says that it is still running. */
const ALIVE_MS = 10_000;

/** A request until its response. */
class Call {
  #id;
  #stop = new AbortController();
  /** Reports that are not yet sent. @type {object[]} */
  #waiting = [];
  #sentAt = -Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {number} id */
  constructor(id) {
    this.#id = id;
  }

  get signal() {
    return this.#stop.signal;
  }

  abort() {
    this.#stop.abort();
  }

  /** @param {object | null} report  null: it is still running, and has nothing to report */
  progress = (report) => {
    if (report === null) return this.#goOn();
    this.#waiting.push(report);
    const rest = this.#sentAt + FRAME_MS - performance.now();
    if (rest <= 0) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), rest);
  };

  /** Break the silence now and then: the page takes a silent worker for a stuck one. */
  #goOn() {
    if (performance.now() - this.#sentAt < ALIVE_MS) return;
    postMessage({ id: this.#id, progress: [] });
    this.#sentAt = performance.now();
  }

  /** Send the reports that wait. */
  flush() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#waiting.length) return;
    postMessage({ id: this.#id, progress: this.#waiting });
    this.#waiting = [];
    this.#sentAt = performance.now();
  }
}

/** Those with an id: nobody waits for the others. @type {Map<number, Call>} */
const calls = new Map();

/**
 * What was announced before the first call, the last of each stage; null from then on.
 * @type {Map<string, object> | null}
 */
let early = new Map();

/**
 * Report what all open calls wait for: downloads, kernels. The first call hears what came before.
 * @param {{stage: string, done?: number, total?: number}} report
 */
export function announce(report) {
  for (const call of calls.values()) call.progress(report);
  early?.set(report.stage, report);
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
 * @param {(action: string) => Promise<void>} [addTo]  adds an action that is not there yet, if it
 *   can
 */
export function serve(actions, addTo) {
  addEventListener("message", async ({ data: { id, action, args, abort } }) => {
    if (abort) return calls.get(abort)?.abort(); // unless it has ended
    const call = new Call(id);
    if (id) {
      calls.set(id, call);
      early?.forEach(call.progress);
      early = null;
    }
    const end = (/** @type {object} */ response, /** @type {Transferable[]} */ transfer = []) => {
      call.flush();
      postMessage({ id, ...response }, { transfer });
    };
    try {
      if (!Object.hasOwn(actions, action)) await addTo?.(action);
      const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
      if (!run)
        throw new Error(
          `The worker has no action ${action}; it has ${Object.keys(actions).join(", ")}.`,
        );
      const done = await run(args, { signal: call.signal, progress: call.progress });
      const { result, parts } = done instanceof Handed ? done : new Handed(done, []);
      end({ result }, parts);
    } catch (error) {
      // With its stack or Python traceback.
      if (error !== call.signal.reason) console.error(error);
      end({ error: describeError(error) });
    } finally {
      calls.delete(id);
    }
    return undefined;
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
