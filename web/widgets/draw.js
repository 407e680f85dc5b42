// @ts-check
/**
 * Draw a digit and read what the model makes of it, while it is being drawn.
 */

import { DIGIT_MODEL } from "../catalogue.js";
import { NotReady } from "../engine.js";
import { Latest } from "../latest.js";
import { SIDE, prepareDigit } from "../prepare/digit.js";
import { text } from "../text.js";
import { Bars } from "./bars.js";
import { Message } from "./message.js";
import { Pad, SIDE as PAD_SIDE } from "./pad.js";
import { PadKeys } from "./pad_keys.js";
import { PadTools } from "./pad_tools.js";

/**
 * @typedef {Float32Array<ArrayBuffer>} Pixels
 * @typedef {{probabilities: number[], ms: number}} Answer
 */

export class Draw {
  #root;
  #pad;
  #tools;
  #bars;
  #result;
  #said;
  #seen;
  #message;
  #timed;
  /** @type {Latest<Pixels, Answer>} */
  #latest;
  #scheduled = false;

  /**
   * @param {HTMLElement} root
   * @param {import("../engine.js").Engine} engine
   * @param {(ms: number | null) => void} timed  hears the time of each answer
   */
  constructor(root, engine, timed) {
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    this.#root = root;
    this.#timed = timed;
    this.#result = /** @type {HTMLOutputElement} */ (find("[data-testid=digit-result]"));
    this.#said = /** @type {HTMLElement} */ (find(".said"));
    this.#seen = /** @type {HTMLCanvasElement} */ (find(".seen"));
    this.#message = new Message(find(".message"));
    this.#bars = new Bars(find(".bars"));
    this.#pad = new Pad(find("[data-testid=digit-pad]"), () => this.#schedule());
    new PadKeys(find("[data-testid=digit-pad]"), find(".cursor"), this.#pad);
    this.#tools = new PadTools(root, this.#pad);
    this.#latest = new Latest(
      async (pixels) => {
        await engine.ready(DIGIT_MODEL);
        return engine.digit(pixels);
      },
      (answer) => this.#show(answer),
      (error) => this.#fail(error),
    );
    this.#blank();
  }

  /** The model that this view needs. */
  async model() {
    return DIGIT_MODEL;
  }

  /** Answer what is on the page again, because the device has changed or a failure is over. */
  answer() {
    this.#latest.forget();
    this.#timed(null);
    this.#result.ariaBusy = String(!this.#pad.ink.empty);
    this.#read();
  }

  /** Read the ink once a frame at most, however many places the pointer reports. */
  #schedule() {
    this.#tools.show();
    if (this.#pad.ink.empty) {
      // At once: an answer that arrives before the next frame is for ink that is gone.
      this.#latest.forget();
      this.#blank();
      return;
    }
    this.#result.ariaBusy = "true";
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      this.#read();
    });
  }

  #read() {
    const pixels = prepareDigit(this.#pad.ink.read(), PAD_SIDE, PAD_SIDE);
    if (!pixels) return;
    this.#root.classList.add("inked");
    this.#picture(pixels);
    this.#latest.ask(pixels);
  }

  /** @param {Answer} answer */
  #show({ probabilities, ms }) {
    this.#message.clear();
    this.#result.ariaBusy = String(this.#scheduled || this.#latest.waiting);
    this.#result.textContent = String(probabilities.indexOf(Math.max(...probabilities)));
    // Screen readers hear of an answer when the pen is up and all the ink is read.
    if (this.#result.ariaBusy === "false" && !this.#pad.ink.drawing) {
      this.#said.textContent = text.digitRead(this.#result.textContent);
    }
    this.#bars.show(digits(probabilities));
    this.#timed(ms);
  }

  /** @param {Error} error */
  #fail(error) {
    this.#result.ariaBusy = "false";
    if (error instanceof NotReady) return; // the status says why
    this.#message.show(text.digitFailed(error.message), () => this.answer());
  }

  /** No ink, no answer. */
  #blank() {
    this.#root.classList.remove("inked");
    this.#message.clear();
    this.#result.textContent = "";
    this.#said.textContent = "";
    this.#result.ariaBusy = "false";
    this.#bars.show(digits(new Array(10).fill(0)));
    this.#picture(new Float32Array(SIDE * SIDE));
    this.#timed(null);
  }

  /** What the model sees. @param {Float32Array} pixels */
  #picture(pixels) {
    const image = new ImageData(SIDE, SIDE);
    pixels.forEach((value, i) => {
      image.data.fill(Math.round(value * 255), 4 * i, 4 * i + 3);
      image.data[4 * i + 3] = 255;
    });
    this.#seen.getContext("2d")?.putImageData(image, 0, 0);
  }
}

/** @param {number[]} probabilities */
function digits(probabilities) {
  return probabilities.map((probability, index) => ({ index, label: String(index), probability }));
}
