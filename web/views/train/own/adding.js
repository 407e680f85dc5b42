// @ts-check
/** Examples that are added to the visitor's classes, one lot after the other; how far that is. */

import { words, wordsOf } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { fetchCard, findModel } from "../../../site/catalogue.js";
import * as store from "../../../site/own_examples.js";
import { make } from "../../../widgets/dom.js";
import { found, PICTURE_BYTES, seen } from "./pictures.js";
import { CLIP_BYTES, clipsOf, heard, unheard } from "./sounds.js";

/** @typedef {import("../../../i18n/messages.js").Words} Words */
/** @typedef {import("../../../prepare/files.js").Given} Given */
/** @typedef {import("./card.js").ClassCard} ClassCard */

/** Pictures that are decoded at once: while one is decoded, others are written. */
const TOGETHER = 4;

/** After so many examples the browser is asked how much room is left. */
const MEASURED = 50;

/** Between two times that a screen reader is told how many examples were added. */
const SAID_APART_MS = 10_000;

/** Names that a message lists. */
const LISTED = 3;

/**
 * @typedef {object} Place  the classes that examples are added to
 * @property {() => import("../../../site/own_examples.js").Kind | "text" | null} kind
 * @property {() => Promise<void>} shown  resolves once what the browser has kept is shown
 * @property {(name: string) => Promise<ClassCard | null>} classOf  the class of a name, a new one
 *   if there is none; null if there can be none
 * @property {() => void} changed
 */

export class Adding {
  #engine;
  #message;
  #place;
  /** What is being added. @type {Promise<void>} */
  #running = Promise.resolve();
  /** Ends it. @type {AbortController | null} */
  #adding = null;
  /** Ends what is read beforehand. @type {AbortController | null} */
  #reading = null;
  /** Classes of folders that are being added. @type {Map<string, Promise<ClassCard | null>>} */
  #opening = new Map();

  #status = make("p", { "data-testid": "train-class-status", "data-state": "idle" });
  /** What screen readers speak of it: not each example. */
  #said = make("p", { class: "said", role: "status", "data-testid": "train-class-said" });
  #saidAt = 0;
  #stop = make("button", { type: "button", "data-testid": "train-class-stop", hidden: "" });

  /**
   * @param {HTMLElement} root  gets how far it is
   * @param {import("../../../engine/engine.js").Engine} engine
   * @param {import("../../../widgets/message.js").Message} message  what could not be added
   * @param {Place} place
   */
  constructor(root, engine, message, place) {
    this.#engine = engine;
    this.#message = message;
    this.#place = place;
    show(this.#stop, words("trainOwnStop"));
    this.#stop.addEventListener("click", () => this.stop());
    root.append(make("div", { class: "state" }, this.#status, this.#said, this.#stop));
  }

  /** What was added stays. */
  stop() {
    this.#adding?.abort();
  }

  /** Read nothing beforehand any more. */
  stopReading() {
    this.#reading?.abort();
  }

  /**
   * @param {Given[] | Promise<Given[]>} given
   * @param {ClassCard | null} card  of those in no folder
   */
  async pictures(given, card) {
    await this.#add(async (signal, put, warn) => {
      const all = await given;
      warn(all.length * PICTURE_BYTES);
      const { preprocess } = await fetchCard(await findModel(store.NETWORK));
      /** @type {string[]} */
      const refused = [];
      /** @type {Words | null} */
      let why = null;
      let unplaced = 0;
      const one = async (/** @type {{file: File, label: string}} */ { file, label }) => {
        signal.throwIfAborted();
        if (!label && !card) {
          unplaced += 1;
          return;
        }
        const content = await seen(file, preprocess).catch((error) => {
          if (error.name !== "PhotoError") throw error;
          refused.push(file.name.split("/").at(-1) ?? "");
          why ??= wordsOf(error);
        });
        if (!content) return; // and no class of a folder without pictures
        const to = card ?? (await this.#folder(label));
        if (to) await put(to, content, PICTURE_BYTES);
        else unplaced += 1;
      };
      await eachOf(found(all, this.#engine), TOGETHER, one);
      if (refused.length === 1 && why) this.#message.show(why);
      else if (refused.length) {
        const names = refused.slice(0, LISTED).join(", ");
        this.#message.show(words("trainOwnNoPictures", refused.length, names));
      } else if (unplaced) this.#message.show(words("trainOwnUnplaced", unplaced));
    });
  }

  /** The class of a folder, added once however many pictures wait for it. @param {string} name */
  #folder(name) {
    const opening = this.#opening.get(name) ?? this.#place.classOf(name);
    this.#opening.set(name, opening);
    void opening.finally(() => this.#opening.delete(name));
    return opening;
  }

  /** @param {File[]} files @param {ClassCard} card */
  async sounds(files, card) {
    await this.#add(async (signal, put) => {
      /** @type {string[]} */
      const refused = [];
      for (const file of files) {
        try {
          for await (const clip of clipsOf(file)) {
            signal.throwIfAborted();
            await put(card, clip, CLIP_BYTES);
          }
        } catch (error) {
          if (/** @type {Error} */ (error).name !== "EncodingError") throw error;
          refused.push(file.name);
        }
      }
      if (refused.length)
        this.#message.show(words("trainOwnNoSounds", refused.slice(0, LISTED).join(", ")));
    });
  }

  /** What the microphone hears. @param {ClassCard} card */
  async record(card) {
    await this.#add(async (signal, put) => {
      card.records = true;
      try {
        for await (const clip of heard(signal)) await put(card, clip, CLIP_BYTES);
      } catch (error) {
        const why = unheard(error);
        if (!why) throw error;
        this.#message.show(why);
      } finally {
        card.records = false;
      }
    });
  }

  /**
   * Add examples, one run after the other; what was added stays, however it ends.
   * @param {(signal: AbortSignal, put: (card: ClassCard, content: Blob | Uint8Array<ArrayBuffer>,
   *   size: number) => Promise<void>, warn: (size: number) => void) => Promise<void>} run  warn:
   *   called with the bytes that are needed
   */
  async #add(run) {
    const [before, kind] = [this.#running, this.#place.kind()];
    const stop = new AbortController();
    const work = before.then(async () => {
      await this.#place.shown();
      if (this.#place.kind() !== kind) return; // the visitor has gone on to other data
      this.#adding = stop;
      this.#message.clear();
      let count = 0;
      let left = await store.room();
      const warn = (/** @type {number} */ size) => {
        if (left < size) this.#message.show(words("trainOwnNearlyFull", left));
      };
      this.#tell(0);
      try {
        const put = async (
          /** @type {ClassCard} */ card,
          /** @type {Blob | Uint8Array<ArrayBuffer>} */ content,
          /** @type {number} */ size,
        ) => {
          stop.signal.throwIfAborted();
          if (left < 2 * TOGETHER * size) throw new Full();
          const number = await store.addExample(card.of.number, content);
          card.added(number, content);
          this.#tell(++count);
          left = count % MEASURED ? left - size : await store.room();
          warn(MEASURED * size);
        };
        await run(stop.signal, put, warn);
      } catch (error) {
        if (isFull(error) || !stop.signal.aborted) this.#message.show(unkept(error, count));
      }
      this.#adding = null;
      this.say("idle", words("trainOwnAdded", count));
      this.#place.changed();
      if (count) void this.#read();
    });
    this.#running = work;
    await work;
  }

  /** Have the worker compute what a run needs of the examples, while the visitor goes on. */
  async #read() {
    const kind = this.#place.kind();
    if (kind !== "pictures" && kind !== "sounds") return;
    this.stopReading();
    this.#reading = new AbortController();
    const { signal } = this.#reading;
    this.#status.dataset.read = "false";
    await this.#engine.ask("train.read", { kind }, { signal }).then(
      () => (this.#status.dataset.read = "true"),
      () => {}, // the run says what is wrong
    );
  }

  /** @param {number} count  of the examples that were added */
  #tell(count) {
    this.say("adding", words("trainOwnAdding", count));
    this.#status.dataset.count = String(count);
  }

  /** @param {"idle" | "adding"} state @param {Words} said */
  say(state, said) {
    const now = performance.now();
    const goesOn = state === "adding" && this.#status.dataset.state === state;
    this.#status.dataset.state = state;
    this.#stop.hidden = state === "idle";
    show(this.#status, said);
    if (goesOn && now - this.#saidAt < SAID_APART_MS) return;
    this.#saidAt = now;
    show(this.#said, said);
  }
}

class Full extends Error {}

/** @param {unknown} error */
const isFull = (error) =>
  error instanceof Full || (error instanceof DOMException && error.name === "QuotaExceededError");

/**
 * Why the browser has not kept what it was given.
 * @param {unknown} error
 * @param {number} [count]  of the examples that were added before
 * @returns {Words}
 */
export const unkept = (error, count = 0) =>
  isFull(error)
    ? words("trainOwnFull", count)
    : words("trainOwnFailed", /** @type {any} */ (wordsOf(error)));

/**
 * Do something with all items, some at a time.
 * @template T
 * @param {AsyncIterable<T>} items
 * @param {number} together
 * @param {(item: T) => Promise<void>} run
 * @throws  what the first one throws, once none is running any more
 */
async function eachOf(items, together, run) {
  const all = items[Symbol.asyncIterator]();
  /** @type {unknown[]} */
  const failed = [];
  const lane = async () => {
    while (!failed.length) {
      const { value, done } = await all.next();
      if (done) return;
      await run(value);
    }
  };
  const lanes = Array.from({ length: together }, lane);
  await Promise.all(lanes.map((each) => each.catch((error) => failed.push(error))));
  if (failed.length) throw failed[0];
}
