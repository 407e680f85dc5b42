// @ts-check
/**
 * Compares the devices on the page's answer: how far their answers differ, and how fast each is.
 */

import { isDevice } from "../shared/devices.js";
import { labelOf } from "../i18n/labels.js";
import { follow, show } from "../i18n/show.js";
import { time } from "../shared/format.js";
import { say, wordsOf } from "../i18n/messages.js";
import { text } from "../i18n/text.js";

/**
 * @typedef {import("../shared/devices.js").Device} Device
 * @typedef {import("../engine/types.js").Comparison} Found
 *
 * @typedef {() => Promise<string>} FindModel
 */

/** The most runs after the first, whose median is shown. */
const MAX_WARM = 5;

const RUNS = /** @type {const} */ (["first", "warm"]);

export class Comparison {
  #engine;
  #check;
  #checked;
  #compare;
  #compared;
  #status;
  /** The model of the answer on the page. @type {FindModel | null} */
  #asked = null;
  #running = false;
  /** The texts about the check and the comparison, as functions so that they can be translated. */
  #words = { check: () => "", compare: () => "" };
  /** Counts answers and devices, to recognise outdated results. */
  #turn = 0;
  /** Stops the comparison whose result is outdated. */
  #stop = new AbortController();

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
    this.#status = /** @type {HTMLElement} */ (find(".said"));
    this.#check.addEventListener("click", () => void this.#run("check"));
    this.#compare.addEventListener("click", () => void this.#run("compare"));
    follow(root, () => this.#show());
    this.#bars(null);
    this.#show();
  }

  /**
   * The page shows another answer.
   * @param {FindModel | null} model  that gave it; null if the page shows none
   */
  answered(model) {
    this.#asked = model;
    this.#forget();
  }

  /** The page has another device. */
  started() {
    this.#forget();
  }

  /** Remove the results, which are for another answer. */
  #forget() {
    this.#turn += 1;
    this.#stop.abort();
    this.#words = { check: () => "", compare: () => "" };
    delete this.#checked.dataset.maxDiff;
    this.#bars(null);
    this.#show();
  }

  #show() {
    const refused = this.#asked ? "" : text.nothingToCheck;
    for (const button of [this.#check, this.#compare]) {
      button.disabled = Boolean(refused) || this.#running;
      button.title = refused;
    }
    this.#checked.textContent = refused || this.#words.check() || text.aboutCheck;
    this.#status.textContent = refused || this.#words.compare() || text.aboutCompare;
  }

  /** @param {"check" | "compare"} what */
  async #run(what) {
    const find = this.#asked;
    if (!find || this.#running) return;
    const turn = this.#turn;
    this.#running = true;
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    this.#words[what] = () => text.computingEach;
    this.#show();
    try {
      const model = await find();
      const found = await this.#engine.compare(model, what === "compare" ? MAX_WARM : 0, {
        signal,
      });
      if (turn === this.#turn) this.#showResult(what, found, model);
    } catch (error) {
      const why = wordsOf(error);
      if (turn === this.#turn) this.#words[what] = () => text.eachFailed(say(why));
    }
    this.#running = false;
    this.#show();
  }

  /**
   * @param {"check" | "compare"} what
   * @param {Found} found
   * @param {string} model
   */
  #showResult(what, found, model) {
    if (what === "compare") {
      this.#words.compare = () => text.compared(model, MAX_WARM);
      this.#bars(found);
    } else {
      this.#words.check = () => text.checked(found.difference, found.classes);
      this.#checked.dataset.maxDiff = String(found.difference);
    }
  }

  /** Show a bar for each device and run, or none. @param {Found | null} found */
  #bars(found) {
    const runs = /** @type {[Device, {first: number | null, warm: number | null}][]} */ (
      Object.entries(found?.runs ?? {})
    );
    const items = RUNS.flatMap((run) => {
      const longest = Math.max(...runs.map(([, times]) => times[run] ?? 0));
      return runs.map(([device, times]) => bar(run, device, times[run] ?? 0, longest));
    });
    this.#compared.hidden = !found;
    this.#compared.replaceChildren(...items);
  }
}

/**
 * @param {"first" | "warm"} run
 * @param {Device} device
 * @param {number} ms
 * @param {number} longest  of all devices
 */
function bar(run, device, ms, longest) {
  const item = document.createElement("li");
  Object.assign(item.dataset, { run, device });
  item.dataset.ms = ms.toFixed(3);
  item.style.setProperty("--share", (ms / longest).toFixed(4));
  for (const part of ["label", "track", "share"]) {
    item.append(Object.assign(document.createElement("span"), { className: part }), " ");
  }
  /** @type {HTMLElement} */ (item.querySelector(".share")).textContent = time(ms);
  name(item);
  return item;
}

/** @param {HTMLElement} item */
function name(item) {
  const { run, device = null } = item.dataset;
  const label = /** @type {HTMLElement} */ (item.querySelector(".label"));
  const on = isDevice(device) ? say(labelOf(device)) : "";
  show(label, () => text.runOn(/** @type {"first" | "warm"} */ (run), on));
}
