// @ts-check
/** On request, shows what mattered for the answer, as a heat map over the picture. */

import { NotReady } from "../../engine/engine.js";
import { PLACES, occlude } from "./occlusion.js";
import { words, wordsOf } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { text } from "../../i18n/text.js";
import { percent } from "../../widgets/bars.js";

/**
 * @typedef {object} Shown  the answer that the map is about
 * @property {() => Promise<Uint8ClampedArray<ArrayBuffer>>} pixels  the input of the model
 * @property {() => import("../../widgets/bars.js").Row} best  labelled in the current language
 * @property {HTMLElement} area  the square that the model sees
 * @property {(covered: Uint8ClampedArray<ArrayBuffer>) => Promise<number>} ask  for the probability
 *   of `best`
 */

export class Heat {
  #button;
  #bar;
  #status;
  #legend;
  #shown;
  /** @type {{shown: Shown, heat: import("./occlusion.js").Heat} | null} */
  #map = null;
  /** @type {import("../../i18n/messages.js").Words} */
  #failed = "";
  #turn = 0;
  #working = false;

  /**
   * @param {HTMLElement} root
   * @param {() => Shown | null} shown  the current answer
   */
  constructor(root, shown) {
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    this.#shown = shown;
    this.#button = /** @type {HTMLButtonElement} */ (find("[data-testid=heat]"));
    this.#bar = /** @type {HTMLProgressElement} */ (find(".mattered progress"));
    this.#status = /** @type {HTMLElement} */ (find("[data-testid=heat-said]"));
    this.#legend = /** @type {HTMLElement} */ (find(".mattered .legend"));
    this.#button.addEventListener("click", () => this.#press());
    this.update();
  }

  /** Translate the label. */
  relabel() {
    this.#render();
  }

  /** The answer has changed: remove its map, and stop computing one. */
  update() {
    this.#turn += 1;
    this.#working = false;
    this.#map = null;
    this.#failed = "";
    this.#button.disabled = !this.#shown();
    this.#render();
  }

  /** Stop computing a map. */
  stop() {
    if (this.#working) this.update();
  }

  #render() {
    const map = this.#map;
    show(this.#button, () => (this.#working ? text.cancel : map ? text.heatHide : text.heatShow));
    this.#bar.style.visibility = this.#working ? "visible" : "hidden";
    this.#legend.hidden = !map;
    if (map) show(this.#status, () => describe(map.shown.best(), map.heat));
    else show(this.#status, this.#working ? words("heatRuns", PLACES * PLACES) : this.#failed);
  }

  #press() {
    const map = this.#map;
    const shown = this.#shown();
    if (map) map.shown.area.querySelector(".heat")?.remove();
    if (this.#working || map) this.update();
    else if (shown) void this.#run(shown);
  }

  /** @param {Shown} shown */
  async #run(shown) {
    const turn = ++this.#turn;
    this.#working = true;
    this.#bar.max = PLACES * PLACES;
    this.#bar.value = 0;
    this.#failed = "";
    this.#render();
    try {
      const { probability } = shown.best();
      const heat = await occlude(await shown.pixels(), probability, shown.ask, (done) => {
        if (turn === this.#turn) this.#bar.value = done;
        return turn === this.#turn;
      });
      if (!heat || turn !== this.#turn) return;
      this.#map = { shown, heat };
      if (heat.largest > 0) paint(shown.area, heat);
    } catch (error) {
      if (turn !== this.#turn) return;
      // For NotReady the status shows why.
      this.#failed = error instanceof NotReady ? "" : words("heatFailed", wordsOf(error));
    }
    this.#working = false;
    this.#render();
  }
}

/**
 * @param {import("../../widgets/bars.js").Row} best
 * @param {import("./occlusion.js").Heat} heat
 */
function describe({ label, probability }, { largest, row, column }) {
  if (largest < 0.01) return text.heatNowhere(label);
  const third = (/** @type {number} */ index) => Math.min(2, Math.floor((index * 3) / PLACES));
  const where = text.heatPlaces[third(row)][third(column)];
  return text.heatFound(label, where, percent(probability), percent(probability - largest));
}

/**
 * Paint the map in one colour, denser where it mattered more.
 * @param {HTMLElement} area
 * @param {import("./occlusion.js").Heat} heat
 */
function paint(area, { size, drop }) {
  const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size });
  canvas.className = "heat";
  canvas.setAttribute("aria-hidden", "true"); // the status describes it
  area.append(canvas);
  const brush = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = brush.createImageData(size, size);
  const largest = drop.reduce((a, b) => Math.max(a, b), 0);
  drop.forEach((fall, i) => (image.data[4 * i + 3] = (fall / largest) * 220));
  brush.putImageData(image, 0, 0);
  brush.globalCompositeOperation = "source-in"; // the colour, with the map's opacity
  brush.fillStyle = getComputedStyle(canvas).color;
  brush.fillRect(0, 0, size, size);
}
