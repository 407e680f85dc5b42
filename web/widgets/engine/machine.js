// @ts-check
/**
 * A form for the address and the token of a machine that lends its device. It is a bundle of its
 * own, which few visitors load.
 */

import { machine as en } from "../../i18n/en/machine.js";
import { machine as zh } from "../../i18n/zh/machine.js";

/**
 * @typedef {import("../../shared/devices.js").Machine} Machine
 *
 * @typedef {object} Page  what the page's own bundle has
 * @property {typeof import("../dom.js").make} make
 * @property {typeof import("../../i18n/show.js").show} show
 * @property {() => import("../../i18n/text.js").Language} language
 * @property {(error: unknown) => string} tell  what an error says, in that language
 * @property {HTMLElement} select  which has the focus after the form
 * @property {(machine: Machine) => Promise<void>} connect  rejects if the machine can't be used
 * @property {(machine: Machine) => void} connected
 * @property {() => void} left  the visitor closed the form
 */

const TEXTS = { en, zh };

/** The key of the address in local storage. */
const KEY = "tallow.machine";

/** The page's policy lets it connect with these without TLS (py/tallow_build/page/headers.py). */
const HERE = new Set(["localhost", "127.0.0.1"]);

/**
 * What Python calls the machine at an address that a visitor wrote.
 * @param {string} address  without a scheme, it is https, or http on this computer
 * @returns {{name: string} | {problem: "unreadable" | "insecure"}}
 */
export function machineAt(address) {
  const bare = address.trim().replace(/^remote:/, "");
  const local = HERE.has(bare.split(/[:/]/)[0]);
  const full = /^\w+:\/\//.test(bare) ? bare : `http${local ? "" : "s"}://${bare}`;
  if (!URL.canParse(full) || /[\s?#@]/.test(bare)) return { problem: "unreadable" };
  const { protocol, host, hostname, pathname } = new URL(full);
  if (!["http:", "https:"].includes(protocol)) return { problem: "unreadable" };
  if (protocol === "http:" && !HERE.has(hostname)) return { problem: "insecure" };
  return { name: `remote:${protocol}//${host}${pathname.replace(/\/+$/, "")}` };
}

export class MachineForm {
  #page;
  #address;
  #token;
  #said;
  /** Counts attempts, to recognise those that were given up. */
  #turn = 0;
  #connecting = false;

  /** @param {Page} page */
  constructor(page) {
    const { make, show } = page;
    this.#page = page;
    this.#address = make("input", {
      ...{ type: "text", inputmode: "url", autocapitalize: "none", spellcheck: "false" },
      ...{ autocomplete: "url", placeholder: "https://", "data-testid": "machine-address" },
    });
    this.#token = make("input", {
      ...{ type: "password", autocomplete: "off", "data-testid": "machine-token" },
    });
    this.#said = make("p", { class: "info", role: "status", "data-testid": "machine-said" });
    const connect = make("button", { "data-testid": "machine-connect" });
    const cancel = make("button", { type: "button", "data-testid": "machine-cancel" });
    const address = make("span");
    const token = make("span");
    /** @type {HTMLFormElement} */
    this.root = make(
      "form",
      { class: "machine", hidden: "", "data-testid": "machine" },
      make("label", {}, address, this.#address),
      make("label", {}, token, this.#token),
      make("div", {}, connect, cancel),
      this.#said,
    );
    show(this.root, () => this.#text.name, "aria-label");
    show(address, () => this.#text.address);
    show(token, () => this.#text.token);
    show(connect, () => this.#text.connect);
    show(cancel, () => this.#text.cancel);
    this.#address.value = stored();
    cancel.addEventListener("click", () => this.#leave());
    this.root.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") this.#leave();
    });
    this.root.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#submit();
    });
  }

  get #text() {
    return TEXTS[this.#page.language()];
  }

  get isOpen() {
    return !this.root.hidden;
  }

  /** Show the form, with what was in it before. */
  open() {
    this.root.hidden = false;
    this.#say(() => this.#text.about);
  }

  /** Hide it, and give up an attempt to connect. */
  close() {
    this.#turn += 1;
    this.#connecting = false;
    if (this.root.contains(document.activeElement)) this.#page.select.focus();
    this.root.hidden = true;
  }

  #leave() {
    this.close();
    this.#page.left();
  }

  async #submit() {
    if (this.#connecting) return;
    const found = machineAt(this.#address.value);
    if ("problem" in found) {
      this.#say(() => this.#text[found.problem], true);
      this.#address.focus();
      return;
    }
    const machine = { name: found.name, token: this.#token.value };
    const turn = ++this.#turn;
    this.#connecting = true;
    this.#say(() => this.#text.connecting);
    try {
      await this.#page.connect(machine);
    } catch (error) {
      if (turn !== this.#turn) return;
      this.#connecting = false;
      this.#say(() => this.#text.refused(this.#page.tell(error)), true);
      return;
    }
    if (turn !== this.#turn) return;
    store(this.#address.value);
    this.close();
    this.#page.connected(machine);
  }

  /**
   * @param {() => string} message
   * @param {boolean} [wrong]
   */
  #say(message, wrong = false) {
    this.#said.dataset.wrong = String(wrong);
    this.#page.show(this.#said, message);
  }
}

/** @returns {string}  empty if nothing is stored, or storage is refused */
function stored() {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} address */
function store(address) {
  try {
    localStorage.setItem(KEY, address);
  } catch {
    // Storage is refused: the field keeps the address as long as the page.
  }
}
