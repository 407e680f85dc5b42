// @ts-check
/**
 * A gallery of several pictures: a tile for each, with its most probable class or the reason of a
 * failure.
 *
 * Pictures are opened one at a time, and only a thumbnail of each is kept, to save memory. A tile's
 * data-state is waiting, answered or failed.
 */

import { percent } from "../../widgets/bars.js";
import { NotReady } from "../../engine/engine.js";
import { text } from "../../i18n/text.js";

/** More tiles would make the page slow. */
export const MAX_TILES = 1000;

/** Side of a tile's picture, in pixels. */
const SIDE = 144;

/**
 * @typedef {import("../../widgets/bars.js").Row} Row
 * @typedef {import("../../engine/photo.js").Photo} Photo
 *
 * @typedef {object} Item
 * @property {File} file
 * @property {HTMLButtonElement} tile
 * @property {{rows: Row[], model: string} | null} answer
 * @property {Error | null} failure
 */

export class Gallery {
  #root;
  #tiles;
  #count;
  #bar;
  #button;
  #status;
  #read;
  #ask;
  #open;
  #changed;
  /** @type {Item[]} */
  #items = [];
  /** How many files were given, including those beyond MAX_TILES. */
  #given = 0;
  #turn = 0;
  #working = false;

  /**
   * @param {HTMLElement} root
   * @param {object} page
   * @param {(file: File) => Promise<Photo>} page.read
   * @param {(photo: Photo) => Promise<{rows: Row[], model: string}>} page.ask
   * @param {(file: File) => void} page.open  shows a picture large
   * @param {() => void} page.changed  called when the items have changed
   */
  constructor(root, { read, ask, open, changed }) {
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    this.#root = root;
    this.#read = read;
    this.#ask = ask;
    this.#open = open;
    this.#changed = changed;
    this.#tiles = /** @type {HTMLUListElement} */ (find(".tiles"));
    this.#count = /** @type {HTMLElement} */ (find(".count"));
    this.#bar = /** @type {HTMLProgressElement} */ (find("progress"));
    this.#button = /** @type {HTMLButtonElement} */ (find("button"));
    this.#status = /** @type {HTMLElement} */ (find(".said"));
    this.#button.addEventListener("click", () => this.#stopOrContinue());
  }

  /** The result for each picture, in the order of the files. */
  get items() {
    return this.#items.map(({ file, answer, failure }) => ({
      name: file.name,
      model: answer?.model ?? null,
      rows: answer?.rows ?? [],
      failure: failure?.message ?? null,
    }));
  }

  /** Show and classify these pictures. @param {File[]} files  none hide the gallery */
  show(files) {
    this.#given = files.length;
    this.#items = files.slice(0, MAX_TILES).map((file) => {
      const tile = blank(file.name);
      /** @type {Item} */
      const item = { file, tile, answer: null, failure: null };
      tile.addEventListener("click", () => this.#choose(item));
      return item;
    });
    this.#tiles.replaceChildren(
      ...this.#items.map(({ tile }) => {
        const item = document.createElement("li");
        item.append(tile);
        return item;
      }),
    );
    this.#root.hidden = !files.length;
    this.#changed();
    this.answer();
    if (this.#items.length) this.#choose(this.#items[0]);
  }

  /** Classify all pictures again, after a change of the device or model. */
  answer() {
    for (const item of this.#items) {
      item.answer = item.failure = null;
      this.#label(item);
    }
    void this.#work();
  }

  /**
   * Translate the labels.
   * @param {(rows: Row[], model: string) => Promise<Row[]>} translate
   */
  async relabel(translate) {
    for (const item of this.#items) {
      const { answer } = item;
      if (answer) answer.rows = await translate(answer.rows, answer.model);
      this.#label(item);
    }
    this.#render();
  }

  /** @param {Item} chosen */
  #choose(chosen) {
    for (const { tile } of this.#items) {
      if (tile === chosen.tile) tile.setAttribute("aria-current", "true");
      else tile.removeAttribute("aria-current");
    }
    this.#open(chosen.file);
  }

  #stopOrContinue() {
    if (!this.#working) {
      void this.#work();
      return;
    }
    this.#turn += 1;
    this.#working = false;
    this.#render();
  }

  /** Classify the pictures that have no answer yet. A newer call ends this one. */
  async #work() {
    const turn = ++this.#turn;
    this.#working = true;
    for (const item of this.#items) {
      if (item.answer || item.failure) continue;
      this.#render();
      try {
        const photo = await this.#read(item.file);
        try {
          if (turn !== this.#turn) return;
          const small = /** @type {HTMLCanvasElement} */ (item.tile.firstElementChild);
          await photo.thumbnail(small, SIDE);
          const answer = await this.#ask(photo);
          if (turn !== this.#turn) return;
          item.answer = answer;
        } finally {
          photo.close();
        }
      } catch (error) {
        if (turn !== this.#turn) return;
        if (error instanceof NotReady) break; // the status shows why, and answer() will be called
        item.failure = /** @type {Error} */ (error);
      }
      this.#label(item);
    }
    this.#working = false;
    this.#render();
  }

  /** Show the progress. Screen readers announce only the start and the end. */
  #render() {
    const total = this.#items.length;
    const failed = this.#items.filter(({ failure }) => failure).length;
    const done = failed + this.#items.filter(({ answer }) => answer).length;
    const finished = done === total;
    this.#root.dataset.state = finished ? "done" : this.#working ? "working" : "stopped";
    this.#count.textContent = text.galleryCount(done, total);
    this.#bar.max = total || 1;
    this.#bar.value = done;
    this.#button.hidden = finished;
    this.#button.textContent = this.#working ? text.cancel : text.goOn;
    const left = this.#given > total ? text.galleryMost(this.#given, total) : "";
    let words = text.galleryBegun(total);
    if (finished) words = text.galleryDone(total - failed, failed);
    else if (!this.#working) words = text.galleryStopped(total - done);
    words = [left, words].filter(Boolean).join(" ");
    if (this.#status.textContent !== words) this.#status.textContent = words;
  }

  /** @param {Item} item */
  #label({ tile, answer, failure }) {
    const [, words, share] = tile.children;
    const best = answer?.rows[0];
    tile.dataset.state = best ? "answered" : failure ? "failed" : "waiting";
    tile.dataset.label = best?.label ?? "";
    words.textContent = best?.label ?? failure?.message ?? "";
    share.textContent = best ? percent(best.probability) : "";
  }
}

/** @param {string} name  of the file @returns {HTMLButtonElement} */
function blank(name) {
  const tile = Object.assign(document.createElement("button"), { type: "button", title: name });
  tile.className = "tile";
  tile.dataset.name = name;
  const picture = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", name);
  tile.append(picture);
  for (const part of ["label", "share"]) {
    tile.append(Object.assign(document.createElement("span"), { className: part }));
  }
  return tile;
}
