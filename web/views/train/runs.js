// @ts-check
/** The list of the runs that are kept. */

import { words } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";

/** @typedef {import("./training.js").Training} Training */
/** @typedef {import("../../shared/contract.js").TrainRun} TrainRun */

export class Runs {
  #list;
  #training;
  /** @type {(TrainRun & {damaged?: true})[]} */
  #runs = [];

  /** @param {HTMLElement} list @param {Training} training */
  constructor(list, training) {
    this.#list = list;
    this.#training = training;
    void this.refresh();
  }

  /** @param {string} run */
  nameOf(run) {
    return this.#runs.find((each) => each.run === run)?.name;
  }

  /** A name that no run has. @param {string} data */
  newName(data) {
    const names = new Set(this.#runs.map(({ name }) => name));
    for (let number = 1; ; number++) {
      const name = `${data} ${number}`;
      if (!names.has(name)) return name;
    }
  }

  async refresh() {
    this.#runs = /** @type {any} */ (await this.#training.engine.ask("train.runs", {}));
    const items = this.#runs.map((run) => {
      const item = document.createElement("li");
      item.dataset.run = run.run;
      const state = /** @type {any} */ (`trainState${run.state?.[0]?.toUpperCase()}${run.state?.slice(1)}`);
      return show(item, words("trainRun", run.name ?? run.run, run.step ?? 0, words(state)));
    });
    if (!items.length) items.push(show(document.createElement("li"), words("trainNoRuns")));
    this.#list.replaceChildren(...items);
  }
}
