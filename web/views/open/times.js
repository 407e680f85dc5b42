// @ts-check
/**
 * How long an opened model takes: its first run, a series of further ones, and the same on the other
 * device; and what crossed between device and host.
 */

import { follow } from "../../i18n/show.js";
import { say } from "../../i18n/messages.js";
import { text } from "../../i18n/text.js";

/**
 * @typedef {import("../../i18n/messages.js").Words} Words
 * @typedef {object} Series  of runs, in milliseconds; low and high are the quartiles
 * @property {number} count
 * @property {number} median
 * @property {number} low
 * @property {number} high
 * @property {number} least
 * @property {number} most
 *
 * @typedef {{first: number | null, series: Series | null}} Times
 * @typedef {object} Compared  see compare_model in py/tallow_page/user_model.py
 * @property {Times} webgpu
 * @property {Times} numpy
 * @property {{name: string, difference: number | null, largest: number | null}[]} outputs
 */

/** What the engine calls its devices. */
const NAMES = { webgpu: "WebGPU", numpy: "NumPy" };

export class OpenTimes {
  #took;
  #place;
  /** @type {import("./open.js").Answer | null} */
  #answer = null;
  /** @type {Series | null} */
  #series = null;
  /** @type {Compared | null} */
  #compared = null;
  /** @type {Words} */
  #words = "";

  /**
   * @param {HTMLElement} took  for the times of the answer
   * @param {HTMLElement} compared  for those of both devices
   */
  constructor(took, compared) {
    this.#took = took;
    this.#place = compared;
    follow(took, () => this.#tell());
  }

  /** @param {import("./open.js").Answer | null} answer  null: there is none any more */
  show(answer) {
    this.#answer = answer;
    this.#series = this.#compared = null;
    this.#words = "";
    this.#tell();
  }

  /** @param {Series | null} series */
  measured(series) {
    this.#series = series;
    this.#tell();
  }

  /** @param {Compared | Words} found  or words, while or why there is nothing */
  compared(found) {
    const told = typeof found === "object" && "webgpu" in found;
    this.#compared = told ? found : null;
    this.#words = told ? "" : found;
    this.#tell();
  }

  /** What was computed on both devices was cancelled. */
  stopped() {
    this.#words = "";
    this.#tell();
  }

  #tell() {
    this.#tellCompared();
    if (!this.#answer) {
      this.#took.textContent = "";
      return;
    }
    const { device, adapter, first, report } = this.#answer;
    Object.assign(this.#took.dataset, {
      device,
      first: first.toFixed(3),
      warm: this.#series?.median.toFixed(3) ?? "",
      runs: String(this.#series?.count ?? 0),
      dispatches: String(report.dispatches),
      host: String(report.host),
    });
    const name = device === "webgpu" && adapter ? `WebGPU (${adapter})` : NAMES[device];
    const told = [text.openTimes(name, first, this.#series)];
    if (report.host) told.push(text.openCrossed(report.host, report.bytes));
    told.push(...report.moved.map((why) => text.openMoved(why)));
    this.#took.textContent = told.join(" ");
  }

  #tellCompared() {
    const found = this.#compared;
    const lines = found
      ? /** @type {("webgpu" | "numpy")[]} */ (["webgpu", "numpy"]).map((device) =>
          text.openTimes(NAMES[device], found[device].first ?? 0, found[device].series),
        )
      : [say(this.#words)];
    this.#place.textContent = lines.join("\n");
  }
}
