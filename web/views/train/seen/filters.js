// @ts-check
/** The filters of the first layer as pictures, and the norms of gradients by layer as they change. */

import { words } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { tiny } from "../../../shared/format.js";
import { make } from "../../../widgets/dom.js";
import { thumb, unpacked } from "./thumbs.js";

/** How many norms of a layer its line has, at most. */
const KEPT = 120;

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Readonly<Record<string, number | null>>} Norms */

/**
 * The points of a line through norms, on a scale of powers of ten, in a box of 1 by 1; those that
 * are not finite, or 0, are left out.
 * @param {readonly (number | null)[]} values  the latest is last
 * @param {number} least @param {number} most  of all layers, so that their lines compare
 */
export function linePoints(values, least, most) {
  const range = Math.log(most / least) || 1;
  return values
    .map((value, i) =>
      value ? [i / (values.length - 1 || 1), 1 - Math.log(value / least) / range] : null,
    )
    .filter((point) => point !== null)
    .map(([x, y]) => `${x.toFixed(3)},${y.toFixed(3)}`)
    .join(" ");
}

export class Filters {
  #pictures;
  #filters;
  #sizes;
  #rows;
  #norms;
  /** @type {Map<string, (number | null)[]>} */
  #history = new Map();

  /** @param {HTMLElement} root  an empty element */
  constructor(root) {
    this.#filters = show(make("h2"), words("trainFilters"));
    this.#pictures = make("div", { class: "filters", role: "img" });
    show(this.#pictures, words("trainFilters"), "aria-label");
    this.#sizes = show(make("h2"), words("trainNorms"));
    this.#rows = make("tbody");
    this.#norms = make("table", { "data-testid": "train-norms" }, this.#rows);
    show(this.#norms, words("trainNorms"), "aria-label");
    root.replaceChildren(this.#filters, this.#pictures, this.#sizes, this.#norms);
    this.clear();
  }

  clear() {
    this.#history.clear();
    this.#rows.replaceChildren();
    this.#sizes.hidden = this.#norms.hidden = true;
    this.#show([]);
  }

  /** @param {Uint8Array} bytes  none if the first layer sees no picture */
  show(bytes) {
    this.#show(unpacked(bytes));
  }

  /** @param {import("./thumbs.js").Picture[]} pictures */
  #show(pictures) {
    this.#filters.hidden = this.#pictures.hidden = !pictures.length;
    this.#pictures.replaceChildren(...pictures.map((each) => thumb(each)));
  }

  /** Add what a look read. @param {Norms} norms  by layer */
  norms(norms) {
    const names = Object.keys(norms);
    if (!names.length) return;
    if (names.join("\0") !== [...this.#history.keys()].join("\0")) this.#begin(names);
    for (const [name, values] of this.#history) {
      values.push(norms[name]);
      if (values.length > KEPT) values.shift();
    }
    const all = [...this.#history.values()].flat().filter(Boolean).map(Number);
    const [least, most] = [Math.min(...all), Math.max(...all)];
    [...this.#history].forEach(([name, values], i) => {
      const [, value, line] = this.#rows.rows[i].cells;
      value.textContent = norms[name] === null ? "—" : tiny(Number(norms[name]));
      value.dataset.value = String(norms[name]);
      line.querySelector("polyline")?.setAttribute("points", linePoints(values, least, most));
    });
    this.#sizes.hidden = this.#norms.hidden = false;
  }

  /** @param {string[]} names */
  #begin(names) {
    this.#history = new Map(names.map((name) => [name, []]));
    this.#rows.replaceChildren(
      ...names.map((name) => {
        const drawing = document.createElementNS(SVG, "svg");
        drawing.setAttribute("viewBox", "0 0 1 1");
        drawing.setAttribute("preserveAspectRatio", "none");
        drawing.setAttribute("aria-hidden", "true");
        drawing.append(document.createElementNS(SVG, "polyline"));
        const head = make("th", { scope: "row" }, name);
        return make("tr", {}, head, make("td"), make("td", {}, drawing));
      }),
    );
  }
}
