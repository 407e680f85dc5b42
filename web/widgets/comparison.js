// @ts-check
/**
 * WebGPU beside NumPy, on what is on the page: how far their answers differ, and how fast each is.
 */

import { follow, show } from "../i18n/show.js";
import { time } from "../shared/format.js";
import { say, wordsOf } from "../i18n/messages.js";
import { text } from "../i18n/text.js";

/**
 * @typedef {{first: number, warm: number | null}} Times  milliseconds; see py/tallow_page/app.py, run_on
 * @typedef {object} Found
 * @property {number} difference  the largest of two probabilities of one class
 * @property {number} classes
 * @property {Times} webgpu
 * @property {Times} numpy
 *
 * @typedef {() => Promise<string>} FindModel
 */

/** Runs after the first, at most, of which the median is shown. */
const WARM = 5;

const DEVICES = /** @type {const} */ (["webgpu", "numpy"]);
const RUNS = /** @type {const} */ (["first", "warm"]);

export class Comparison {
  #engine;
  #check;
  #checked;
  #compare;
  #compared;
  #said;
  /** Of the model that gave the answer on the page. @type {FindModel | null} */
  #asked = null;
  /** Why one of the two devices can't be had. @type {() => string} */
  #refused = () => "";
  #running = false;
  /** What is said of the check and of the comparison, so that it can be said again. */
  #words = { check: () => "", compare: () => "" };
  /** Answers and devices so far: what was asked before is of no more use. */
  #turn = 0;

  /**
   * @param {HTMLElement} root
   * @param {import("../engine/engine.js").Engine} engine
   */
  constructor(root, engine) {
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    this.#engine = engine;
    this.#check = /** @type {HTMLButtonElement} */ (find("[data-testid=check-numpy]"));
    this.#checked = /** @type {HTMLElement} */ (find("[data-testid=check-result]"));
    this.#compare = /** @type {HTMLButtonElement} */ (find("[data-testid=compare-run]"));
    this.#compared = /** @type {HTMLElement} */ (find("[data-testid=compare-result]"));
    this.#said = /** @type {HTMLElement} */ (find(".said"));
    this.#check.addEventListener("click", () => void this.#run("check"));
    this.#compare.addEventListener("click", () => void this.#run("compare"));
    follow(root, () => this.#show());
    this.#bars(null);
    this.#show();
  }

  /**
   * The page shows another answer.
   * @param {FindModel | null} model  whose it is; null if the page shows none
   */
  answered(model) {
    this.#asked = model;
    this.#forget();
  }

  /** @param {import("../engine/types.js").Actual} had */
  started({ reason, lost }) {
    this.#refused = () => (lost ? text.withoutGpu : reason ? text.noWebGpu(say(reason)) : "");
    this.#forget();
  }

  /** What was found was found for another answer. */
  #forget() {
    this.#turn += 1;
    this.#words = { check: () => "", compare: () => "" };
    delete this.#checked.dataset.maxDiff;
    this.#bars(null);
    this.#show();
  }

  #show() {
    const refused = this.#refused() || (this.#asked ? "" : text.nothingToCheck);
    for (const button of [this.#check, this.#compare]) {
      button.disabled = Boolean(refused) || this.#running;
      button.title = refused;
    }
    this.#checked.textContent = refused || this.#words.check() || text.aboutCheck;
    this.#said.textContent = refused || this.#words.compare() || text.aboutCompare;
  }

  /** @param {"check" | "compare"} what */
  async #run(what) {
    const find = this.#asked;
    if (!find || this.#running) return;
    const turn = this.#turn;
    this.#running = true;
    this.#words[what] = () => text.computingBoth;
    this.#show();
    try {
      const model = await find();
      const found = await this.#engine.runOnBoth(model, what === "compare" ? WARM : 0);
      if (turn === this.#turn) this.#tell(what, found, model);
    } catch (error) {
      const why = wordsOf(error);
      if (turn === this.#turn) this.#words[what] = () => text.bothFailed(say(why));
    }
    this.#running = false;
    this.#show();
  }

  /**
   * @param {"check" | "compare"} what
   * @param {Found} found
   * @param {string} model
   */
  #tell(what, found, model) {
    if (what === "compare") {
      this.#words.compare = () => text.compared(model, WARM);
      this.#bars(found);
    } else {
      this.#words.check = () => text.checked(found.difference, found.classes);
      this.#checked.dataset.maxDiff = String(found.difference);
    }
  }

  /** Two pairs of bars, none where nothing was found. @param {Found | null} found */
  #bars(found) {
    const items = RUNS.flatMap((run) => {
      if (!found) return [];
      const most = Math.max(...DEVICES.map((device) => found[device][run] ?? 0));
      return DEVICES.map((device) => bar(run, device, found[device][run] ?? 0, most));
    });
    this.#compared.hidden = !found;
    this.#compared.replaceChildren(...items);
  }
}

/**
 * @param {"first" | "warm"} run
 * @param {import("../engine/types.js").Device} device
 * @param {number} ms
 * @param {number} most  the longer of the two
 */
function bar(run, device, ms, most) {
  const item = document.createElement("li");
  Object.assign(item.dataset, { run, device });
  item.dataset.ms = ms.toFixed(3);
  item.style.setProperty("--share", (ms / most).toFixed(4));
  for (const part of ["label", "track", "share"]) {
    item.append(Object.assign(document.createElement("span"), { className: part }), " ");
  }
  /** @type {HTMLElement} */ (item.querySelector(".share")).textContent = time(ms);
  name(item);
  return item;
}

/** @param {HTMLElement} item */
function name(item) {
  const { run, device } = item.dataset;
  const label = /** @type {HTMLElement} */ (item.querySelector(".label"));
  const on = device === "webgpu" ? "WebGPU" : "NumPy";
  show(label, () => text.runOn(/** @type {"first" | "warm"} */ (run), on));
}
