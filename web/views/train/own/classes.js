// @ts-check
/** The visitor's own classes: named, given examples, counted, removed; and a text. */

import { LocalizedError, words, wordsOf } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { everyFile, givenAs } from "../../../prepare/files.js";
import * as store from "../../../site/own_examples.js";
import { make } from "../../../widgets/dom.js";
import { Message } from "../../../widgets/message.js";
import { Adding, unkept } from "./adding.js";
import { Camera } from "./camera.js";
import { ClassCard } from "./card.js";
import { chooser } from "./chooser.js";
import { Signs } from "./signs.js";
import { OwnText } from "./text.js";

/** @typedef {import("../../../site/own_examples.js").Kind} Kind */
/** @typedef {import("../../../shared/contract.js").Gathered} Gathered */

/** Classes, at most; py/tallow_page/train/own.py has the same limit. */
const MOST = 1000;

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
  #own = make("div", { class: "own" });
  #chosenFolder = make("input", { type: "file", multiple: "", webkitdirectory: "" });
  #zip = make("input", { type: "file", accept: ".zip", "data-testid": "train-class-zip" });
  #folders;
  #drawing = make("div", { class: "drawing-signs" });
  #message;
  #adding;
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
    this.#own.append(form, this.#folders, this.#list, this.#drawing);
    this.#adding = new Adding(this.#own, engine, this.#message, {
      kind: () => this.#kind,
      shown: () => this.#shown,
      classOf: (name) => this.#classOf(name),
      changed: () => this.#render(),
    });
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
    this.#adding.stop();
    this.#adding.stopReading();
    this.#kind = kind;
    this.#root.hidden = kind === null;
    this.#own.hidden = kind === null || kind === "text";
    this.#text.shown = kind === "text";
    this.#folders.hidden = kind !== "pictures";
    this.#message.clear();
    this.#adding.say("idle", "");
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
    else if (this.#kind === "pictures") void this.#adding.pictures(files.map(givenAs), null);
    else if (this.#kind === "sounds" && this.#cards.size === 1)
      void this.#adding.sounds(files, [...this.#cards.values()][0]);
    else this.#message.show(words("trainOwnWhere"));
  }

  /** Take pictures that were dropped, alone or in folders. @param {DataTransfer} transfer */
  drop(transfer) {
    void this.#adding.pictures(everyFile(transfer), this.#aimed);
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
    this.#adding.stopReading();
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
        if (of.kind === "sounds") void this.#adding.sounds(files, card);
        else void this.#adding.pictures(files.map(givenAs), card);
      },
      camera: () =>
        void this.#camera.open(
          of.name,
          (picture) => void this.#adding.pictures([givenAs(picture)], card),
        ),
      record: () => {
        if (card.records) this.#adding.stop();
        else void this.#adding.record(card);
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
      this.#adding.say("idle", words("trainOwnKept", card.name, card.count));
    } catch (error) {
      this.#failed(error);
    }
    this.#render();
  }

  // ---- what is shown --------------------------------------------------------------------------

  /** @param {unknown} error */
  #failed(error) {
    this.#message.show(unkept(error));
  }

  #render() {
    this.#drawing.hidden = this.#kind !== "signs" || !this.#drawn;
    for (const card of this.#cards.values()) card.drawn = card === this.#drawn;
    this.#changed();
  }
}
