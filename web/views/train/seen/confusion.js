// @ts-check
/**
 * The confusion matrix, as a table: how often each class (a row) was read as which (a column). A
 * cell shows its samples. One cell can be reached with the tabulator, the others with arrows.
 */

import { words, wordsOf } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { count } from "../../../shared/format.js";
import { make } from "../../../widgets/dom.js";
import { Message } from "../../../widgets/message.js";
import { Samples } from "./samples.js";

/** The id of what says how the table is read. */
const HOW = "train-confusion-how";

/** How many samples of a cell are shown. */
const MOST = 60;

/** @type {Record<string, [number, number]>} */
const ARROWS = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** @typedef {readonly (readonly number[])[]} Matrix */

/**
 * The next cell in a direction that has samples. @param {Matrix} matrix @param {number} row
 * @param {number} column @param {[number, number]} step @returns {[number, number] | null}
 */
export function nextCell(matrix, row, column, [down, right]) {
  for (;;) {
    row += down;
    column += right;
    const found = matrix[row]?.[column];
    if (found === undefined) return null;
    if (found) return [row, column];
  }
}

/** How strong the colour of each cell is, 0 to 1: of mistakes, beside the most frequent one. @param {Matrix} matrix */
export function strengths(matrix) {
  const wrong = matrix.map((row, i) => row.map((each, j) => (i === j ? 0 : each)));
  const most = Math.max(1, ...wrong.flat());
  return matrix.map((row, i) => {
    const total = Math.max(1, ...[row.reduce((sum, each) => sum + each, 0)]);
    return row.map((each, j) => (i === j ? each / total : each / most));
  });
}

export class Confusion {
  #engine;
  #table;
  #title;
  #samples;
  #message;
  #run = "";
  /** @type {readonly string[]} */
  #classes = [];
  /** @type {Matrix} */
  #matrix = [];
  /** @type {HTMLTableCellElement[][]} */
  #cells = [];
  /** The cell that the tabulator reaches. @type {[number, number]} */
  #at = [0, 0];

  /**
   * @param {HTMLElement} root  an empty element
   * @param {{engine: import("../../../engine/engine.js").Engine}} page
   */
  constructor(root, { engine }) {
    this.#engine = engine;
    // Not a caption, which would be as wide as the table, and be cut where that scrolls.
    const how = show(make("p", { id: HOW, class: "info" }), words("trainConfusionHow"));
    this.#table = make("table", { "data-testid": "train-confusion", "aria-describedby": HOW });
    this.#title = make("h3", { role: "status" });
    const list = make("ol", { class: "samples" });
    const line = make("p", { class: "message", role: "alert" });
    this.#samples = new Samples(list, engine);
    this.#message = new Message(line);
    const heading = show(make("h2"), words("trainConfusion"));
    const wide = make("div", { class: "wide" }, this.#table);
    root.replaceChildren(heading, how, wide, this.#title, list, line);
    this.#table.addEventListener("click", (/** @type {MouseEvent} */ event) => {
      const found = this.#cellOf(event.target);
      if (found) void this.#open(...found);
    });
    this.#table.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      const step = ARROWS[event.key];
      const from = step && this.#cellOf(event.target);
      const to = from && nextCell(this.#matrix, ...from, step);
      if (!to) return;
      event.preventDefault();
      this.#move(to);
      this.#button(to)?.focus();
    });
  }

  clear() {
    this.#classes = [];
    this.#matrix = [];
    this.#table.replaceChildren();
    this.#forget();
  }

  /** @param {string} run @param {import("../../../shared/contract.js").Insight} insight */
  show(run, { classes, confusion }) {
    this.#run = run;
    if (classes.join("\0") !== this.#classes.join("\0")) this.#build(classes);
    const strong = strengths(confusion);
    confusion.forEach((row, i) =>
      row.forEach((each, j) => {
        const cell = this.#cells[i][j];
        cell.style.setProperty("--share", strong[i][j].toFixed(3));
        if (each === this.#matrix[i]?.[j]) return;
        cell.dataset.count = String(each);
        if (!each) cell.textContent = "0";
        else cell.replaceChildren(this.#made(i, j, each));
      }),
    );
    this.#matrix = confusion;
    this.#forget();
    if (!confusion[this.#at[0]]?.[this.#at[1]]) this.#move(this.#first());
  }

  /** @param {readonly string[]} classes */
  #build(classes) {
    this.#classes = classes;
    this.#matrix = [];
    const corner = show(make("th", { scope: "col" }), words("trainTrue"));
    const heads = classes.map((name) => make("th", { scope: "col" }, name));
    this.#cells = classes.map(() => classes.map(() => make("td")));
    const rows = classes.map((name, i) => {
      this.#cells[i][i].classList.add("right");
      return make("tr", {}, make("th", { scope: "row" }, name), ...this.#cells[i]);
    });
    const head = make("thead", {}, make("tr", {}, corner, ...heads));
    this.#table.replaceChildren(head, make("tbody", {}, ...rows));
  }

  /** @param {number} row @param {number} column @param {number} samples */
  #made(row, column, samples) {
    const [at, to] = this.#at;
    const tabindex = at === row && to === column ? "0" : "-1";
    const button = make("button", { type: "button", tabindex }, count(samples));
    const names = [this.#classes[row], this.#classes[column]];
    return show(button, words("trainCell", names[0], names[1], samples), "aria-label");
  }

  /** @returns {[number, number]} */
  #first() {
    const row = this.#matrix.findIndex((each) => each.some(Boolean));
    return row < 0 ? [0, 0] : [row, this.#matrix[row].findIndex(Boolean)];
  }

  /** @param {[number, number]} to */
  #move(to) {
    this.#button(this.#at)?.setAttribute("tabindex", "-1");
    this.#at = to;
    this.#button(to)?.setAttribute("tabindex", "0");
  }

  /** @param {[number, number]} at @returns {HTMLButtonElement | null | undefined} */
  #button([row, column]) {
    return this.#cells[row]?.[column]?.querySelector("button");
  }

  /** @param {EventTarget | null} target @returns {[number, number] | null} */
  #cellOf(target) {
    const cell = /** @type {Element | null} */ (target)?.closest("td");
    const row = this.#cells.findIndex((each) => each.includes(/** @type {any} */ (cell)));
    return row < 0 ? null : [row, this.#cells[row].indexOf(/** @type {any} */ (cell))];
  }

  #forget() {
    this.#samples.clear();
    this.#message.clear();
    show(this.#title, "");
  }

  /** @param {number} label @param {number} predicted */
  async #open(label, predicted) {
    if (!this.#matrix[label][predicted]) return;
    this.#move([label, predicted]);
    this.#message.clear();
    try {
      const asked = { run: this.#run, label, predicted, most: MOST };
      const { samples } = await this.#engine.ask("train.cell", asked);
      const [one, other] = [this.#classes[label], this.#classes[predicted]];
      show(this.#title, words("trainCell", one, other, this.#matrix[label][predicted]));
      await this.#samples.show(this.#run, samples, this.#classes);
    } catch (error) {
      this.#message.show(words("trainSamplesFailed", /** @type {any} */ (wordsOf(error))));
    }
  }
}
