// @ts-check
/**
 * Choose, drop or paste photographs and read what a model takes them for: one large, with its five
 * best classes, and where there are several, all of them in a gallery.
 */

import { labelsOf, listModels, photoModel } from "../../shared/catalogue.js";
import { NotReady } from "../../engine/engine.js";
import { Latest } from "../../shared/latest.js";
import { filesOf } from "../../prepare/files.js";
import { PhotoError, readPhoto } from "../../prepare/photo.js";
import { words, wordsOf } from "../../i18n/messages.js";
import { follow } from "../../i18n/show.js";
import { text } from "../../i18n/text.js";
import { Bars } from "../../widgets/bars.js";
import { Camera } from "./camera.js";
import { Copies } from "./copies.js";
import { Gallery } from "./gallery.js";
import { Heat } from "./heat.js";
import { Message } from "../../widgets/message.js";
import { Samples } from "./samples.js";

/**
 * @typedef {import("../../prepare/photo.js").Photo} Photo
 * @typedef {{photo: Photo, model: string}} Question
 * @typedef {object} Answer
 * @property {import("../../widgets/bars.js").Row[]} rows
 * @property {string} model
 * @property {import("../../prepare/photo.js").Preprocess} preprocess
 * @property {number} ms
 */

export class Classify {
  #root;
  #input;
  #select;
  #frame;
  #list;
  #bars;
  #message;
  #gallery;
  #copies;
  #heat;
  #engine;
  #timed;
  #wish;
  /** @type {Photo | null} */
  #photo = null;
  /** What is shown of it. @type {Answer | null} */
  #answer = null;
  #opening = 0;
  /** @type {Latest<Question, Answer>} */
  #latest;

  /**
   * @param {HTMLElement} root
   * @param {import("../registry.js").Page} page
   */
  constructor(root, { engine, model, timed, chosen }) {
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    this.#root = root;
    this.#engine = engine;
    this.#timed = timed;
    this.#wish = model;
    this.#input = /** @type {HTMLInputElement} */ (find("[data-testid=image-input]"));
    this.#select = /** @type {HTMLSelectElement} */ (find("[data-testid=model-select]"));
    this.#list = /** @type {HTMLOListElement} */ (find("[data-testid=image-result]"));
    this.#frame = /** @type {HTMLElement} */ (find(".photo"));
    this.#message = new Message(find(".message"));
    this.#bars = new Bars(this.#list);
    this.#gallery = new Gallery(find("[data-testid=image-gallery]"), {
      ask: async (photo) => this.#classify({ photo, model: await this.#whichModel() }, false),
      open: (file) => void this.#open(file),
      changed: () => this.#copies?.update(),
    });
    new Camera(root, (files) => void this.take(files));
    new Samples(find(".samples"), (files) => void this.take(files));
    this.#copies = new Copies(find(".answer"), () => this.#results());
    this.#heat = new Heat(find(".answer"), () => this.#asked());
    this.#latest = new Latest(
      (question) => this.#classify(question),
      (answer, { photo }) => this.#show(answer, photo),
      (error, { photo }) => this.#fail(error, photo),
    );
    follow(root, () => void this.#relabel());
    this.#input.addEventListener("change", () => {
      void this.take([...(this.#input.files ?? [])]);
    });
    // Without this, choosing the same file a second time is no change.
    this.#input.addEventListener("click", () => {
      this.#input.value = "";
    });
    this.#select.addEventListener("change", () => chosen(this.#select.value));
  }

  /** Whether there is nothing of the visitor's here. */
  get untouched() {
    return this.#opening === 0;
  }

  /** The model that this view needs: the one wished for, or the first. @returns {Promise<string>} */
  async model() {
    if (this.#select.value) return this.#select.value;
    const models = (await listModels()).filter(({ task }) => task === "image");
    const chosen = await photoModel(this.#wish);
    if (this.#select.value) return this.#select.value; // two callers waited for the same list
    this.#select.replaceChildren(...models.map(({ name, title }) => new Option(title, name)));
    if (this.#wish && this.#wish !== chosen) {
      this.#message.show(words("unknownModel", this.#wish));
    }
    this.#select.value = chosen;
    return chosen;
  }

  /** Pictures, or folders of them. @param {DataTransfer} transfer */
  drop(transfer) {
    void this.take(filesOf(transfer));
  }

  /**
   * Show a file's picture, or a gallery of several, and ask what they are.
   * @param {File[] | Promise<File[]>} files
   */
  async take(files) {
    const turn = ++this.#opening;
    try {
      const found = await files;
      if (turn !== this.#opening || !found.length) return;
      this.#gallery.show(found.length > 1 ? found : []);
      if (found.length === 1) await this.#open(found[0]);
    } catch (error) {
      if (turn === this.#opening) this.#refuse(error);
    }
  }

  /**
   * Show a file's picture large and ask what it is.
   * @param {File} file
   */
  async #open(file) {
    const turn = ++this.#opening;
    this.#forget();
    try {
      const photo = await readPhoto(file);
      if (turn !== this.#opening) return; // a newer file was chosen meanwhile
      this.#photo = photo;
      this.#root.classList.add("chosen");
      this.#picture(photo);
      await this.#ask();
    } catch (error) {
      if (turn === this.#opening) this.#refuse(error);
    }
  }

  /** What is known of the pictures: of all in the gallery, or of the one that is shown. */
  #results() {
    if (this.#gallery.items.length) return this.#gallery.items;
    const [photo, answer] = [this.#photo, this.#answer];
    if (!photo || !answer) return [];
    return [{ name: photo.name, model: answer.model, rows: answer.rows, failure: null }];
  }

  /** There is another answer, or none. */
  #changed() {
    this.#copies.update();
    this.#heat.update();
  }

  /** What the heat map asks about. @returns {import("./heat.js").Shown | null} */
  #asked() {
    const [photo, answer] = [this.#photo, this.#answer];
    if (!photo || !answer) return null;
    const { model, preprocess, rows } = answer;
    const { index } = rows[0];
    return {
      pixels: () => photo.pixels(preprocess),
      best: () => answer.rows[0],
      place: /** @type {HTMLElement} */ (this.#frame.querySelector(".crop")),
      ask: async (pixels) => {
        await this.#engine.ready(model);
        const options = { watched: index, keep: false };
        return (await this.#engine.classify(model, pixels, options)).watched;
      },
    };
  }

  /** Name the classes in the language of now; nothing is asked again. */
  async #relabel() {
    try {
      const answer = this.#answer;
      if (answer) {
        answer.rows = await labelled(answer.rows, answer.model);
        if (answer === this.#answer) this.#bars.show(answer.rows);
      }
      this.#heat.relabel();
      await this.#gallery.relabel(labelled);
    } catch (error) {
      this.#message.show(wordsOf(error), () => void this.#relabel());
    }
  }

  /** Answer what is on the page again: another device or model, or a failure that is over. */
  answer() {
    this.#latest.forget();
    this.#message.clear();
    this.#answer = null;
    this.#frame.querySelector(".heat")?.remove();
    this.#changed();
    delete this.#list.dataset.source;
    this.#timed(null);
    void this.#ask();
    this.#gallery.answer();
  }

  /**
   * @param {Question} question
   * @param {boolean} [keep]  whether this is the answer that the whole page is about
   * @returns {Promise<Answer>}
   */
  async #classify({ photo, model }, keep = true) {
    labelsOf(model).catch(() => {}); // fetched meanwhile; labelled() hears of a failure
    // Not earlier: beside a worker and a GPU that are busy, this would block the page three times as long.
    const { name, preprocess } = await this.#engine.ready(model);
    const { top, ms } = await this.#engine.classify(name, photo.pixels(preprocess), { keep });
    return { rows: await labelled(top, model), model, preprocess, ms };
  }

  /** @returns {Promise<string>}  model(), or NotReady: then the status says why */
  async #whichModel() {
    try {
      return await this.model();
    } catch (error) {
      throw new NotReady(wordsOf(error));
    }
  }

  async #ask() {
    const photo = this.#photo;
    if (!photo) return;
    this.#root.classList.add("waiting");
    const model = await this.model().catch(() => null); // the status says why
    if (model && photo === this.#photo) this.#latest.ask({ photo, model });
  }

  /**
   * @param {Answer} answer
   * @param {Photo} photo
   */
  #show(answer, photo) {
    const { rows, preprocess, ms } = answer;
    this.#answer = answer;
    this.#root.classList.remove("waiting");
    this.#message.clear();
    this.#bars.show(rows);
    this.#outline(preprocess.crop);
    this.#changed();
    this.#list.dataset.source = photo.name;
    this.#timed(ms);
  }

  /**
   * @param {Error} error
   * @param {Photo} photo
   */
  #fail(error, photo) {
    this.#root.classList.remove("waiting");
    this.#bars.show([]);
    if (error instanceof NotReady) return; // the status says why
    if (error instanceof PhotoError)
      this.#refuse(error); // asking again would not help
    else this.#message.show(words("photoFailed", photo.name, wordsOf(error)), () => this.answer());
  }

  /** Say why there is no picture. @param {unknown} error */
  #refuse(error) {
    this.#message.show(wordsOf(error));
  }

  /** No picture, no answer. */
  #forget() {
    this.#photo = this.#answer = null;
    this.#root.classList.remove("chosen");
    this.#changed();
    this.#latest.forget();
    this.#root.classList.remove("waiting");
    this.#message.clear();
    this.#bars.show([]);
    delete this.#list.dataset.source;
    this.#frame.replaceChildren();
    this.#timed(null);
  }

  /** The whole picture. @param {Photo} photo */
  #picture({ name, picture, width, height }) {
    const figure = document.createElement("figure");
    figure.style.aspectRatio = `${width} / ${height}`;
    figure.style.setProperty("--aspect", String(width / height));
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", name);
    figure.append(picture);
    this.#frame.replaceChildren(figure);
  }

  /** The square that the model looked at. @param {number} crop  its side, of the shorter side */
  #outline(crop) {
    const figure = /** @type {HTMLElement} */ (this.#frame.firstElementChild);
    const outline = Object.assign(document.createElement("div"), { className: "crop" });
    outline.style.setProperty("--crop", String(crop));
    figure.querySelector(".crop")?.remove();
    figure.append(outline);
  }
}

/**
 * Classes with their names in the page's language.
 * @param {{index: number, probability: number}[]} top
 * @param {string} model
 * @returns {Promise<import("../../widgets/bars.js").Row[]>}
 */
async function labelled(top, model) {
  const labels = await labelsOf(model);
  return top.map(({ index, probability }) => ({
    index,
    label: labels[index] ?? text.unnamed(index),
    probability,
  }));
}
