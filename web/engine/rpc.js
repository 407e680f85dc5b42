// @ts-check
/**
 * Calls a worker's actions as promises.
 *
 * A request is {id, action, args}; a response is {id, result} or {id, error: {type, words}}. Until
 * then the worker may send {id, progress: [...]}, and the page {abort: id}. Events, {event, ...},
 * belong to no call. worker/serve.js is the other end. When the worker fails, all open and later
 * calls are rejected, so no call waits forever.
 *
 * A worker counts as stuck when calls are open and it has sent nothing for `patience` seconds. Slow work reports progress: downloads with every chunk, compilation with
 * every kernel. Before its first message it has less time, since some never begin: in Firefox on a
 * busy machine, now and then, one of which nothing is heard after it has started a worker itself.
 */

import { LocalizedError, publicTextOf, words } from "../i18n/messages.js";

/** An error thrown by a worker's action, or the failure of the worker itself. */
export class RemoteError extends LocalizedError {
  name = "RemoteError";

  /**
   * @param {string} type  the error's own class name, for example "OnnxError"
   * @param {import("../i18n/messages.js").Words} words
   */
  constructor(type, words) {
    super(words);
    this.type = type;
  }
}

/**
 * @typedef {object} Options  of a call
 * @property {AbortSignal} [signal]  asks the action to stop
 * @property {(progress: any) => void} [onProgress]  gets all that the action reports, in order;
 *   after an abort, what its last step reports
 * @property {Transferable[]} [transfer]  what of the arguments is handed over instead of copied
 *
 * @typedef {object} Call
 * @property {(value: any) => void} resolve
 * @property {(error: unknown) => void} reject
 * @property {AbortSignal} [signal]
 * @property {(progress: any) => void} [onProgress]
 * @property {() => void} abort
 */

/** Silence is counted in ticks, because clocks go on while a machine sleeps. */
const TICK_MS = 1000;

export class Rpc {
  /** @type {Map<number, Call>} */
  #open = new Map();
  /** @type {Map<string, ((data: any) => void)[]>} */
  #listeners = new Map();
  #next = 1;
  /** @type {RemoteError | null} */
  #closed = null;
  /** Ticks since the last message. */
  #silent = 0;
  #spoke = false;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #ticking;
  #worker;
  #patience;
  /** The patience from the first message on. */
  #usual;

  /**
   * @param {URL} url  of a module worker that calls serve()
   * @param {number} [patience]  seconds of silence after which it counts as stuck
   * @param {import("./first_worker.js").FirstWorker} [first]  a worker that was already
   *   started
   * @param {number} [beginning]  the patience until its first message
   */
  constructor(url, patience = Infinity, first = undefined, beginning = patience) {
    const receive = (/** @type {MessageEvent} */ { data }) => this.#receive(data);
    const fail = (/** @type {ErrorEvent} */ event) => {
      // If a module can't be loaded, the event has no message.
      const why = event.message ? publicTextOf(event.message) : words("noWorkerFile", url.pathname);
      this.close(words("workerFailed", why));
    };
    this.#patience = beginning;
    this.#usual = patience;
    this.#worker = first?.worker ?? new Worker(url, { type: "module" });
    this.#worker.onmessage = receive;
    this.#worker.onerror = fail;
    this.#worker.onmessageerror = () => this.close(words("workerGarbled"));
    if (first) {
      // By then the caller has added its listeners.
      queueMicrotask(() => {
        first.messages.forEach(receive);
        if (first.failed) fail(first.failed);
      });
    }
  }

  // Why: docs/decisions/page.md, "An aborted call ends when its action has"
  /**
   * @param {string} action
   * @param {Record<string, unknown>} [args]
   * @param {Options} [options]
   * @returns {Promise<any>}
   * @throws {RemoteError}
   * @throws the signal's reason if it was aborted: once the action has ended, whatever came of it;
   *   at once, without a request, if it was aborted before the call
   */
  call(action, args = {}, { signal, onProgress, transfer = [] } = {}) {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#closed) return Promise.reject(this.#closed);
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const abort = () => this.#worker.postMessage({ abort: id });
      this.#open.set(id, { resolve, reject, signal, onProgress, abort });
      signal?.addEventListener("abort", abort);
      this.#ticking ??= setInterval(() => this.#tick(), TICK_MS);
      this.#worker.postMessage({ id, action, args }, transfer);
    });
  }

  /**
   * Listen to an event. "close" comes from here, with {reason, spoke}, when the worker failed or
   * was closed; spoke: whether it has ever sent a message.
   * @param {string} event
   * @param {(data: any) => void} listener
   */
  on(event, listener) {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
  }

  /**
   * Stop the worker. Open and later calls are rejected with the reason.
   * @param {import("../i18n/messages.js").Words} reason
   */
  close(reason) {
    if (this.#closed) return;
    this.#closed = new RemoteError("WorkerClosed", reason);
    this.#worker.terminate();
    for (const id of this.#open.keys()) this.#end(id, { error: this.#closed });
    this.#raise("close", { reason, spoke: this.#spoke });
  }

  // Why: docs/decisions/page.md, "A stuck worker is recognised by its silence"
  #tick() {
    this.#silent += 1;
    if (this.#silent >= this.#patience) this.close(words("workerStuck", this.#patience));
  }

  /** Stops the timer; called when no call is open. */
  #rest() {
    clearInterval(this.#ticking);
    this.#ticking = undefined;
    this.#silent = 0;
  }

  /** @param {any} data */
  #receive(data) {
    this.#silent = 0;
    this.#spoke = true;
    this.#patience = this.#usual;
    if (data.event) {
      this.#raise(data.event, data);
      return;
    }
    const { id, progress, result, error } = data;
    if (!progress) {
      this.#end(id, { result, error: error && new RemoteError(error.type, error.words) });
      return;
    }
    for (const report of progress) this.#open.get(id)?.onProgress?.(report);
  }

  /**
   * @param {number} id  of a call
   * @param {{result?: unknown, error?: RemoteError}} outcome
   */
  #end(id, { result, error }) {
    const call = this.#open.get(id);
    this.#open.delete(id);
    if (!this.#open.size) this.#rest();
    if (!call) return;
    const { signal, resolve, reject, abort } = call;
    signal?.removeEventListener("abort", abort);
    if (signal?.aborted) reject(signal.reason);
    else if (error) reject(error);
    else resolve(result);
  }

  /**
   * @param {string} event
   * @param {any} data
   */
  #raise(event, data) {
    for (const listener of this.#listeners.get(event) ?? []) listener(data);
  }
}
