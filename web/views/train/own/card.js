// @ts-check
/** One of the visitor's classes in the list: its name, its newest examples, and what can be done. */

import { words } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { exampleOf } from "../../../site/own_examples.js";
import { make } from "../../../widgets/dom.js";
import { chooser } from "./chooser.js";

/** Examples that are shown, the newest ones. */
const SHOWN = 12;

/** Milliseconds in which examples are shown together. */
const TOGETHER_MS = 500;

const SIGN = 28;

/**
 * @typedef {import("../../../site/own_examples.js").Example["content"]} Content
 *
 * @typedef {object} Acts  what the visitor does
 * @property {(files: File[]) => void} files
 * @property {() => void} camera
 * @property {() => void} record  or ends the recording
 * @property {() => void} draw
 * @property {() => void} remove
 * @property {(number: number) => void} drop  an example
 */

export class ClassCard {
  #acts;
  /** The oldest first. @type {number[]} */
  #numbers = [];
  /** Those that are not shown yet. @type {(readonly [number, Content])[]} */
  #waiting = [];
  #count = make("span", { class: "own-count" });
  #strip = make("ul", { class: "own-strip" });
  /** @type {HTMLButtonElement} */
  #draw = make("button", { type: "button", "data-testid": "train-class-draw" });
  /** @type {HTMLButtonElement} */
  #record = make("button", { type: "button", "data-testid": "train-class-record" });

  /**
   * @param {import("../../../site/own_examples.js").Class} of
   * @param {Acts} acts
   */
  constructor(of, acts) {
    this.of = of;
    this.name = of.name;
    this.#acts = acts;
    const remove = make("button", { type: "button", "data-testid": "train-class-remove" });
    show(remove, words("trainOwnRemove"));
    show(remove, words("trainOwnRemoveClass", of.name), "aria-label");
    remove.addEventListener("click", acts.remove);
    show(this.#draw, words("trainOwnDrawSigns"));
    this.#draw.addEventListener("click", acts.draw);
    this.#record.addEventListener("click", acts.record);
    this.records = false;
    const camera = make("button", { type: "button", "data-testid": "train-class-camera" });
    show(camera, words("trainOwnCamera"));
    camera.addEventListener("click", acts.camera);
    const own = {
      signs: [this.#draw],
      pictures: [this.#files("image/*", "trainOwnPictures"), camera],
      sounds: [this.#record, this.#files("audio/*", "trainOwnSounds")],
    }[of.kind];
    /** @type {HTMLElement} */
    this.item = make(
      "li",
      { "data-class": String(of.number), "data-name": of.name, "data-count": "0" },
      make("div", { class: "own-head" }, make("b", {}, of.name), this.#count, remove),
      this.#strip,
      make("div", { class: "acts" }, ...own),
    );
    this.#tell();
  }

  get count() {
    return this.#numbers.length;
  }

  /** Whether its signs are drawn. @param {boolean} isDrawn */
  set drawn(isDrawn) {
    this.#draw.ariaPressed = String(isDrawn);
  }

  /** Whether the microphone hears for it. */
  get records() {
    return this.#record.ariaPressed === "true";
  }

  /** @param {boolean} isRecording */
  set records(isRecording) {
    this.#record.ariaPressed = String(isRecording);
    show(this.#record, words(isRecording ? "trainOwnRecorded" : "trainOwnRecord"));
  }

  /** Show what the browser has kept. @param {number[]} numbers */
  async fill(numbers) {
    this.#numbers = numbers;
    this.#waiting = [];
    this.#clear();
    for (const number of numbers.slice(-SHOWN)) {
      const example = await exampleOf(number);
      if (example) this.#show(number, example.content);
    }
    this.#tell();
  }

  /** @param {number} number @param {Content} content */
  added(number, content) {
    this.#numbers.push(number);
    this.#waiting = [...this.#waiting, /** @type {const} */ ([number, content])].slice(-SHOWN);
    if (this.#waiting.length > 1) return;
    // Many that are added at once are shown together.
    setTimeout(() => {
      for (const each of this.#waiting) this.#show(...each);
      this.#waiting = [];
      this.#tell();
    }, TOGETHER_MS);
  }

  /** @param {number} number */
  async removed(number) {
    await this.fill(this.#numbers.filter((each) => each !== number));
    this.#strip.querySelector("button")?.focus();
  }

  /** @param {number} number @param {Content} content */
  #show(number, content) {
    const button = make(
      "button",
      { type: "button", "data-testid": "train-example" },
      pictureOf(content),
    );
    show(button, words("trainOwnDrop", this.name), "aria-label");
    show(button, words("trainOwnDrop", this.name), "title");
    button.addEventListener("click", () => this.#acts.drop(number));
    this.#strip.prepend(make("li", {}, button));
    while (this.#strip.childElementCount > SHOWN) this.#free(this.#strip.lastElementChild);
  }

  #clear() {
    while (this.#strip.lastElementChild) this.#free(this.#strip.lastElementChild);
  }

  /** @param {Element} item */
  #free(item) {
    const picture = item.querySelector("img");
    if (picture) URL.revokeObjectURL(picture.src);
    item.remove();
  }

  #tell() {
    this.item?.setAttribute("data-count", String(this.count));
    show(this.#count, words("trainOwnCount", this.count));
  }

  /** @param {string} accept @param {"trainOwnPictures" | "trainOwnSounds"} entry */
  #files(accept, entry) {
    /** @type {HTMLInputElement} */
    const input = make("input", {
      type: "file",
      multiple: "",
      accept,
      "data-testid": "train-class-images",
    });
    show(input, words("trainOwnFilesOf", this.name), "aria-label");
    return chooser(input, words(entry), (files) => this.#acts.files(files));
  }
}

/** @param {Content} content */
function pictureOf(content) {
  if (content instanceof Blob)
    return Object.assign(make("img", { alt: "" }), { src: URL.createObjectURL(content) });
  const isSign = content.length === SIGN * SIGN;
  const surface = make("canvas", { width: String(isSign ? SIGN : 2 * SIGN), height: String(SIGN) });
  const brush = /** @type {HTMLCanvasElement} */ (surface).getContext("2d");
  if (!brush) return surface;
  if (isSign) {
    const image = new ImageData(SIGN, SIGN);
    content.forEach((value, at) =>
      image.data.fill(value, 4 * at, 4 * at + 3).fill(255, 4 * at + 3, 4 * at + 4),
    );
    brush.putImageData(image, 0, 0);
    return surface;
  }
  // How loud a sound is, from its begin to its end.
  const samples = new Int16Array(content.buffer, content.byteOffset, content.length / 2);
  const { width, height } = surface;
  brush.fillStyle = "#888";
  for (let x = 0; x < width; x++) {
    const some = samples.subarray((x * samples.length) / width, ((x + 1) * samples.length) / width);
    const loudest = some.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 32768;
    brush.fillRect(x, (height * (1 - loudest)) / 2, 1, Math.max(1, height * loudest));
  }
  return surface;
}
