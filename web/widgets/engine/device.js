// @ts-check
/**
 * WebGPU or NumPy: the choice, the adapter's real name, or the reason why WebGPU can't be had.
 */

import { follow } from "../../i18n/show.js";
import { say } from "../../i18n/messages.js";
import { text } from "../../i18n/text.js";

export class DeviceChoice {
  #select;
  #info;
  /** @type {import("../../engine/types.js").Actual | null} */
  #had = null;

  /**
   * @param {HTMLSelectElement} select
   * @param {HTMLElement} info
   * @param {(device: import("../../engine/types.js").Device) => void} choose
   */
  constructor(select, info, choose) {
    this.#select = select;
    this.#info = info;
    follow(info, () => this.#had && this.show(this.#had));
    select.addEventListener("change", () => {
      choose(/** @type {import("../../engine/types.js").Device} */ (select.value));
    });
  }

  /** @param {import("../../engine/types.js").Device} device  asked for, not had yet */
  wish(device) {
    this.#select.value = device;
  }

  /** @param {import("../../engine/types.js").Actual} had */
  show(had) {
    const { device, adapter, named, lost } = had;
    const reason = say(had.reason ?? "");
    this.#had = had;
    this.#select.value = device;
    Object.assign(this.#info.dataset, { device, adapter });
    const name = named ? adapter : text.unnamedAdapter;
    this.#info.textContent = lost ? text.withoutGpu : reason ? text.noWebGpu(reason) : name;
    const webgpu = /** @type {HTMLOptionElement} */ (this.#select.querySelector("[value=webgpu]"));
    webgpu.disabled = Boolean(reason);
    webgpu.title = reason;
  }
}
