// @ts-check
/**
 * The current work of the Open view, one task at a time: its status, its seconds and a button to
 * cancel it.
 */

import { show } from "../../i18n/show.js";
import { text } from "../../i18n/text.js";

/**
 * @typedef {import("../../i18n/messages.js").Words} Words
 * @typedef {"reading" | "running"} Kind  of work: on files, or with the model
 *
 * @typedef {object} Elements  that show a kind of work
 * @property {HTMLElement} status
 * @property {HTMLButtonElement} cancel
 */

export class OpenWork {
  #root;
  #elements;
  #since;
  #changed;
  /** The id of the current task, to recognise cancelled ones. */
  #job = 0;
  /** @type {Kind | null} */
  #kind = null;
  /** The last run until it ends, even if it was cancelled. @type {Promise<void> | null} */
  running = null;
  /** Stops the current work. */
  #stop = new AbortController();
  /** @type {Record<Kind, Words>} */
  #statuses = { reading: "", running: "" };
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #clock;

  /**
   * @param {HTMLElement} root  gets aria-busy
   * @param {Record<Kind, Elements>} elements
   * @param {HTMLElement} since  shows the seconds of a run
   * @param {() => void} changed  called when work starts or ends
   */
  constructor(root, elements, since, changed) {
    this.#root = root;
    this.#elements = elements;
    this.#since = since;
    this.#changed = changed;
  }

  get busy() {
    return this.#kind !== null;
  }

  /** The kind of the current work. */
  get kind() {
    return this.#kind;
  }

  /**
   * @param {Kind} kind
   * @param {Words} status  shown meanwhile
   * @param {(current: () => boolean, signal: AbortSignal) => Promise<void>} work  current: whether
   *   it is still wanted; signal: aborted when it is not
   * @param {(error: unknown) => void} fail  called if it is still wanted
   */
  async start(kind, status, work, fail) {
    const job = ++this.#job;
    this.#stop.abort();
    const { signal } = (this.#stop = new AbortController());
    const current = () => job === this.#job;
    this.#kind = kind;
    this.#statuses = { reading: "", running: "", [kind]: status };
    this.#root.setAttribute("aria-busy", "true");
    this.#startClock();
    const working = (async () => {
      try {
        await work(current, signal);
      } catch (error) {
        if (current()) fail(error);
      }
      if (current()) this.#becomeIdle(this.#statuses[kind] === status ? "" : this.#statuses[kind]);
    })();
    if (kind === "running") this.running = working;
    this.#render();
    await working;
    if (this.running === working) this.running = null;
  }

  /** @param {Words} status  shown from now on, even after the work has ended */
  say(status) {
    if (this.#kind) this.#statuses[this.#kind] = status;
    this.#render();
  }

  /**
   * Cancel the work.
   * @param {Words} [last]  the status after that
   */
  end(last = "") {
    this.#job += 1;
    this.#stop.abort();
    this.#becomeIdle(last);
  }

  /** @param {Words} last */
  #becomeIdle(last) {
    const kind = this.#kind;
    this.#kind = null;
    this.#statuses = { reading: "", running: "" };
    if (kind) this.#statuses[kind] = last;
    clearInterval(this.#clock);
    this.#since.textContent = "";
    this.#root.setAttribute("aria-busy", "false");
    this.#render();
  }

  #startClock() {
    const began = performance.now();
    clearInterval(this.#clock);
    this.#since.textContent = "";
    this.#clock = setInterval(() => {
      if (this.#kind !== "running") return;
      const seconds = Math.round((performance.now() - began) / 1000);
      this.#since.textContent = text.openSeconds(seconds);
    }, 1000);
  }

  #render() {
    for (const kind of /** @type {Kind[]} */ (["reading", "running"])) {
      show(this.#elements[kind].status, this.#statuses[kind]);
      this.#elements[kind].cancel.hidden = this.#kind !== kind;
    }
    this.#changed();
  }
}
