// @ts-check
/**
 * Shows how long the visitor's model takes: its first run, a series of warm ones, and the same on
 * the other device; and how much data moved between device and host.
 */

import { DEVICES } from "../../shared/devices.js";
import { labelOf } from "../../i18n/labels.js";
import { follow } from "../../i18n/show.js";
import { say } from "../../i18n/messages.js";
import { text } from "../../i18n/text.js";

/**
 * @typedef {import("../../i18n/messages.js").Words} Words
 * @typedef {import("../../shared/devices.js").Device} Device
 * @typedef {import("../../shared/contract.js").Series} Series
 * @typedef {import("../../shared/contract.js").Compared} Compared
 */

export class OpenTimes {
  #took;
  #comparison;
  /** @type {import("./answer.js").Answer | null} */
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
    this.#comparison = compared;
    follow(took, () => this.#render());
  }

  /** @param {import("./answer.js").Answer | null} answer  null for none */
  show(answer) {
    this.#answer = answer;
    this.#series = this.#compared = null;
    this.#words = "";
    this.#render();
  }

  /** @param {Series | null} series */
  measured(series) {
    this.#series = series;
    this.#render();
  }

  /** @param {Compared | Words} found  the result, or a message about progress or a failure */
  compared(found) {
    const done = typeof found === "object" && "devices" in found;
    this.#compared = done ? found : null;
    this.#words = done ? "" : found;
    this.#render();
  }

  /** The comparison was cancelled. */
  stopped() {
    this.#words = "";
    this.#render();
  }

  #render() {
    this.#renderComparison();
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
    const label = say(labelOf(device));
    const { onGpu, elsewhere } = DEVICES[device];
    const name = (onGpu || elsewhere) && adapter ? `${label} (${adapter})` : label;
    const sentences = [text.openTimes(name, first, this.#series)];
    if (report.host) sentences.push(text.openCrossed(report.host, report.bytes));
    sentences.push(...report.moved.map((why) => text.openMoved(why)));
    this.#took.textContent = sentences.join(" ");
  }

  #renderComparison() {
    const found = this.#compared;
    const lines = found
      ? /** @type {Device[]} */ (Object.keys(DEVICES)).flatMap((device) => {
          const times = found.devices[device];
          const label = say(labelOf(device));
          return times ? [text.openTimes(label, times.first ?? 0, times.series)] : [];
        })
      : [say(this.#words)];
    this.#comparison.textContent = lines.join("\n");
  }
}
