// @ts-check
/**
 * Lets the visitor choose the device, and shows the adapter's name or why WebGPU is
 * unavailable.
 */

import { BEST, DEVICES, MOST_THREADS } from "../../shared/devices.js";
import { follow } from "../../i18n/show.js";
import { say } from "../../i18n/messages.js";
import { text } from "../../i18n/text.js";

export class DeviceChoice {
  #select;
  #info;
  #notThreads;
  /** @type {import("../../engine/types.js").Actual | null} */
  #actual = null;

  /**
   * @param {HTMLSelectElement} select
   * @param {HTMLElement} info
   * @param {(device: import("../../engine/types.js").Device) => void} choose
   * @param {string | null} notThreads  what the address has instead of a number of threads
   */
  constructor(select, info, choose, notThreads) {
    this.#notThreads = notThreads;
    this.#select = select;
    this.#info = info;
    follow(info, () => this.#actual && this.show(this.#actual));
    select.addEventListener("change", () => {
      choose(/** @type {import("../../engine/types.js").Device} */ (select.value));
    });
  }

  /** @param {import("../../shared/devices.js").Wanted} device  requested, but not ready yet */
  wish(device) {
    if (device !== BEST) this.#select.value = device;
  }

  /** @param {import("../../engine/types.js").Actual} actual */
  show(actual) {
    const { device, adapter, lost, threads, refused } = actual;
    const reason = say(actual.reason ?? "");
    this.#actual = actual;
    this.#select.value = device;
    Object.assign(this.#info.dataset, { device, adapter, threads: threads ?? "" });
    const wrong = this.#notThreads;
    const why = lost
      ? text.withoutGpu
      : refused && text.unavailable(DEVICES[refused].label, reason);
    this.#info.textContent = [
      wrong !== null && text.notThreads(wrong, MOST_THREADS),
      why,
      (!why || threads !== null) && nameOf(actual),
    ]
      .filter(Boolean)
      .join(" ");
    for (const option of this.#select.options) {
      option.disabled = option.value === refused;
      option.title = option.disabled ? reason : "";
    }
  }
}

/** @param {import("../../engine/types.js").Actual} actual */
function nameOf({ adapter, named, threads }) {
  const name = named ? adapter : text.unnamedAdapter;
  if (threads === null) return name;
  if (threads === 1 && !globalThis.crossOriginIsolated) return text.notIsolated(name);
  return text.withThreads(name, threads);
}
