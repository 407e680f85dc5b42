// @ts-check
/**
 * Call a worker's actions as promises.
 *
 * Request {id, action, args}; answer {id, result} or {id, error: {type, words}}; the worker may
 * also send events {event, ...}. worker/serve.js is the other end. When the worker itself fails,
 * every open call is rejected, and so is every later one: nothing waits for ever.
 *
 * A worker counts as stuck when calls are open and no word comes from it, neither answers nor
 * events, for as long as its owner's patience. Slow but honest work tells of its progress: a slow
 * network with every piece that arrives, a slow compiler with every kernel.
 */

import { LocalizedError, shownOfText, words } from "../i18n/messages.js";

/** An error that a worker's action raised, or the failure of the worker itself. */
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

/** The silence of a worker is counted in ticks, since the clock runs on while a machine sleeps. */
const TICK_MS = 1000;

export class Rpc {
  /** @type {Map<number, {resolve: (value: any) => void, reject: (error: Error) => void}>} */
  #open = new Map();
  /** @type {Map<string, ((data: any) => void)[]>} */
  #listeners = new Map();
  #next = 1;
  /** @type {RemoteError | null} */
  #closed = null;
  /** Ticks without a word. */
  #silent = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #ticking;
  #worker;
  #patience;

  /**
   * @param {URL} url  of a module worker that calls serve()
   * @param {number} [patience]  seconds of silence after which it counts as stuck
   * @param {import("../boot/begun.js").Begun} [begun]  such a worker, which has been started already
   */
  constructor(url, patience = Infinity, begun) {
    const hear = (/** @type {MessageEvent} */ { data }) => this.#receive(data);
    const fail = (/** @type {ErrorEvent} */ event) => {
      // A module that can't be loaded raises an event without a message.
      const why = event.message ? shownOfText(event.message) : words("noWorkerFile", url.pathname);
      this.close(words("workerFailed", why));
    };
    this.#patience = patience;
    this.#worker = begun?.worker ?? new Worker(url, { type: "module" });
    this.#worker.onmessage = hear;
    this.#worker.onerror = fail;
    this.#worker.onmessageerror = () => this.close(words("workerGarbled"));
    if (begun) {
      // Whoever made this listens by then.
      queueMicrotask(() => {
        begun.said.forEach(hear);
        if (begun.failed) fail(begun.failed);
      });
    }
  }

  /**
   * @param {string} action
   * @param {Record<string, unknown>} [args]
   * @param {Transferable[]} [transfer]
   * @returns {Promise<any>}
   * @throws {RemoteError}
   */
  call(action, args = {}, transfer = []) {
    if (this.#closed) return Promise.reject(this.#closed);
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#open.set(id, { resolve, reject });
      this.#ticking ??= setInterval(() => this.#tick(), TICK_MS);
      this.#worker.postMessage({ id, action, args }, transfer);
    });
  }

  /**
   * Hear an event. "close" is raised here, with {reason}, when the worker has failed or was closed.
   * @param {string} event
   * @param {(data: any) => void} listener
   */
  on(event, listener) {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
  }

  /**
   * Stop the worker; open and later calls are rejected with the reason.
   * @param {import("../i18n/messages.js").Words} reason
   */
  close(reason) {
    if (this.#closed) return;
    this.#closed = new RemoteError("WorkerClosed", reason);
    this.#worker.terminate();
    for (const { reject } of this.#open.values()) reject(this.#closed);
    this.#open.clear();
    this.#rest();
    this.#raise("close", { reason });
  }

  #tick() {
    this.#silent += 1;
    if (this.#silent >= this.#patience) this.close(words("workerStuck", this.#patience));
  }

  /** Nothing is asked any more. */
  #rest() {
    clearInterval(this.#ticking);
    this.#ticking = undefined;
    this.#silent = 0;
  }

  /** @param {any} data */
  #receive(data) {
    this.#silent = 0;
    if (data.event) {
      this.#raise(data.event, data);
      return;
    }
    const call = this.#open.get(data.id);
    this.#open.delete(data.id);
    if (!this.#open.size) this.#rest();
    if (data.error) call?.reject(new RemoteError(data.error.type, data.error.words));
    else call?.resolve(data.result);
  }

  /**
   * @param {string} event
   * @param {any} data
   */
  #raise(event, data) {
    for (const listener of this.#listeners.get(event) ?? []) listener(data);
  }
}
