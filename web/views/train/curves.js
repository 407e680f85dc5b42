// @ts-check
/** Curves of loss and accuracy, of the run that learns and of those it is compared with. */

import uPlot from "uplot";

import { words } from "../../i18n/messages.js";
import { follow } from "../../i18n/show.js";
import { say } from "../../i18n/messages.js";
import { count } from "../../shared/format.js";
import { short } from "./short.js";

/**
 * @typedef {object} Line  a run
 * @property {string} name
 * @property {readonly (readonly [number, number, number])[]} curve  (step, loss, accuracy)
 * @property {readonly Record<string, any>[]} records  of its epochs
 */

/** How the colours of lines go on after the accent. */
const OTHERS = ["#2f7fb8", "#3c9a5f", "#a05fb4", "#c0455e", "#7f7a3a"];

const HEIGHT = 180;

/** From a label of an axis to the next: uPlot's own list ends at 5e31, and a loss at 3.4e38. */
const APART = Array.from({ length: 71 }, (_, at) => `e${at - 32}`).flatMap((power) =>
  [1, 2, 2.5, 5].map((digits) => Number(digits + power)),
);

export class Curves {
  #root;
  /** @type {Line[]} */
  #lines = [];
  /** @type {uPlot[]} */
  #plots = [];
  #waiting = false;
  #wide = 0;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#root = root;
    new ResizeObserver(() => this.#resize()).observe(root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#make());
    follow(root, () => this.#make());
    this.#make();
  }

  /** Draw these runs. @param {Line[]} lines  the one that learns is the first */
  show(lines) {
    this.#lines = lines;
    this.#make();
  }

  /** Draw what came to the runs, with the next frame. */
  draw() {
    if (this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      this.#plots.forEach((plot, at) => plot.setData(this.#data(at)));
    });
  }

  /** @param {number} at  0: loss, 1: accuracy @returns {any} */
  #data(at) {
    const tables = this.#lines.flatMap(({ curve, records }) => {
      const measured = at ? "valid_accuracy" : "valid_loss";
      const known = records.filter((record) => typeof record[measured] === "number");
      return /** @type {any[]} */ ([
        [curve.map(([step]) => step), curve.map((point) => point[at + 1])],
        [known.map(({ step }) => step), known.map((record) => record[measured])],
      ]);
    });
    return tables.length ? uPlot.join(tables) : [[]];
  }

  #make() {
    for (const plot of this.#plots) plot.destroy();
    const style = getComputedStyle(this.#root);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    const colours = [colour("--accent"), ...OTHERS];
    const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 } };
    const below = {
      label: say(words("trainSteps")),
      labelSize: 20,
      labelGap: 0,
      labelFont: "12px system-ui",
      size: 30,
    };
    const whole = (/** @type {number} */ share) => `${Math.round(100 * share)} %`;
    const shown = [(/** @type {number} */ loss) => short(loss), whole];
    this.#plots = shown.map((format, at) => {
      const range = at ? [0, 1] : { min: { soft: 0, mode: 1 }, max: { pad: 0.05 } };
      const title = say(words(at ? "trainAccuracyCurve" : "trainLossCurve"));
      const series = this.#lines.flatMap(({ name }, number) => {
        const stroke = colours[number % colours.length];
        const measured = say(words("trainMeasured", name));
        return [
          { label: name, stroke, width: 1.5, spanGaps: true, points: { show: false } },
          {
            label: measured,
            stroke,
            spanGaps: true,
            dash: [4, 4],
            points: { show: true, size: 7, fill: colour("--paper") },
          },
        ];
      });
      const ticks = {
        incrs: APART,
        values: (/** @type {any} */ _, /** @type {number[]} */ all) => all.map(format),
      };
      const steps = {
        incrs: APART.filter(Number.isInteger),
        values: (/** @type {any} */ _, /** @type {number[]} */ all) => all.map(count),
      };
      const options = {
        title,
        width: this.#width,
        height: HEIGHT,
        cursor: { drag: { x: false, y: false } },
        legend: {
          live: false,
          // What was learnt from is a full square; test data are a hollow one.
          markers: {
            fill: (/** @type {any} */ plot, /** @type {number} */ at) =>
              at % 2 ? plot.series[at].stroke(plot, at) : "",
          },
        },
        scales: { x: { time: false }, y: { range } },
        axes: [
          { ...axis, ...steps, ...below },
          { ...axis, ...ticks, size: 72 },
        ],
        series: [{ label: say(words("trainSteps")) }, ...series],
      };
      return new uPlot(/** @type {any} */ (options), this.#data(at), this.#root);
    });
  }

  get #width() {
    return Math.max(200, Math.floor(this.#root.clientWidth));
  }

  #resize() {
    if (this.#width === this.#wide) return;
    this.#wide = this.#width;
    for (const plot of this.#plots) plot.setSize({ width: this.#width, height: HEIGHT });
  }
}
