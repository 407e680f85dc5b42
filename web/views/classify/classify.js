// @ts-check
/**
 * The Classify view: choose, drop or paste photographs. One is shown large with its five most
 * probable classes; several are also shown in a gallery.
 */

import { findModel, labelsOf } from "../../site/catalogue.js";
import { NotReady } from "../../engine/engine.js";
import { Latest } from "../../shared/latest.js";
import { filesOf } from "../../prepare/files.js";
import { readPhoto, startPhotographs } from "../../engine/photo.js";
import { PhotoError } from "../../prepare/photo_error.js";
import { words, wordsOf } from "../../i18n/messages.js";
import { follow } from "../../i18n/show.js";
import { text } from "../../i18n/text.js";
import { Bars } from "../../widgets/bars.js";
import { Camera } from "./camera.js";
import { Copies } from "./copies.js";
import { Gallery } from "./gallery.js";
import { Heat } from "./heat.js";
import { Message } from "../../widgets/message.js";
import { ModelSelect } from "../../widgets/model_select.js";
import { Samples } from "./samples.js";

/**
 * @typedef {import("../../engine/photo.js").Photo} Photo
 * @typedef {{photo: Photo, model: string}} Question
 * @typedef {object} Answer
 * @property {import("../../widgets/bars.js").Row[]} rows
 * @property {string} model
 * @property {import("../../engine/photo.js").Preprocess} preprocess
 * @property {number} ms
 */

/**
 * Until then nothing is drawn for a photograph, since that would slow its answer down. One that has
 * no answer by then is shown without it.
 */
const PATIENCE_MS = 100;

/** @import {View} from "../view.js" */

/** @implements {View} */
export default class Classify {
  #root;
  #input;
  #choice;
  #frame;
  #list;
  #bars;
  #message;
  #gallery;
  #copies;
  #heat;
  #engine;
  #timed;
  #page;
  /** The name of the model to ask; "" while model() looks for it again. @type {string | null} */
  #model = null;
  /** @type {Photo | null} */
  #photo = null;
  /** The photograph whose picture is shown. @type {Photo | null} */
  #drawn = null;
  /** The answer that is shown. @type {Answer | null} */
  #answer = null;
  /** How the last model wants its photographs. @type {Answer["preprocess"] | null} */
  #preprocess = null;
  /** Runs while the page still shows what was there before. @type {number | undefined} */
  #patience;
  #opening = 0;
  /** @type {Latest<Question, Answer>} */
  #latest;

  /**
   * @param {HTMLElement} root
   * @param {import("../view.js").Page} page
   */
  constructor(root, page) {
    const { engine, timed } = page;
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    this.#root = root;
    this.#engine = engine;
    this.#timed = timed;
    this.#page = page;
    this.#input = /** @type {HTMLInputElement} */ (find("[data-testid=image-input]"));
    this.#choice = new ModelSelect(find("[data-testid=model-select]"), "image", page);
    this.#list = /** @type {HTMLOListElement} */ (find("[data-testid=image-result]"));
    this.#frame = /** @type {HTMLElement} */ (find(".photo"));
    this.#message = new Message(find(".message"));
    this.#bars = new Bars(this.#list);
    this.#gallery = new Gallery(find("[data-testid=image-gallery]"), {
      read: (file) => readPhoto(file, this.#preprocess),
      ask: async (photo) => this.#classify({ photo, model: await this.model() }, false),
      open: (file) => void this.#open(file),
      changed: () => this.#copies?.update(),
    });
    new Camera(root, (files) => void this.take(files));
    new Samples(find(".samples"), (files) => void this.take(files));
    this.#copies = new Copies(find(".answer"), () => this.#results());
    this.#heat = new Heat(find(".answer"), () => this.#shown());
    this.#latest = new Latest(
      (question) => this.#classify(question),
      (answer, { photo }) => this.#show(answer, photo),
      (error, { photo }) => this.#fail(error, photo),
    );
    follow(root, () => void this.#relabel());
    this.#input.addEventListener("change", () => {
      void this.take([...(this.#input.files ?? [])]);
    });
    // Otherwise choosing the same file again would raise no change event.
    this.#input.addEventListener("click", () => {
      this.#input.value = "";
    });
  }

  /** Whether the visitor has chosen no picture yet. */
  get untouched() {
    return this.#opening === 0;
  }

  /** The model that this view needs: the requested one, or the first. @returns {Promise<string>} */
  async model() {
    const name = await this.#choice.model();
    const before = this.#model;
    if (name === before) return name;
    this.#model = name;
    const wanted = this.#page.model;
    if (before === null && wanted && wanted !== name) {
      // Another view may have it.
      findModel(wanted).catch(() => this.#message.show(words("unknownModel", wanted)));
    }
    // What the first photograph would wait for.
    startPhotographs();
    labelsOf(name).catch(() => {});
    if (before) this.answer();
    return name;
  }

  /** Take dropped pictures, or folders of them. @param {DataTransfer} transfer */
  drop(transfer) {
    void this.take(filesOf(transfer));
  }

  /**
   * Show and classify one picture, or several in a gallery.
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
   * Show a picture large and classify it.
   * @param {File} file
   */
  async #open(file) {
    const turn = ++this.#opening;
    this.#forget();
    this.#patience = setTimeout(() => this.#wait(), PATIENCE_MS);
    try {
      const photo = await readPhoto(file, this.#preprocess);
      // A newer file may have been chosen meanwhile.
      if (turn !== this.#opening) return photo.close();
      this.#photo = photo;
      if (!this.#patience) this.#picture(photo);
      await this.#ask();
    } catch (error) {
      if (turn === this.#opening) this.#refuse(error);
    }
  }

  /** The results for all pictures in the gallery, or for the one that is shown. */
  #results() {
    if (this.#gallery.items.length) return this.#gallery.items;
    const [photo, answer] = [this.#photo, this.#answer];
    if (!photo || !answer) return [];
    return [{ name: photo.name, model: answer.model, rows: answer.rows, failure: null }];
  }

  /** The answer has changed. */
  #changed() {
    this.#copies.update();
    this.#heat.update();
  }

  /** The answer that the heat map is about. @returns {import("./heat.js").Shown | null} */
  #shown() {
    const [photo, answer] = [this.#photo, this.#answer];
    if (!photo || !answer) return null;
    const { model, preprocess, rows } = answer;
    const { index } = rows[0];
    return {
      pixels: () => photo.pixels(preprocess),
      best: () => answer.rows[0],
      area: /** @type {HTMLElement} */ (this.#frame.querySelector(".crop")),
      ask: async (pixels) => {
        await this.#engine.ready(model);
        const args = { model, pixels, watched: index, keep: false };
        return (await this.#engine.answer("classify.photo", args)).watched;
      },
    };
  }

  /** Translate the labels. */
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

  /** Answer again, after a change of the device or model or after a failure. */
  answer() {
    if (this.#model) this.#model = "";
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
   * @param {boolean} [keep]  whether the panels of the page are about this answer
   * @returns {Promise<Answer>}
   */
  async #classify({ photo, model }, keep = true) {
    labelsOf(model).catch(() => {}); // fetched in parallel; labelled() reports a failure
    const { name, preprocess } = await this.#engine.ready(model);
    this.#preprocess = preprocess;
    const pixels = await photo.pixels(preprocess);
    const args = { model: name, pixels, watched: 0, keep };
    const { top, ms } = await this.#engine.answer("classify.photo", args);
    return { rows: await labelled(top, model), model, preprocess, ms };
  }

  async #ask() {
    const photo = this.#photo;
    if (!photo) return;
    if (!this.#patience) this.#root.classList.add("waiting");
    const model = await this.model().catch(() => null); // the status shows why
    if (model && photo === this.#photo) this.#latest.ask({ photo, model });
  }

  /**
   * @param {Answer} answer
   * @param {Photo} photo
   */
  #show(answer, photo) {
    const { rows, preprocess, ms } = answer;
    this.#hurry();
    this.#answer = answer;
    this.#root.classList.remove("waiting");
    this.#message.clear();
    this.#bars.show(rows);
    this.#picture(photo);
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
    this.#wait();
    this.#root.classList.remove("waiting");
    this.#bars.show([]);
    if (error instanceof NotReady) return; // the status shows why
    if (error instanceof PhotoError)
      this.#refuse(error); // trying again would not help
    else this.#message.show(words("photoFailed", photo.name, wordsOf(error)), () => this.answer());
  }

  /** Show why a picture can't be opened. @param {unknown} error */
  #refuse(error) {
    this.#wait();
    this.#message.show(wordsOf(error));
  }

  /** What is shown changes now. */
  #hurry() {
    clearTimeout(this.#patience);
    this.#patience = undefined;
  }

  /** Forget the picture and the answer, although the page may show them a moment longer. */
  #forget() {
    clearTimeout(this.#patience);
    this.#photo?.close();
    this.#photo = this.#answer = null;
    this.#latest.forget();
    this.#heat.stop();
    delete this.#list.dataset.source;
  }

  /** The answer takes a while: clear what is shown, and show the picture. */
  #wait() {
    if (!this.#patience) return;
    this.#hurry();
    this.#root.classList.remove("chosen");
    this.#changed();
    this.#message.clear();
    this.#bars.show([]);
    this.#drawn = null;
    this.#frame.replaceChildren();
    this.#timed(null);
    const photo = this.#photo;
    if (!photo) return;
    this.#root.classList.add("waiting");
    this.#picture(photo);
  }

  /** Show the whole picture. @param {Photo} photo */
  #picture(photo) {
    if (photo === this.#drawn) return;
    this.#drawn = photo;
    const { name, width, height } = photo;
    const figure = document.createElement("figure");
    figure.style.aspectRatio = `${width} / ${height}`;
    figure.style.setProperty("--aspect", String(width / height));
    const picture = document.createElement("canvas");
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", name);
    figure.append(picture);
    this.#frame.replaceChildren(figure);
    this.#root.classList.add("chosen");
    // Painted with what the caller still changes on the page.
    queueMicrotask(() => photo.draw(picture).catch((error) => this.#refuse(error)));
  }

  /**
   * Mark the square that the model sees.
   * @param {number} crop  its side, as a share of the shorter side
   */
  #outline(crop) {
    const figure = /** @type {HTMLElement} */ (this.#frame.firstElementChild);
    const outline = Object.assign(document.createElement("div"), { className: "crop" });
    outline.style.setProperty("--crop", String(crop));
    figure.querySelector(".crop")?.remove();
    figure.append(outline);
  }
}

/**
 * Add labels in the page's language.
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
