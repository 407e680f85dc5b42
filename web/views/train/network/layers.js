// @ts-check
/**
 * The table of layers, edited in place. Python says what each row makes of its input
 * (py/tallow_page/train/layers.py); the page says it while the visitor types.
 */

import { words, wordsOf } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { text } from "../../../i18n/text.js";
import { bytes, count, shape } from "../../../shared/format.js";
import { Latest } from "../../../shared/latest.js";
import { make } from "../../../widgets/dom.js";
import { changed, converted, fresh, inserted, moved, removed } from "./rows.js";

/**
 * @typedef {import("./rows.js").Row} Row
 * @typedef {import("../../../shared/contract.js").LayerTable} LayerTable
 * @typedef {import("../../../shared/contract.js").LayerKind} LayerKind
 * @typedef {import("../../../shared/contract.js").RowReason} RowReason
 *
 * @typedef {import("../training.js").Training} Training
 */

/** The network that the visitor has changed. */
const OWN = "own";

/** The table stands open where it leaves room for the curves beside it. */
const WIDE = "(min-width: 60rem)";

/** What is known before Python has started. @type {LayerTable} */
const UNKNOWN = {
  kinds: [],
  presets: [],
  network: "",
  layers: [],
  facts: { error: null, rows: [], parameters: null, memory: null },
};

export class Layers {
  #root;
  #list;
  #button;
  #total;
  #select;
  #training;
  #latest;
  /** @type {Row[]} */
  #rows = [];
  /** What Python said last. @type {LayerTable | null} */
  #table = null;
  /** What was asked last, so that nothing is asked twice. */
  #asked = "";
  /** The kinds that the elements were made for. */
  #drawn = "";

  /**
   * @param {HTMLDetailsElement} root  empty
   * @param {HTMLSelectElement} select  of a network that is offered
   * @param {HTMLElement} total  says what the network takes
   * @param {Training} training
   */
  constructor(root, select, total, training) {
    this.#root = root;
    this.#total = total;
    this.#list = make("ol", { class: "layers", "data-testid": "train-layers" });
    show(this.#list, words("trainLayers"), "aria-label");
    this.#button = make("button", { type: "button", "data-testid": "train-layer-add" });
    show(this.#button, words("trainLayerAdd"));
    const summary = show(make("summary"), words("trainLayers"));
    root.append(summary, this.#list, make("div", { class: "acts" }, this.#button));
    root.open = matchMedia(WIDE).matches;
    this.#select = select;
    this.#training = training;
    this.#latest = new Latest(
      (/** @type {Record<string, unknown>} */ asked) => training.engine.ask("train.layers", asked),
      (/** @type {LayerTable} */ table, asked) => this.#answered(table, /** @type {any} */ (asked)),
      (error) => {
        this.#table = null;
        this.#asked = "";
        show(this.#total, wordsOf(error));
        this.#lock();
        this.#training.tell("layers");
      },
    );
    select.addEventListener("change", () => {
      if (select.value !== OWN) this.#ask(select.value);
    });
    this.#list.addEventListener("input", (/** @type {Event} */ event) => this.#typed(event));
    this.#list.addEventListener("change", (/** @type {Event} */ event) => this.#chosen(event));
    this.#list.addEventListener("click", (/** @type {Event} */ event) => this.#pressed(event));
    this.#list.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) =>
      this.#keyed(event),
    );
    this.#button.addEventListener("click", () => this.#add(this.#rows.length));
    for (const event of ["settings", "data"]) training.on(event, () => this.#follow());
    training.on("state", () => this.#lock());
    this.#follow();
    this.#draw();
  }

  /** Whether the network can be trained, as far as is known. */
  get possible() {
    return !this.#table?.facts.error;
  }

  /** Whether Python has said what can be changed. */
  get known() {
    return this.#table !== null;
  }

  /** Ask once more, after a failure. */
  again() {
    if (!this.#table) this.#follow();
  }

  // ---- changes ----------------------------------------------------------------------------------

  /** Show what the settings have. */
  #follow() {
    this.#rows = /** @type {Row[]} */ (this.#training.settings.layers);
    this.#ask(this.#rows);
  }

  /** @param {Row[]} rows */
  #change(rows) {
    this.#training.change({ layers: rows });
  }

  /** @param {Row[] | string} layers  rows, or the name of a network that is offered */
  #ask(layers) {
    const { facts: data, settings } = this.#training;
    const { batch, optimizer } = settings;
    const asked = { data, layers, batch, optimizer: optimizer.name };
    if (JSON.stringify(asked) === this.#asked) return;
    this.#asked = JSON.stringify(asked);
    this.#latest.ask(asked);
  }

  /** @param {LayerTable} table @param {{layers: Row[] | string}} asked */
  #answered(table, asked) {
    const { layers } = asked;
    this.#table = table;
    if (table.facts.error && JSON.stringify(asked) === this.#asked) this.#root.open = true;
    if (typeof layers === "string") this.#change(/** @type {Row[]} */ ([...table.layers]));
    this.#draw();
    this.#training.tell("layers");
  }

  /** @param {Event} event */
  #at({ target }) {
    const item = /** @type {HTMLElement} */ (target).closest("li");
    return item ? [...this.#list.children].indexOf(item) : -1;
  }

  /** @param {Event} event  of a field */
  #typed(event) {
    const { target } = event;
    if (!(target instanceof HTMLInputElement)) return;
    this.#change(changed(this.#rows, this.#at(event), target.name, target.value));
  }

  /** @param {Event} event  of the choice of a kind */
  #chosen(event) {
    const { target } = event;
    if (!(target instanceof HTMLSelectElement)) return;
    const at = this.#at(event);
    this.#change(converted(this.#rows, at, this.#kind(target.value)));
    this.#draw();
    this.#focus(at, "select");
  }

  /** @param {Event} event  of a button */
  #pressed(event) {
    const button = /** @type {HTMLElement} */ (event.target).closest("button");
    const at = this.#at(event);
    if (!button || at < 0) return;
    const { act } = button.dataset;
    if (act === "up") this.#move(at, -1);
    if (act === "down") this.#move(at, 1);
    if (act === "add") this.#add(at + 1);
    if (act === "remove") this.#remove(at);
  }

  /** Alt and an arrow move the row that has the focus. @param {KeyboardEvent} event */
  #keyed(event) {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by || !event.altKey || event.ctrlKey || event.metaKey || this.#training.busy) return;
    const at = this.#at(event);
    if (at < 0) return;
    event.preventDefault(); // a select would open
    this.#move(at, by);
  }

  /** @param {number} at @param {number} by */
  #move(at, by) {
    const rows = moved(this.#rows, at, by);
    const act = document.activeElement?.getAttribute("data-act");
    const to = Math.min(Math.max(at + by, 0), rows.length - 1);
    this.#change(rows);
    this.#draw();
    this.#focus(to, act ? `[data-act=${act}]` : "select");
  }

  /** @param {number} at */
  #add(at) {
    if (!this.#table) return;
    this.#change(inserted(this.#rows, at, fresh(this.#kind(this.#common()))));
    this.#draw();
    this.#focus(at, "select");
  }

  /** @param {number} at */
  #remove(at) {
    this.#change(removed(this.#rows, at));
    this.#draw();
    if (this.#rows.length) this.#focus(Math.min(at, this.#rows.length - 1), "[data-act=remove]");
    else this.#button.focus();
  }

  /** The kind of a new row: one that changes no shape. */
  #common() {
    const offered = this.#table?.kinds.map(({ kind }) => kind) ?? [];
    return offered.includes("relu") ? "relu" : offered[0];
  }

  /** @param {string} name @returns {LayerKind} */
  #kind(name) {
    const found = this.#table?.kinds.find(({ kind }) => kind === name);
    return found ?? { kind: name, fields: [] };
  }

  /** The numbers of a row, those that it leaves out among them. @param {Row} row */
  #numbers(row) {
    const { fields } = this.#kind(row.kind);
    return { ...Object.fromEntries(fields.map(({ name, value }) => [name, value])), ...row };
  }

  /** @param {number} at @param {string} what */
  #focus(at, what) {
    const item = this.#list.children[at];
    const wanted = /** @type {HTMLButtonElement | null} */ (item?.querySelector(what));
    (wanted?.disabled ? item.querySelector("select") : wanted)?.focus();
  }

  // ---- what is shown ----------------------------------------------------------------------------

  #draw() {
    const table = this.#table ?? UNKNOWN;
    this.#offer(table);
    const list = this.#list;
    // Elements stay while kinds do, so that the visitor goes on typing in them.
    const drawn = JSON.stringify([table.kinds, this.#rows.map(({ kind }) => kind)]);
    if (drawn !== this.#drawn) {
      this.#drawn = drawn;
      list.replaceChildren(...this.#rows.map((row) => this.#item(row)));
    }
    const { error, rows, parameters, memory } = table.facts;
    for (const [at, row] of this.#rows.entries()) {
      const item = list.children[at];
      const bad = error !== null && error.row === at;
      const numbers = this.#numbers(row);
      for (const input of item.querySelectorAll("input")) {
        if (input !== document.activeElement) input.value = String(numbers[input.name] ?? "");
        const own = bad && error.details[0] === input.name;
        input.setAttribute("aria-invalid", String(own));
      }
      const facts = rows[at];
      const [made, own, taken] = ["shape", "parameters", "memory"].map((name) =>
        item.querySelector(`[data-fact=${name}]`),
      );
      show(made, () => (facts?.shape ? text.trainShape(shape([...facts.shape])) : ""));
      show(own, () => (facts?.parameters ? text.trainParameters(count(facts.parameters)) : ""));
      show(taken, () => (facts?.memory ? bytes(facts.memory) : ""));
      const line = /** @type {HTMLElement} */ (item.querySelector("[role=alert]"));
      show(line, () => (bad ? reason(error) : ""));
      item.classList.toggle("failed", bad);
    }
    const all = this.#total;
    all.dataset.parameters = String(parameters ?? "");
    all.dataset.memory = String(memory ?? "");
    show(all, () => {
      if (parameters !== null && memory !== null)
        return text.trainTotal(count(parameters), bytes(memory), this.#training.settings.batch);
      if (!this.#table) return text.trainLayersLater;
      return error && !this.#rows.length ? reason(error) : text.trainImpossible;
    });
    this.#lock();
  }

  /** @param {LayerTable} table */
  #offer({ presets, network }) {
    if (!this.#table) {
      this.#select.replaceChildren(show(new Option("", ""), words("trainNetworkLater")));
      return;
    }
    const names = [...presets, ...(network ? [] : [OWN])];
    const options = names.map((name) =>
      show(new Option("", name), () => text.trainNetworks[name] ?? name),
    );
    this.#select.replaceChildren(...options);
    this.#select.value = network || OWN;
  }

  /** @param {Row} row @returns {HTMLLIElement} */
  #item(row) {
    const kinds = this.#table?.kinds ?? [];
    const names = kinds.map(({ kind }) => kind);
    if (!names.includes(row.kind)) names.push(row.kind);
    const select = make("select");
    for (const name of names)
      select.append(show(new Option("", name), () => text.trainKinds[name] ?? name));
    select.value = row.kind;
    show(select, words("trainKind"), "aria-label");
    const fields = this.#kind(row.kind).fields.map(({ name, least, most, whole }) => {
      const input = make("input", {
        type: "number",
        name,
        min: String(least),
        max: String(most),
        step: whole ? "1" : "0.05",
      });
      const label = make("label", {}, make("span"), input);
      show(label.firstElementChild, () => text.trainFields[name] ?? name);
      return label;
    });
    const acts = /** @type {const} */ ([
      ["up", "↑", "trainLayerUp"],
      ["down", "↓", "trainLayerDown"],
      ["add", "+", "trainLayerAddBelow"],
      ["remove", "✕", "trainLayerRemove"],
    ]).map(([act, sign, entry]) => {
      const button = make("button", { type: "button", "data-act": act }, sign);
      show(button, words(entry), "aria-label");
      show(button, words(entry), "title");
      return button;
    });
    const facts = ["shape", "parameters", "memory"].map((name) =>
      make("span", { "data-fact": name }),
    );
    return make(
      "li",
      {},
      make("div", { class: "kind" }, select, make("div", { class: "acts" }, ...acts)),
      make("div", { class: "numbers" }, ...fields),
      make("div", { class: "facts" }, ...facts),
      make("p", { class: "message", role: "alert" }),
    );
  }

  #lock() {
    const locked = this.#training.busy || !this.#table;
    this.#select.disabled = this.#button.disabled = locked;
    this.#list.ariaBusy = String(!this.#table);
    for (const each of this.#list.querySelectorAll("select, input, button")) each.disabled = locked;
    const [first, last] = [this.#list.firstElementChild, this.#list.lastElementChild];
    if (first) buttonOf(first, "up").disabled = true;
    if (last) buttonOf(last, "down").disabled = true;
  }
}

/** @param {Element} item @param {string} act */
const buttonOf = (item, act) =>
  /** @type {HTMLButtonElement} */ (item.querySelector(`[data-act=${act}]`));

/** Why a row is impossible, in the current language. @param {RowReason} why */
export function reason({ code, details }) {
  const named = code === "UNKNOWN" ? details : details.map((each) => nameOf(each));
  const said = /** @type {Record<string, (...about: any[]) => string>} */ (text.trainReasons)[code];
  return said(...named);
}

/** What the page calls a kind or a field. @param {string | number} name */
const nameOf = (name) => text.trainKinds[name] ?? text.trainFields[name] ?? name;
