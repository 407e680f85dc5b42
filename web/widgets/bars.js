// @ts-check
/**
 * A list of labels with their probabilities, as bars.
 *
 * Each item has data-index, data-label and data-probability. The style sheet reserves room for all
 * rows, so nothing on the page moves when an answer arrives.
 */

/** @typedef {{index: number, label: string, probability: number}} Row */

export class Bars {
  #list;

  /** @param {HTMLOListElement} list */
  constructor(list) {
    this.#list = list;
  }

  /**
   * Show these rows, in this order. The most probable one is marked, unless all are 0.
   * @param {Row[]} rows
   */
  show(rows) {
    const best = Math.max(0, ...rows.map(({ probability }) => probability));
    while (this.#list.childElementCount > rows.length) this.#list.lastElementChild?.remove();
    rows.forEach((row, i) => {
      // Items are reused, so that their bars are animated.
      const item = /** @type {HTMLLIElement} */ (
        this.#list.children[i] ?? this.#list.appendChild(blank())
      );
      item.dataset.index = String(row.index);
      item.dataset.label = row.label;
      item.dataset.probability = String(row.probability);
      item.classList.toggle("best", best > 0 && row.probability === best);
      item.style.setProperty("--share", row.probability.toFixed(4));
      const [label, , share] = item.children;
      label.textContent = row.label;
      share.textContent = best > 0 ? percent(row.probability) : "";
    });
  }
}

/** @returns {HTMLLIElement} */
function blank() {
  const item = document.createElement("li");
  for (const part of ["label", "track", "share"]) {
    item.append(Object.assign(document.createElement("span"), { className: part }));
  }
  return item;
}

/** @param {number} probability */
export function percent(probability) {
  if (probability < 0.001) return "< 0.1 %";
  return `${(probability * 100).toFixed(probability < 0.9995 ? 1 : 0)} %`;
}
