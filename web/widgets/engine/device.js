// @ts-check
/**
 * Lets the visitor choose the device, and shows the adapter's name or why WebGPU is
 * unavailable.
 */

import { BEST, DEVICES, MOST_THREADS } from "../../shared/devices.js";
import { follow, show } from "../../i18n/show.js";
import { say, wordsOf } from "../../i18n/messages.js";
import { language, text } from "../../i18n/text.js";
import { make } from "../dom.js";

/** The module of the form for another machine. */
const MACHINE = new URL("./machine.js", import.meta.url);

/** What worker/wasm.js and py/tallow/devices/wasm/runner.py add to an engine's name. */
const RELAXED = " with relaxed SIMD";

/** @typedef {import("../../shared/devices.js").Device} Device */
/** @typedef {import("../../shared/devices.js").Machine} Machine */

export class DeviceChoice {
  #select;
  #info;
  #notThreads;
  #connect;
  #choose;
  /** @type {import("./machine.js").MachineForm | null} */
  #form = null;
  /** @type {import("../../engine/types.js").Actual | null} */
  #actual = null;

  /**
   * @param {HTMLSelectElement} select
   * @param {HTMLElement} info
   * @param {(device: Device, machine?: Machine) => void} choose
   * @param {string | null} notThreads  what the address has instead of a number of threads
   * @param {(machine: Machine) => Promise<void>} connect  rejects if the machine can't be used
   */
  constructor(select, info, choose, notThreads, connect) {
    this.#notThreads = notThreads;
    this.#select = select;
    this.#info = info;
    follow(info, () => this.#actual && this.show(this.#actual));
    this.#choose = choose;
    this.#connect = connect;
    select.addEventListener("change", () => {
      if (DEVICES[this.#chosen].elsewhere) return void this.#ask();
      this.#form?.close();
      choose(this.#chosen);
    });
  }

  get #chosen() {
    return /** @type {Device} */ (this.#select.value);
  }

  /** Ask for the address of another machine. */
  async #ask() {
    try {
      const { MachineForm } = await import(MACHINE.href);
      this.#form ??= this.#made(MachineForm);
      if (DEVICES[this.#chosen].elsewhere) this.#form.open();
    } catch {
      if (this.#actual) this.show(this.#actual);
      this.#info.textContent = text.notImported("machine.js");
    }
  }

  /** @param {typeof import("./machine.js").MachineForm} MachineForm */
  #made(MachineForm) {
    const form = new MachineForm({
      ...{ make, show, language: () => language, tell: (error) => say(wordsOf(error)) },
      select: this.#select,
      connect: this.#connect,
      connected: (machine) => this.#choose(this.#chosen, machine),
      left: () => this.#actual && this.show(this.#actual),
    });
    this.#select.after(form.root);
    return form;
  }

  /** @param {import("../../shared/devices.js").Wanted} device  requested, but not ready yet */
  wish(device) {
    if (device !== BEST) this.#select.value = device;
  }

  /** @param {import("../../engine/types.js").Actual} actual */
  show(actual) {
    const { device, adapter, lost, threads, refused, away } = actual;
    const reason = say(actual.reason ?? "");
    this.#actual = actual;
    // The form stays while its machine is tried.
    if (!this.#form?.isOpen) this.#select.value = device;
    Object.assign(this.#info.dataset, { device, adapter, threads: threads ?? "" });
    const wrong = this.#notThreads;
    const why = lost
      ? text.withoutGpu
      : away
        ? say(away)
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
  const name = named ? adapter.replace(RELAXED, text.relaxed) : text.unnamedAdapter;
  if (threads === null) return name;
  if (threads === 1 && !globalThis.crossOriginIsolated) return text.notIsolated(name);
  return text.withThreads(name, threads);
}
