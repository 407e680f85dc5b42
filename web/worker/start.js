// @ts-check
/**
 * Chooses and changes the worker's device, as a state machine. The work on devices is injected, so
 * tests need no browser.
 *
 *     fresh ──begin──▶ begun ──change──▶ changing ──▶ ready
 *       └─────────────change────────────▶ ▲    └────▶ failed
 *                                         └──change─── ready, failed, changing
 *
 * begun: the device is being opened and the first model fetched, as the page's address suggests,
 * before the page asks. changing: questions wait until the last change has ended.
 */

/**
 * @template O, B
 * @typedef {object} Work  the injected work
 * @property {(device: Wanted) => Promise<O>} open  opens a device; never rejects
 * @property {(name: string, opening: Promise<O>) => Promise<B>} fetchModel  fetches a model for a
 *   device
 * @property {(fetched: B) => void} drop  frees a model that nobody asked for
 * @property {() => void} leave  frees what the old device holds, before the next one is used
 * @property {import("./queue.js").Queue} changes  of the device and of the models
 */

/**
 * @typedef {import("../shared/devices.js").Wanted} Wanted
 * @typedef {"fresh" | "begun" | "changing" | "ready" | "failed"} State
 */

/** @type {Record<State, State[]>} */
const NEXT = {
  fresh: ["begun", "changing"],
  begun: ["changing"],
  changing: ["changing", "ready", "failed"],
  ready: ["changing"],
  failed: ["changing"],
};

/**
 * @template O, B
 */
export class Start {
  /** @type {State} */
  #state = "fresh";
  #work;
  /** The latest device. @type {Promise<O>} */
  #opening;
  /** The device that begin() opened, until a change takes it. @type {Wanted | null} */
  #begun = null;
  /**
   * The model that begin() fetches.
   * @type {Promise<{name: string, fetching: Promise<B>} | null>}
   */
  #early = Promise.resolve(null);
  /** The last change. @type {Promise<unknown>} */
  #last = Promise.resolve();
  #changeCount = 0;

  /**
   * @param {Work<O, B>} work
   * @param {Promise<O>} none  stands for the device before there is one
   */
  constructor(work, none) {
    this.#work = work;
    this.#opening = none;
  }

  get state() {
    return this.#state;
  }

  /** The latest device, which may still be opening. */
  get opening() {
    return this.#opening;
  }

  /** How often the device was changed. */
  get changeCount() {
    return this.#changeCount;
  }

  /**
   * Start what the page will probably ask for.
   * @param {Wanted} device
   * @param {Promise<string> | null} finding  the name of the first model, if one is needed
   */
  begin(device, finding) {
    this.#enter("begun");
    this.#begun = device;
    this.#opening = this.#work.open(device);
    if (finding) this.#early = this.#fetchEarly(finding);
  }

  /**
   * Switch to a device, after all earlier changes.
   * @template T
   * @param {Wanted} device
   * @param {(opened: O) => Promise<T>} use  starts to use the device
   * @param {() => Promise<unknown>} [before]  ends work that needs the old device
   * @returns {Promise<T>}
   */
  change(device, use, before = async () => {}) {
    this.#enter("changing");
    const mine = this.#work.changes.add(async () => {
      await before();
      this.#changeCount += 1;
      if (this.#begun !== device) this.#opening = this.#work.open(device);
      this.#begun = null;
      const opened = await this.#opening;
      this.#work.leave();
      return use(opened);
    });
    this.#last = mine;
    const end = (/** @type {State} */ state) => {
      if (this.#last === mine) this.#enter(state);
    };
    mine.then(
      () => end("ready"),
      () => end("failed"),
    );
    return mine;
  }

  /** Resolves when no change is under way. A failed change rejects only for its caller. */
  settled() {
    return this.#last.catch(() => {});
  }

  /**
   * Fetch a model for the current device, or take the one that begin() fetches.
   * @param {string} name
   * @returns {Promise<B>}
   */
  async fetchModel(name) {
    const early = this.#early;
    this.#early = Promise.resolve(null);
    const found = await early;
    if (found?.name === name) return found.fetching;
    found?.fetching.then(this.#work.drop, () => {});
    return this.#work.fetchModel(name, this.#opening);
  }

  /** @param {Promise<string>} finding */
  async #fetchEarly(finding) {
    try {
      const name = await finding;
      const fetching = this.#work.fetchModel(name, this.#opening);
      fetching.catch(() => {}); // handled by the caller of fetchModel()
      return { name, fetching };
    } catch {
      return null; // the page looks up the name too, and reports the failure
    }
  }

  /** @param {State} state */
  #enter(state) {
    if (!NEXT[this.#state].includes(state)) {
      throw new Error(`The worker is ${this.#state}: it cannot become ${state}.`);
    }
    this.#state = state;
  }
}
