// @ts-check
/**
 * Which device the worker computes on: its start, and every change, as a state machine. What it does
 * with a device is given to it, so that its transitions can be tested without a browser.
 *
 *     fresh ──begin──▶ begun ──change──▶ changing ──▶ ready
 *       └─────────────change────────────▶ ▲    └────▶ failed
 *                                         └──change─── ready, failed, changing
 *
 * begun: the page's address told what it will ask for, so that the device is being opened, and the
 * first model fetched, before it asks. changing: questions wait until the last change has ended.
 */

/**
 * @template G, B
 * @typedef {object} Work  what the machine has done
 * @property {(device: Device) => Promise<G>} open  a device; one that cannot be opened is a G too
 * @property {(name: string, opening: Promise<G>) => Promise<B>} bring  fetches a model for a device
 * @property {(brought: B) => void} drop  what nobody asked for
 * @property {() => void} leave  lets go of what the device before had, before the next one is used:
 *   nothing may meet that meanwhile
 * @property {import("./queue.js").Queue} changes  of the device and of the models
 */

/**
 * @typedef {"webgpu" | "numpy"} Device
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
 * @template G, B
 */
export class Start {
  /** @type {State} */
  #state = "fresh";
  #work;
  /** The device that was opened last. @type {Promise<G>} */
  #opening;
  /** What begin() opened, until a change takes it. @type {Device | null} */
  #begun = null;
  /** What begin() fetches. @type {Promise<{name: string, bringing: Promise<B>} | null>} */
  #early = Promise.resolve(null);
  /** The last change. @type {Promise<unknown>} */
  #last = Promise.resolve();
  #era = 0;

  /**
   * @param {Work<G, B>} work
   * @param {G} none  the device before there is one
   */
  constructor(work, none) {
    this.#work = work;
    this.#opening = Promise.resolve(none);
  }

  get state() {
    return this.#state;
  }

  /** The device that was opened last, on its way or there. */
  get gpu() {
    return this.#opening;
  }

  /** How often the device was changed. */
  get era() {
    return this.#era;
  }

  /**
   * Begin what the page will ask for.
   * @param {Device} device
   * @param {Promise<string> | null} finding  the name of the first model, if one is needed
   */
  begin(device, finding) {
    this.#enter("begun");
    this.#begun = device;
    this.#opening = this.#work.open(device);
    if (finding) this.#early = this.#bringEarly(finding);
  }

  /**
   * Compute on this device from now on, after all changes that were asked for before.
   * @template T
   * @param {Device} device
   * @param {(gpu: G) => Promise<T>} use  makes use of it
   * @param {() => Promise<unknown>} [before]  ends what needs the old one
   * @returns {Promise<T>}
   */
  change(device, use, before = async () => {}) {
    this.#enter("changing");
    const mine = this.#work.changes.add(async () => {
      await before();
      this.#era += 1;
      if (this.#begun !== device) this.#opening = this.#work.open(device);
      this.#begun = null;
      const gpu = await this.#opening;
      this.#work.leave();
      return use(gpu);
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

  /** Resolves when no change is under way; who asked for one that failed hears of that. */
  settled() {
    return this.#last.catch(() => {});
  }

  /**
   * Fetch a model for the device of now: what begin() fetches, if it is that.
   * @param {string} name
   * @returns {Promise<B>}
   */
  async bring(name) {
    const early = this.#early;
    this.#early = Promise.resolve(null);
    const found = await early;
    if (found?.name === name) return found.bringing;
    found?.bringing.then(this.#work.drop, () => {});
    return this.#work.bring(name, this.#opening);
  }

  /** @param {Promise<string>} finding */
  async #bringEarly(finding) {
    try {
      const name = await finding;
      const bringing = this.#work.bring(name, this.#opening);
      bringing.catch(() => {}); // who asks for it hears of that
      return { name, bringing };
    } catch {
      return null; // the page needs the name, too, and says why it is unknown
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
