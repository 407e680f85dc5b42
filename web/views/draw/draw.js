// @ts-check
/**
 * The Draw view: recognises one digit, or several side by side, while they are being drawn; or a
 * sign, by a network that the visitor has trained.
 */

import { DIGIT_MODEL, labelsOf } from "../../site/catalogue.js";
import { NotReady } from "../../engine/engine.js";
import { Latest } from "../../shared/latest.js";
import { SIDE, prepareDigit } from "../../prepare/digit.js";
import { splitDigits } from "../../prepare/split.js";
import { likeliest, piecesOf } from "../../prepare/touching.js";
import { words, wordsOf } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { Bars } from "../../widgets/bars.js";
import { Message } from "../../widgets/message.js";
import { ModelSelect } from "../../widgets/model_select.js";
import { PadKeys } from "../../widgets/pad/keys.js";
import { Pad } from "../../widgets/pad/pad.js";
import { PadTools } from "./tools.js";

/**
 * @typedef {import("../../prepare/split.js").Digit} Digit
 *
 * @typedef {object} Question
 * @property {{part: Digit, pieces: import("../../prepare/touching.js").Piece[]}[]} parts  of the ink,
 *   from left to right
 * @property {number} tip  the x of the newest ink
 *
 * @typedef {{digit: Digit, picture: Float32Array<ArrayBuffer>, shares: number[]}} Read
 * @typedef {{digits: Read[], ms: number, labels: string[]}} Answer  digits: from left to right; ms:
 *   of all calls together; labels: of the model's classes
 */

const DIGITS = [..."0123456789"];

/** How many classes are shown of a model that knows others than the digits. */
const SHOWN = 5;

/** @import {View} from "../view.js" */

/** @implements {View} */
export default class Draw {
  #root;
  #engine;
  #choice;
  #pad;
  #tools;
  /** Of the digits. */
  #bars;
  /** Of other classes. */
  #names;
  /** The name of the model to ask; "" until model() has found it. */
  #model = "";
  #labels = DIGITS;
  #result;
  #number;
  #announcement;
  #seen;
  #message;
  #timed;
  /** @type {Latest<Question, Answer>} */
  #latest;
  #scheduled = false;

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
    this.#result = /** @type {HTMLOutputElement} */ (find("[data-testid=digit-result]"));
    this.#number = /** @type {HTMLOutputElement} */ (find("[data-testid=digit-number]"));
    this.#announcement = /** @type {HTMLElement} */ (find(".said"));
    this.#seen = /** @type {HTMLCanvasElement} */ (find(".seen"));
    this.#message = new Message(find(".message"));
    this.#bars = new Bars(find(".digits"));
    this.#names = new Bars(find(".classes"));
    this.#pad = new Pad(find("[data-testid=digit-pad]"), () => this.#schedule());
    new PadKeys(find("[data-testid=digit-pad]"), find(".cursor"), find(".said.pen"), this.#pad);
    this.#tools = new PadTools(root, this.#pad);
    this.#latest = new Latest(
      (question) => this.#ask(question),
      (answer, { tip }) => this.#show(answer, tip),
      (error) => this.#fail(error),
    );
    const select = find("[data-testid=digit-model]");
    this.#choice = new ModelSelect(select, "digit", page, DIGIT_MODEL);
    this.#blank();
  }

  /** The model that this view needs: the requested one, or the site's. @returns {Promise<string>} */
  async model() {
    const name = await this.#choice.model();
    if (name === this.#model) return name;
    const own = this.#choice.own ? await labelsOf(name) : DIGITS;
    const labels = own.join() === DIGITS.join() ? DIGITS : own;
    const again = this.#model || labels !== this.#labels;
    [this.#model, this.#labels] = [name, labels];
    this.#root.classList.toggle("signs", labels !== DIGITS);
    if (!again) return name;
    this.#latest.forget();
    if (this.untouched) this.#blank();
    else this.#read();
    return name;
  }

  /** Whether the visitor has drawn nothing. */
  get untouched() {
    return this.#pad.ink.empty;
  }

  /** Answer again, after a change of the device or after a failure. */
  answer() {
    this.#model = "";
    this.#latest.forget();
    this.#timed(null);
    this.#result.ariaBusy = String(!this.#pad.ink.empty);
    this.#read();
  }

  /** Read the ink at most once a frame, however many points the pointer reports. */
  #schedule() {
    this.#tools.show();
    if (this.#pad.ink.empty) {
      // Not in the next frame: until then an answer for the old ink could arrive.
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
    const digits = this.#labels === DIGITS;
    const ink = this.#pad.ink.read();
    const sign = this.untouched ? [] : [ink]; // one, also of several strokes
    const parts = digits ? splitDigits(ink) : sign;
    if (!parts.length) return;
    const strokes = digits ? this.#pad.ink.layers : [];
    const tip = this.#pad.ink.tip?.x ?? 0;
    const asked = parts.map((part) => ({ part, pieces: piecesOf(part, strokes) }));
    const { part, pieces } = asked[nearest(parts, tip)];
    this.#root.classList.add("inked", "used");
    // With several pieces, the answer decides what to show.
    if (pieces.length === 1) this.#picture(pictureOf(part));
    this.#latest.ask({ parts: asked, tip });
  }

  /**
   * Read each part of the ink as a digit, or as the likeliest row of touching digits.
   * @param {Question} question
   * @returns {Promise<Answer>}
   */
  async #ask({ parts }) {
    const engine = this.#engine;
    const model = this.#model || (await this.model());
    await engine.ready(model);
    /** @type {Answer} */
    const answer = { digits: [], ms: 0, labels: this.#labels };
    for (const { part, pieces } of parts) {
      /** @type {Read[]} */
      const read = [];
      for (const { digit } of pieces) {
        const pixels = pictureOf(digit);
        const { probabilities, ms } = await engine.answer("draw.digit", { model, pixels });
        read.push({ digit, picture: pixels, shares: probabilities });
        answer.ms += ms;
      }
      const shares = read.map((each) => each.shares);
      answer.digits.push(...likeliest(part, pieces, shares).map((i) => read[i]));
    }
    return answer;
  }

  /**
   * @param {Answer} answer
   * @param {number} tip
   */
  #show({ digits, labels, ms }, tip) {
    const names = digits.map(({ shares }) => labels[shares.indexOf(Math.max(...shares))]);
    const current = nearest(
      digits.map(({ digit }) => digit),
      tip,
    );
    this.#message.clear();
    this.#result.ariaBusy = String(this.#scheduled || this.#latest.waiting);
    this.#write(names, current);
    // Screen readers announce an answer when the pen is up and all ink was read.
    if (this.#result.ariaBusy === "false" && !this.#pad.ink.drawing) {
      const entry = names.length > 1 ? "numberRead" : labels === DIGITS ? "digitRead" : "signRead";
      show(this.#announcement, words(entry, names.join("")));
    }
    if (this.#result.ariaBusy === "false") this.#picture(digits[current].picture);
    const rows = bars(digits[current].shares, labels);
    if (labels === DIGITS) this.#bars.show(rows);
    else this.#names.show(rows.sort((a, b) => b.probability - a.probability).slice(0, SHOWN));
    this.#timed(ms);
  }

  /**
   * Show the digit or sign, or the number with the current digit highlighted.
   * @param {string[]} names
   * @param {number} current  index of the digit that is being drawn
   */
  #write(names, current) {
    const several = names.length > 1;
    const whole = names.join("");
    this.#root.classList.toggle("several", several);
    this.#result.textContent = whole;
    this.#root.style.setProperty("--length", String(whole.length));
    const written = several ? names : [];
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
    if (error instanceof NotReady) return; // the status shows why
    this.#message.show(words("digitFailed", wordsOf(error)), () => this.answer());
  }

  /** Clear the answer. */
  #blank() {
    this.#root.classList.remove("inked");
    this.#message.clear();
    this.#write([], 0);
    show(this.#announcement, "");
    this.#result.ariaBusy = "false";
    this.#bars.show(bars(new Array(10).fill(0), DIGITS));
    this.#names.show([]);
    this.#picture(new Float32Array(SIDE * SIDE));
    this.#timed(null);
  }

  /** Show what the model sees. @param {Float32Array} pixels */
  #picture(pixels) {
    const image = new ImageData(SIDE, SIDE);
    pixels.forEach((value, i) => {
      image.data.fill(Math.round(value * 255), 4 * i, 4 * i + 3);
      image.data[4 * i + 3] = 255;
    });
    this.#seen.getContext("2d")?.putImageData(image, 0, 0);
  }
}

/** The input of the model. @param {Digit} digit  with ink */
function pictureOf({ ink, width, height }) {
  return prepareDigit(ink, width, height) ?? new Float32Array(SIDE * SIDE);
}

/**
 * The index of the digit that the newest stroke belongs to.
 * @param {Digit[]} digits
 * @param {number} x  of the end of that stroke
 */
function nearest(digits, x) {
  const distances = digits.map(({ left, right }) => Math.max(left - x, x - right));
  return distances.indexOf(Math.min(...distances));
}

/** @param {number[]} probabilities @param {string[]} labels */
function bars(probabilities, labels) {
  return probabilities.map((probability, index) => ({ index, label: labels[index], probability }));
}
