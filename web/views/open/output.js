// @ts-check
/**
 * Shows one output of the visitor's model: as its best classes, a table, a histogram, a picture or
 * a file.
 */

import { follow, show } from "../../i18n/show.js";
import { value as shown } from "../../shared/format.js";
import { decode, isInteger } from "../../prepare/elements.js";
import { writeNpy } from "../../prepare/npy.js";
import { shownForm, toPicture } from "../../prepare/pictures.js";
import { text } from "../../i18n/text.js";
import { SavedFiles } from "../../widgets/saved_files.js";
import { make } from "../../widgets/dom.js";

/**
 * @typedef {Omit<import("../../shared/contract.js").Output, "members"> & {bytes?: Uint8Array,
 *   members: Output[] | null}} Output  with its elements
 * @typedef {import("../../shared/contract.js").Difference} Difference
 * @typedef {"top" | "table" | "histogram" | "image"} View
 */

/** Limits for what is shown. */
const MAX_ROWS = 20;
const MAX_COLUMNS = 12;
const MAX_CLASSES = 10;
const BINS = 24;

export class OpenOutput {
  #output;
  #values;
  #files = new SavedFiles();
  /** @type {HTMLSelectElement} */
  #view;
  #content;
  #differenceLine;
  /**
   * Chooses which row of classes, or which picture, is shown.
   * @type {HTMLInputElement}
   */
  #partInput;
  /** @type {HTMLElement} */
  #partLabel;
  /** @type {OpenOutput[]} */
  #members;
  /** @type {Difference | null} */
  #difference = null;
  /** @type {string[]} */
  #labels;

  /**
   * @param {Output} output
   * @param {string[]} labels
   * @param {string} [hook]  for tests
   */
  constructor(output, labels, hook = "open-output") {
    const { name, kind, shape, dtype = "" } = output;
    this.#output = output;
    this.#labels = labels;
    this.#values = output.bytes ? decode(output.bytes, dtype) : (output.texts ?? []);
    this.#content = make("div", { class: "shown" });
    this.#differenceLine = make("p", { class: "apart", "data-testid": "open-difference" });
    this.#view = make("select", { "data-testid": "open-view" });
    this.#partInput = make("input", { type: "number", min: "1", value: "1", class: "which" });
    this.#partInput.setAttribute("data-testid", "open-which");
    this.#partInput.addEventListener("change", () => this.#show());
    this.#partLabel = make("label", {}, make("span"), " ", this.#partInput);
    const members = output.members ?? [];
    this.#members = members.map((each) => new OpenOutput(each, labels, "open-member"));
    const type = kind === "texts" ? "string" : dtype;
    this.element = make(
      "section",
      {
        class: "output",
        "data-testid": hook,
        "data-name": name,
        "data-shape": shape.join(","),
        "data-dtype": type,
      },
      make(
        "h3",
        {},
        make("b", {}, name),
        " ",
        show(make("span", { class: "type" }), () =>
          kind === "none"
            ? text.openEmpty
            : kind === "sequence"
              ? text.openMembers(members.length)
              : text.openShape(shape, type),
        ),
      ),
      ...this.#members.map(({ element }) => element),
    );
    show(this.element, () => name, "aria-label");
    const views = this.#views();
    for (const view of views) {
      this.#view.append(show(make("option", { value: view }), () => text.openViews[view]));
    }
    this.#view.addEventListener("change", () => this.#show());
    if (kind === "none" || kind === "sequence") return;
    const acts = make("div", { class: "acts" });
    if (views.length > 1) {
      const label = show(make("span"), () => text.openAs);
      acts.append(make("label", {}, label, " ", this.#view), this.#partLabel);
    }
    if (kind === "tensor") {
      const save = make("button", { type: "button", "data-testid": "open-download" });
      save.addEventListener("click", () => this.#download());
      acts.append(show(save, () => text.openDownload));
    }
    if (kind === "tensor" && views.length) {
      this.element.append(show(make("p", { class: "type" }), this.#statistics()));
    }
    this.element.append(acts, this.#content, this.#differenceLine);
    this.#show();
    follow(this.element, () => this.#show());
  }

  /** @param {string[]} labels */
  label(labels) {
    this.#labels = labels;
    for (const member of this.#members) member.label(labels);
    this.#show();
  }

  /** @param {Difference[]} found  of all outputs */
  compared(found) {
    for (const member of this.#members) member.compared(found);
    this.#difference = found.find(({ name }) => name === this.#output.name) ?? null;
    this.element.dataset.difference = String(this.#difference?.difference ?? "");
    this.#renderDifference();
  }

  #renderDifference() {
    const found = this.#difference;
    show(this.#differenceLine, () =>
      found ? text.openApart(found.difference, found.largest) : "",
    );
  }

  /** The ways to show it, the most suitable first. @returns {View[]} */
  #views() {
    const { kind, shape, dtype = "" } = this.#output;
    if (!this.#values.length) return [];
    if (kind !== "tensor") return ["table"];
    const classes = shape.at(-1) ?? 1;
    const rows = this.#values.length / classes;
    /** @type {View[]} */
    const views = ["table", "histogram"];
    if (shownForm(shape)) {
      if (shape.length > 2) views.unshift("image");
      else views.push("image");
    }
    const scores = !isInteger(dtype) && dtype !== "bool";
    if (scores && classes > 1 && rows === 1) views.unshift("top");
    else if (scores && classes > 1 && shape.length === 2) views.push("top");
    return views;
  }

  /** How many rows of classes, or pictures, the visitor can choose from. */
  #partCount() {
    const { shape } = this.#output;
    const form = shownForm(shape);
    switch (this.#view.value) {
      case "top":
        return this.#values.length / (shape.at(-1) ?? 1);
      case "image":
        return form ? this.#values.length / (form.channels * form.height * form.width) : 1;
      default:
        return 1;
    }
  }

  /** The index of the row or picture that is shown. */
  #partIndex() {
    const chosen = Math.trunc(Number(this.#partInput.value)) || 1;
    return Math.min(Math.max(chosen, 1), this.#partCount()) - 1;
  }

  #show() {
    if (!this.#values.length) return;
    const name = this.#output.name;
    const parts = this.#partCount();
    this.#partLabel.hidden = parts === 1;
    this.#partInput.max = String(parts);
    this.#partInput.value = String(this.#partIndex() + 1);
    if (this.#partLabel.firstChild) this.#partLabel.firstChild.textContent = text.openWhich(parts);
    switch (this.#view.value) {
      case "top":
        return this.#content.replaceChildren(this.#top());
      case "histogram":
        return this.#content.replaceChildren(this.#histogram(name));
      case "image":
        return this.#content.replaceChildren(this.#picture(name));
      default:
        return this.#content.replaceChildren(...this.#table(name));
    }
  }

  #top() {
    const classes = this.#output.shape.at(-1) ?? 1;
    const from = this.#partIndex() * classes;
    const values = /** @type {Float32Array} */ (this.#values).slice(from, from + classes);
    const order = Array.from(values, (_, i) => i)
      .filter((i) => !Number.isNaN(values[i]))
      .sort((a, b) => values[b] - values[a])
      .slice(0, MAX_CLASSES);
    const most = Math.max(...order.map((i) => values[i]));
    const least = Math.min(0, ...order.map((i) => values[i]));
    const items = order.map((i) => {
      const label = this.#labels[i] || text.openClass(i);
      const item = make(
        "li",
        { "data-index": String(i), "data-label": label, "data-value": String(values[i]) },
        make("span", { class: "label" }, label),
        make("span", { class: "track" }),
        make("span", { class: "share" }, shown(values[i])),
      );
      item.classList.toggle("best", i === order[0]);
      const share = most > least ? (values[i] - least) / (most - least) : 0;
      item.style.setProperty("--share", share.toFixed(4));
      return item;
    });
    const list = make("ol", { class: "bars ranked", "data-testid": "open-top" }, ...items);
    list.setAttribute("aria-label", text.openViews.top);
    return list;
  }

  /** @param {string} name */
  #table(name) {
    const { shape } = this.#output;
    const columns = Math.max(1, shape.at(-1) ?? 1);
    const rows = Math.ceil(this.#values.length / columns);
    const across = Math.min(columns, MAX_COLUMNS);
    const body = make("tbody", { role: "rowgroup" });
    for (let y = 0; y < Math.min(rows, MAX_ROWS); y++) {
      const row = make("tr", { role: "row" });
      for (let x = 0; x < across; x++) {
        const value = this.#values[y * columns + x];
        if (value === undefined) break;
        row.append(make("td", { role: "cell" }, this.#written(value)));
      }
      body.append(row);
    }
    const table = make("table", { role: "table", "data-testid": "open-table" }, body);
    table.setAttribute("aria-label", text.openOutputTable(name));
    const seen = Math.min(rows, MAX_ROWS) * across;
    const scroll = make("div", { class: "pane", role: "region", tabindex: "0" }, table);
    scroll.setAttribute("aria-label", text.openOutputTable(name));
    if (seen === this.#values.length) return [scroll];
    return [scroll, make("p", { class: "type" }, text.openFirst(seen, this.#values.length))];
  }

  /** @param {number | bigint | string} value */
  #written(value) {
    if (typeof value === "string") return value;
    return this.#output.dtype === "bool" ? String(Boolean(value)) : shown(value);
  }

  /** @param {string} name */
  #histogram(name) {
    const { least, most } = statisticsOf(this.#values);
    const bins = new Array(BINS).fill(0);
    const width = (most - least) / BINS || 1;
    for (let i = 0; i < this.#values.length; i++) {
      const value = Number(this.#values[i]);
      if (Number.isFinite(value)) bins[Math.min(BINS - 1, Math.floor((value - least) / width))]++;
    }
    const highest = Math.max(1, ...bins);
    const items = bins.map((count, i) => {
      const [from, to] = [least + i * width, least + (i + 1) * width].map(shown);
      const words = text.openBin(from, to, count);
      const item = make("li", { title: words }, make("span", { class: "hidden" }, words));
      item.style.setProperty("--share", (count / highest).toFixed(4));
      return item;
    });
    const list = make("ol", { class: "bins", "data-testid": "open-histogram" }, ...items);
    list.setAttribute("aria-label", text.openOutputHistogram(name));
    const ends = [make("span", {}, shown(least)), make("span", {}, shown(most))];
    return make("div", {}, list, make("p", { class: "ends", "aria-hidden": "true" }, ...ends));
  }

  /** @param {string} name */
  #picture(name) {
    const { shape, dtype } = this.#output;
    const form = shownForm(shape);
    const surface = make("canvas", { role: "img", class: "drawn", "data-testid": "open-picture" });
    surface.setAttribute("aria-label", text.openOutputPicture(name));
    if (!form) return surface;
    const size = form.channels * form.height * form.width;
    const from = this.#partIndex() * size;
    const values = /** @type {Float32Array} */ (this.#values).slice(from, from + size);
    const image = toPicture(values, form, dtype === "uint8");
    Object.assign(surface, { width: form.width, height: form.height });
    surface.getContext("2d")?.putImageData(image, 0, 0);
    return surface;
  }

  /** @returns {() => string} */
  #statistics() {
    const { least, most, mean, notFinite } = statisticsOf(this.#values);
    const [from, to, middle] = [least, most, mean].map(shown);
    return () => text.openStatistics(from, to, middle, notFinite);
  }

  #download() {
    const { name, bytes, dtype = "", shape } = this.#output;
    const file = `${name.replace(/[^\w.-]+/g, "_") || "output"}.npy`;
    this.#files.save(file, () => writeNpy(bytes ?? new Uint8Array(), dtype, shape));
  }

  /** Free its files, once it is no longer shown. */
  close() {
    for (const member of this.#members) member.close();
    this.#files.forget();
  }
}

/**
 * @param {ArrayLike<number | bigint | string>} values
 * @returns {{least: number, most: number, mean: number, notFinite: number}}  of the finite values;
 *   notFinite: how many others there are
 */
function statisticsOf(values) {
  let [least, most, sum, notFinite] = [Infinity, -Infinity, 0, 0];
  for (let i = 0; i < values.length; i++) {
    const value = Number(values[i]);
    if (!Number.isFinite(value)) {
      notFinite += 1;
      continue;
    }
    if (value < least) least = value;
    if (value > most) most = value;
    sum += value;
  }
  const seen = values.length - notFinite;
  return seen
    ? { least, most, mean: sum / seen, notFinite }
    : { least: 0, most: 0, mean: 0, notFinite };
}
