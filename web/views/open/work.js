// @ts-check
/**
 * What the view Open is doing: one thing at a time, with words, the seconds since it began, and a
 * button to cancel it.
 */

import { show } from "../../i18n/show.js";
import { text } from "../../i18n/text.js";

/**
 * @typedef {import("../../i18n/messages.js").Words} Words
 * @typedef {"reading" | "running"} Kind  of what is done: about files, or about the model
 *
 * @typedef {object} Place  where it is said
 * @property {HTMLElement} said
 * @property {HTMLButtonElement} cancel
 */

export class OpenWork {
  #root;
  #places;
  #since;
  #changed;
  /** Another number for everything that is done, so that what was cancelled is known. */
  #job = 0;
  /** @type {Kind | null} */
  #kind = null;
  /** The last run, until it is over: also one that nobody waits for any more. @type {Promise<void> | null} */
  running = null;
  /** @type {Record<Kind, Words>} */
  #words = { reading: "", running: "" };
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #clock;

  /**
   * @param {HTMLElement} root  says whether it is busy
   * @param {Record<Kind, Place>} places
   * @param {HTMLElement} since  for the seconds of a run
   * @param {() => void} changed  something has begun, or is done
   */
  constructor(root, places, since, changed) {
    this.#root = root;
    this.#places = places;
    this.#since = since;
    this.#changed = changed;
  }

  get busy() {
    return this.#kind !== null;
  }

  /** What is under way. */
  get kind() {
    return this.#kind;
  }

  /**
   * @param {Kind} kind
   * @param {Words} now  what is said meanwhile
   * @param {(current: () => boolean) => Promise<void>} work  current: whether this is still wanted
   * @param {(error: unknown) => void} fail  is called if it is
   */
  async start(kind, now, work, fail) {
    const job = ++this.#job;
    const current = () => job === this.#job;
    this.#kind = kind;
    this.#words = { reading: "", running: "", [kind]: now };
    this.#root.setAttribute("aria-busy", "true");
    this.#startClock();
    const working = (async () => {
      try {
        await work(current);
      } catch (error) {
        if (current()) fail(error);
      }
      if (current()) this.#rest(this.#words[kind] === now ? "" : this.#words[kind]);
    })();
    if (kind === "running") this.running = working;
    this.#tell();
    await working;
    if (this.running === working) this.running = null;
  }

  /** @param {Words} now  what is said from now on, and of a file also after that */
  say(now) {
    if (this.#kind) this.#words[this.#kind] = now;
    this.#tell();
  }

  /**
   * Nobody waits for it any more.
   * @param {Words} [last]  to be said of that
   */
  end(last = "") {
    this.#job += 1;
    this.#rest(last);
  }

  /** @param {Words} last */
  #rest(last) {
    const kind = this.#kind;
    this.#kind = null;
    this.#words = { reading: "", running: "" };
    if (kind) this.#words[kind] = last;
    clearInterval(this.#clock);
    this.#since.textContent = "";
    this.#root.setAttribute("aria-busy", "false");
    this.#tell();
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

  #tell() {
    for (const kind of /** @type {Kind[]} */ (["reading", "running"])) {
      show(this.#places[kind].said, this.#words[kind]);
      this.#places[kind].cancel.hidden = this.#kind !== kind;
    }
    this.#changed();
  }
}
