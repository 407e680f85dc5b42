// @ts-check
/** The visitor's own classes: named, filled with examples, counted, removed; and a text. */

import { LocalizedError, words, wordsOf } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { everyFile, givenAs } from "../../../prepare/files.js";
import { fetchCard, findModel } from "../../../site/catalogue.js";
import * as store from "../../../site/own_examples.js";
import { make } from "../../../widgets/dom.js";
import { Message } from "../../../widgets/message.js";
import { Camera } from "./camera.js";
import { ClassCard } from "./card.js";
import { chooser } from "./chooser.js";
import { found, PICTURE_BYTES, seen } from "./pictures.js";
import { Signs } from "./signs.js";
import { CLIP_BYTES, clipsOf, heard, unheard } from "./sounds.js";
import { OwnText } from "./text.js";

/** @typedef {import("../../../i18n/messages.js").Words} Words */
/** @typedef {import("../../../site/own_examples.js").Kind} Kind */
/** @typedef {import("../../../prepare/files.js").Given} Given */
/** @typedef {import("../../../shared/contract.js").Gathered} Gathered */

/** Classes, at most; py/tallow_page/train/own.py has the same limit. */
const MOST = 1000;

/** Pictures that are decoded at once: while one is decoded, others are written. */
const TOGETHER = 4;

/** After so many examples the browser is asked how much room is left. */
const MEASURED = 50;

/** Between two times that a screen reader is told how many examples were added. */
const SAID_APART_MS = 10_000;

/** Names that a message lists. */
const LISTED = 3;

/** What a network learns from, before it is read. @type {Record<Kind, number[]>} */
const SHAPES = { signs: [1, 28, 28], pictures: [1280], sounds: [1, 40, 50] };

export class Classes {
  #root;
  #engine;
  #changed;
  /** @type {Kind | "text" | null} */
  #kind = null;
  /** @type {Map<number, ClassCard>} */
  #cards = new Map();
  /** Classes of folders that are being added. @type {Map<string, Promise<ClassCard | null>>} */
  #opening = new Map();
  /** What is being added. @type {Promise<void>} */
  #running = Promise.resolve();
  /** Ends it. @type {AbortController | null} */
  #adding = null;
  /** Ends what is read beforehand. @type {AbortController | null} */
  #reading = null;
  /** The class that is drawn. @type {ClassCard | null} */
  #drawn = null;
  /** The class on which something is dropped. @type {ClassCard | null} */
  #aimed = null;
  /** Resolves once what the browser has kept is shown. @type {Promise<void>} */
  #shown = Promise.resolve();

  #name = make("input", {
    "data-testid": "train-class-name",
    autocomplete: "off",
    maxlength: "60",
  });
  #list = make("ul", { class: "own-cards", "data-testid": "train-classes" });
  #status = make("p", { "data-testid": "train-class-status", "data-state": "idle" });
  /** What screen readers speak of it: not each example. */
  #said = make("p", { class: "said", role: "status", "data-testid": "train-class-said" });
  #saidAt = 0;
  #stop = make("button", { type: "button", "data-testid": "train-class-stop", hidden: "" });
  #own = make("div", { class: "own" });
  #chosenFolder = make("input", { type: "file", multiple: "", webkitdirectory: "" });
  #zip = make("input", { type: "file", accept: ".zip", "data-testid": "train-class-zip" });
  #folders;
  #drawing = make("div", { class: "drawing-signs" });
  #message;
  #camera;
  #signs;
  #text;

  /**
   * @param {HTMLElement} root  empty
   * @param {import("../../view.js").Page} page
   * @param {() => void} changed  called when there are other classes, examples or texts
   */
  constructor(root, { engine }, changed) {
    this.#root = root;
    this.#engine = engine;
    this.#changed = changed;
    const fault = make("p", { class: "message", role: "alert" });
    this.#message = new Message(fault);
    const label = show(make("span"), words("trainOwnName"));
    const add = show(
      make("button", { type: "submit", "data-testid": "train-class-add" }),
      words("trainOwnAdd"),
    );
    const form = make("form", { class: "acts" }, make("label", {}, label, this.#name), add);
    form.addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      void this.#named();
    });
    this.#folders = make(
      "div",
      { class: "acts" },
      chooser(this.#chosenFolder, words("trainOwnFolder"), (files) => this.takeFiles(files)),
      chooser(this.#zip, words("trainOwnZip"), (files) => this.takeFiles(files)),
    );
    show(this.#stop, words("trainOwnStop"));
    this.#stop.addEventListener("click", () => this.#adding?.abort());
    const state = make("div", { class: "state" }, this.#status, this.#said, this.#stop);
    this.#own.append(form, this.#folders, this.#list, this.#drawing, state);
    const text = make("div", { class: "own-text" });
    root.append(this.#own, text, fault);
    this.#text = new OwnText(text, changed, (why) => this.#message.show(why));
    this.#camera = new Camera(root);
    this.#signs = new Signs(this.#drawing, (sign) => void this.#keepSign(sign));
    // The page's own listener, which comes after this one, calls drop().
    const aim = (/** @type {DragEvent} */ { target }) => {
      const item = /** @type {Element} */ (target).closest(".own-cards [data-class]");
      this.#aimed = (item && this.#cards.get(Number(item.getAttribute("data-class")))) ?? null;
    };
    addEventListener("drop", aim, { capture: true });
    this.use(null);
  }

  /** Show the classes of a kind, or the text; null hides all. @param {Kind | "text" | null} kind */
  use(kind) {
    this.#shown = this.#use(kind);
  }

  /** @param {Kind | "text" | null} kind */
  async #use(kind) {
    this.#adding?.abort();
    this.#reading?.abort();
    this.#kind = kind;
    this.#root.hidden = kind === null;
    this.#own.hidden = kind === null || kind === "text";
    this.#text.shown = kind === "text";
    this.#folders.hidden = kind !== "pictures";
    this.#message.clear();
    this.#say("idle", "");
    this.#list.replaceChildren();
    this.#cards.clear();
    this.#drawn = null;
    try {
      if (kind === "text") await this.#text.restore();
      else if (kind) {
        await store.purge();
        for (const each of await store.classesOf(kind)) {
          if (this.#kind !== kind) return;
          if (this.#cards.has(each.number)) continue; // it was added meanwhile
          await this.#card(each).fill(await store.numbersOf(each.number));
        }
      }
    } catch (error) {
      this.#message.show(words("trainOwnNoStore", /** @type {any} */ (wordsOf(error))));
    }
    this.#render();
  }

  /** How many examples each class has. */
  get counts() {
    return [...this.#cards.values()].map(({ name, count }) => ({ name, count }));
  }

  /**
   * What a network learns from: its kind and shape, as far as it is known before it is read. There
   * is a network for two classes before there are any; `source` says what is missing.
   */
  get facts() {
    const kind = this.#kind;
    if (kind === null) return null;
    if (kind === "text") return { kind: "text", shape: [128], classes: this.#text.characters || 2 };
    const told = { signs: "pictures", pictures: "features", sounds: "sounds" }[kind];
    return { kind: told, shape: SHAPES[kind], classes: Math.max(2, this.#cards.size) };
  }

  /** Take files that were dropped elsewhere. @param {File[]} files */
  takeFiles(files) {
    if (this.#kind === "text") void this.#text.take(files);
    else if (this.#kind === "pictures") void this.#addPictures(files.map(givenAs), null);
    else if (this.#kind === "sounds" && this.#cards.size === 1)
      void this.#addSounds(files, [...this.#cards.values()][0]);
    else this.#message.show(words("trainOwnWhere"));
  }

  /** Take pictures that were dropped, alone or in folders. @param {DataTransfer} transfer */
  drop(transfer) {
    void this.#addPictures(everyFile(transfer), this.#aimed);
  }

  /**
   * Have the worker read what there is.
   * @param {AbortSignal} signal
   * @param {(done: number, total: number) => void} progress
   * @returns {Promise<object>}  what train.run takes as its source
   * @throws {LocalizedError}  for what no network learns from
   */
  async source(signal, progress) {
    const kind = this.#kind;
    if (kind === "text") {
      const text = this.#text.checked();
      const { version } = await this.#engine.ask("train.text", text, { signal, proves: true });
      return { own: kind, version };
    }
    if (!kind) throw new Error("no kind of data was chosen");
    const counts = this.counts;
    if (!counts.length) throw new LocalizedError(words("trainOwnNoClass"));
    if (counts.length === 1) throw new LocalizedError(words("trainOwnOneClass", counts[0].name));
    const empty = counts.find(({ count }) => !count);
    if (empty) throw new LocalizedError(words("trainOwnEmpty", empty.name));
    const onProgress = (/** @type {any} */ { stage, done, total }) => {
      if (stage === "gather") progress(done, total);
    };
    this.#reading?.abort();
    /** @type {Gathered} */
    const { damaged, version } = await this.#engine.ask(
      "train.gather",
      { kind },
      { signal, onProgress, proves: true },
    );
    if (damaged.length) this.#message.show(words("trainOwnDamaged", damaged.length));
    return { own: kind, version };
  }

  // ---- classes --------------------------------------------------------------------------------

  async #named() {
    const name = this.#name.value.trim().replace(/\s+/g, " ");
    this.#message.clear();
    if (!name) {
      this.#message.show(words("trainOwnNoName"));
      this.#name.focus();
      return;
    }
    const card = await this.#classOf(name, true);
    if (!card) return;
    this.#name.value = "";
    this.#name.focus();
    if (this.#kind === "signs") this.#draw(card);
  }

  /**
   * The class of a name, which is added if there is none.
   * @param {string} name
   * @param {boolean} isNew  whether it is a fault if there is one
   * @returns {Promise<ClassCard | null>}  null if there can be none; the message says why
   */
  async #classOf(name, isNew = false) {
    const known = [...this.#cards.values()].find((each) => each.name === name);
    if (known && !isNew) return known;
    const kind = /** @type {Kind} */ (this.#kind);
    if (known) this.#message.show(words("trainOwnTwice", name));
    else if (this.#cards.size >= MOST) this.#message.show(words("trainOwnTooMany", MOST));
    else
      try {
        return this.#card(await store.addClass(kind, name));
      } catch (error) {
        this.#failed(error);
      } finally {
        this.#render();
      }
    return null;
  }

  /** @param {import("../../../site/own_examples.js").Class} of */
  #card(of) {
    const card = new ClassCard(of, {
      files: (files) => {
        if (of.kind === "sounds") void this.#addSounds(files, card);
        else void this.#addPictures(files.map(givenAs), card);
      },
      camera: () =>
        void this.#camera.open(
          of.name,
          (picture) => void this.#addPictures([givenAs(picture)], card),
        ),
      record: () => {
        if (card.records) this.#adding?.abort();
        else void this.#record(card);
      },
      draw: () => this.#draw(card),
      remove: () => void this.#removeClass(card),
      drop: (number) => void this.#removeExample(card, number),
    });
    this.#cards.set(of.number, card);
    this.#list.append(card.item);
    return card;
  }

  /** @param {ClassCard} card */
  async #removeClass(card) {
    const { of } = card;
    try {
      await store.putClass({ ...of, removed: true });
    } catch (error) {
      this.#failed(error);
      return;
    }
    this.#cards.delete(of.number);
    if (this.#drawn === card) this.#drawn = null;
    const after = card.item.nextSibling;
    card.item.remove();
    this.#name.focus();
    this.#render();
    const undo = async () => {
      await store.putClass(of);
      this.#cards.set(of.number, card);
      this.#list.insertBefore(card.item, after?.parentNode === this.#list ? after : null);
      this.#message.clear();
      this.#render();
    };
    const said = words("trainOwnRemoved", of.name, card.count);
    this.#message.show(
      said,
      () => void undo().catch((error) => this.#failed(error)),
      words("trainOwnUndo"),
    );
  }

  /** @param {ClassCard} card @param {number} number */
  async #removeExample(card, number) {
    try {
      const example = await store.exampleOf(number);
      await store.removeExample(number);
      await card.removed(number);
      this.#render();
      const undo = async () => {
        if (!example) return;
        await store.putExample(example);
        await card.fill(await store.numbersOf(card.of.number));
        this.#message.clear();
        this.#render();
      };
      this.#message.show(
        words("trainOwnDropped", card.name),
        () => void undo().catch((error) => this.#failed(error)),
        words("trainOwnUndo"),
      );
    } catch (error) {
      this.#failed(error);
    }
  }

  // ---- examples -------------------------------------------------------------------------------

  /** @param {ClassCard} card */
  #draw(card) {
    this.#drawn = card;
    this.#signs.use(card.name);
    this.#render();
  }

  /** @param {Uint8Array<ArrayBuffer>} sign */
  async #keepSign(sign) {
    const card = this.#drawn;
    if (!card) return;
    try {
      card.added(await store.addExample(card.of.number, sign), sign);
      this.#say("idle", words("trainOwnKept", card.name, card.count));
    } catch (error) {
      this.#failed(error);
    }
    this.#render();
  }

  /**
   * @param {Given[] | Promise<Given[]>} given
   * @param {ClassCard | null} card  of those in no folder
   */
  async #addPictures(given, card) {
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
    const opening = this.#opening.get(name) ?? this.#classOf(name);
    this.#opening.set(name, opening);
    void opening.finally(() => this.#opening.delete(name));
    return opening;
  }

  /** @param {File[]} files @param {ClassCard} card */
  async #addSounds(files, card) {
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

  /** @param {ClassCard} card */
  async #record(card) {
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
    const [before, kind] = [this.#running, this.#kind];
    const stop = new AbortController();
    const work = before.then(async () => {
      await this.#shown;
      if (this.#kind !== kind) return; // the visitor has gone on to other data
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
        if (error instanceof Full || isFull(error))
          this.#message.show(words("trainOwnFull", count));
        else if (!stop.signal.aborted) this.#failed(error);
      }
      this.#adding = null;
      this.#say("idle", words("trainOwnAdded", count));
      this.#render();
      if (count) void this.#read();
    });
    this.#running = work;
    await work;
  }

  /** Have the worker compute what a run needs of the examples, while the visitor goes on. */
  async #read() {
    const kind = this.#kind;
    if (kind !== "pictures" && kind !== "sounds") return;
    this.#reading?.abort();
    this.#reading = new AbortController();
    const { signal } = this.#reading;
    this.#status.dataset.read = "false";
    await this.#engine.ask("train.read", { kind }, { signal }).then(
      () => (this.#status.dataset.read = "true"),
      () => {}, // the run says what is wrong
    );
  }

  // ---- what is shown --------------------------------------------------------------------------

  /** @param {unknown} error */
  #failed(error) {
    if (isFull(error)) this.#message.show(words("trainOwnFull", 0));
    else this.#message.show(words("trainOwnFailed", /** @type {any} */ (wordsOf(error))));
  }

  /** @param {number} count  of the examples that were added */
  #tell(count) {
    this.#say("adding", words("trainOwnAdding", count));
    this.#status.dataset.count = String(count);
  }

  /** @param {"idle" | "adding"} state @param {Words} said */
  #say(state, said) {
    const now = performance.now();
    const goesOn = state === "adding" && this.#status.dataset.state === state;
    this.#status.dataset.state = state;
    this.#stop.hidden = state === "idle";
    show(this.#status, said);
    if (goesOn && now - this.#saidAt < SAID_APART_MS) return;
    this.#saidAt = now;
    show(this.#said, said);
  }

  #render() {
    this.#drawing.hidden = this.#kind !== "signs" || !this.#drawn;
    for (const card of this.#cards.values()) card.drawn = card === this.#drawn;
    this.#changed();
  }
}

class Full extends Error {}

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

/** @param {unknown} error */
const isFull = (error) => error instanceof DOMException && error.name === "QuotaExceededError";
