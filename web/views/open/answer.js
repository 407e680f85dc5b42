// @ts-check
/** The answer of the last run: its outputs with their labels, and its times. */

import { OpenLabels } from "./labels.js";
import { OpenOutput } from "./output.js";
import { OpenTimes } from "./times.js";

/**
 * @typedef {Omit<import("../../shared/contract.js").RunAnswer, "outputs"> & {outputs:
 *   import("./output.js").Output[]}} Answer  with the elements of its outputs
 */

export class OpenAnswer {
  #root;
  #results;
  #times;
  #timed;
  #here = false;
  /** @type {OpenOutput[]} */
  #outputs = [];

  /** The names of the classes, which the visitor may give before a run too. */
  labels;

  /**
   * @param {(name: string) => any} hook  the element with this data-testid
   * @param {HTMLElement} root  is hidden while there is no answer
   * @param {(ms: number | null) => void} timed  gets the time of a run
   */
  constructor(hook, root, timed) {
    this.#root = root;
    this.#results = /** @type {HTMLElement} */ (root.querySelector(".results"));
    this.#times = new OpenTimes(hook("open-times"), hook("open-compared"));
    this.#timed = timed;
    this.labels = new OpenLabels(hook("open-labels"), hook("open-labelled"), (labels) => {
      for (const output of this.#outputs) output.label(labels);
    });
  }

  /** Whether there is one. */
  get here() {
    return this.#here;
  }

  /** @param {Answer} answer */
  show(answer) {
    this.#here = true;
    this.#outputs = answer.outputs.map((output) => new OpenOutput(output, this.labels.all));
    this.#results.replaceChildren(...this.#outputs.map(({ element }) => element));
    this.#root.hidden = false;
    this.labels.expect(answer.outputs.map(({ shape }) => shape.at(-1)));
    this.#times.show(answer);
    this.#timed(answer.first);
  }

  clear() {
    this.#here = false;
    for (const output of this.#outputs) output.close();
    this.#outputs = [];
    this.#root.hidden = true;
    this.#results.replaceChildren();
    this.#times.show(null);
    this.#timed(null);
  }

  /** @param {import("./times.js").Series | null} series */
  measured(series) {
    this.#times.measured(series);
    if (series) this.#timed(series.median);
  }

  /** @param {import("./times.js").Compared} found */
  compared(found) {
    this.#times.compared(found);
    for (const output of this.#outputs) output.compared(found.outputs);
  }

  /** Say how a comparison is going. @param {import("../../i18n/messages.js").Words} status */
  comparing(status) {
    this.#times.compared(status);
  }

  /** A comparison was cancelled. */
  stopped() {
    this.#times.stopped();
  }
}
