// @ts-check
/**
 * Draw a digit, or several side by side, and read what the model makes of them, while they are
 * being drawn.
 */

import { DIGIT_MODEL } from "../catalogue.js";
import { NotReady } from "../engine.js";
import { Latest } from "../latest.js";
import { SIDE, prepareDigit } from "../prepare/digit.js";
import { splitDigits } from "../prepare/split.js";
import { words, wordsOf } from "../said.js";
import { text } from "../text.js";
import { Bars } from "./bars.js";
import { Message } from "./message.js";
import { Pad, SIDE as PAD_SIDE } from "./pad.js";
import { PadKeys } from "./pad_keys.js";
import { PadTools } from "./pad_tools.js";

/**
 * @typedef {object} Question
 * @property {Float32Array<ArrayBuffer>[]} pictures  of the digits, from left to right
 * @property {number} current  the one that is being drawn, which picture and bars tell of
 *
 * @typedef {{digits: number[][], ms: number}} Answer  probabilities per digit; the time of them all
 */

export class Draw {
  #root;
  #pad;
  #tools;
  #bars;
  #result;
  #number;
  #said;
  #seen;
  #message;
  #timed;
  /** @type {Latest<Question, Answer>} */
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
    this.#number = /** @type {HTMLOutputElement} */ (find("[data-testid=digit-number]"));
    this.#said = /** @type {HTMLElement} */ (find(".said"));
    this.#seen = /** @type {HTMLCanvasElement} */ (find(".seen"));
    this.#message = new Message(find(".message"));
    this.#bars = new Bars(find(".bars"));
    this.#pad = new Pad(find("[data-testid=digit-pad]"), () => this.#schedule());
    new PadKeys(find("[data-testid=digit-pad]"), find(".cursor"), this.#pad);
    this.#tools = new PadTools(root, this.#pad);
    this.#latest = new Latest(
      async ({ pictures }) => {
        await engine.ready(DIGIT_MODEL);
        const answer = { digits: /** @type {number[][]} */ ([]), ms: 0 };
        for (const pixels of pictures) {
          const { probabilities, ms } = await engine.digit(pixels);
          answer.digits.push(probabilities);
          answer.ms += ms;
        }
        return answer;
      },
      (answer, { current }) => this.#show(answer, current),
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
    const parts = splitDigits(this.#pad.ink.read(), PAD_SIDE, PAD_SIDE);
    if (!parts.length) return;
    const pictures = parts.flatMap((part) => prepareDigit(part.ink, part.width, part.height) ?? []);
    const current = this.#nearest(parts);
    this.#root.classList.add("inked");
    this.#picture(pictures[current]);
    this.#latest.ask({ pictures, current });
  }

  /**
   * The digit that the newest stroke belongs to.
   * @param {import("../prepare/split.js").Digit[]} parts
   */
  #nearest(parts) {
    const x = this.#pad.ink.tip?.x ?? 0;
    const far = parts.map(({ left, right }) => Math.max(left - x, x - right));
    return far.indexOf(Math.min(...far));
  }

  /**
   * @param {Answer} answer
   * @param {number} current
   */
  #show({ digits, ms }, current) {
    const number = digits.map((shares) => shares.indexOf(Math.max(...shares))).join("");
    this.#message.clear();
    this.#result.ariaBusy = String(this.#scheduled || this.#latest.waiting);
    this.#write(number, current);
    // Screen readers hear of an answer when the pen is up and all the ink is read.
    if (this.#result.ariaBusy === "false" && !this.#pad.ink.drawing) {
      this.#said.textContent = digits.length > 1 ? text.numberRead(number) : text.digitRead(number);
    }
    this.#bars.show(bars(digits[current]));
    this.#timed(ms);
  }

  /**
   * The digit; or the number, in which the digit that is being drawn stands out.
   * @param {string} number
   * @param {number} current
   */
  #write(number, current) {
    const several = number.length > 1;
    this.#root.classList.toggle("several", several);
    this.#result.textContent = number;
    this.#number.style.setProperty("--length", String(number.length));
    const written = several ? [...number] : [];
    this.#number.replaceChildren(
      ...written.map((digit, i) => {
        const element = document.createElement(i === current ? "b" : "span");
        element.textContent = digit;
        return element;
      }),
    );
  }

  /** @param {Error} error */
  #fail(error) {
    this.#result.ariaBusy = "false";
    if (error instanceof NotReady) return; // the status says why
    this.#message.show(words("digitFailed", wordsOf(error)), () => this.answer());
  }

  /** No ink, no answer. */
  #blank() {
    this.#root.classList.remove("inked");
    this.#message.clear();
    this.#write("", 0);
    this.#said.textContent = "";
    this.#result.ariaBusy = "false";
    this.#bars.show(bars(new Array(10).fill(0)));
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
function bars(probabilities) {
  return probabilities.map((probability, index) => ({ index, label: String(index), probability }));
}
