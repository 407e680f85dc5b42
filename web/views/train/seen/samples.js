// @ts-check
/** A list of samples: each a picture, what it is labelled, and what the network takes it for. */

import { words } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { percent } from "../../../shared/format.js";
import { make } from "../../../widgets/dom.js";
import { thumb, unpacked } from "./thumbs.js";

/** @typedef {import("../../../shared/contract.js").Mistake} Mistake */

export class Samples {
  #list;
  #engine;
  /** Counts what was shown, so that pictures that come too late are left out. */
  #turn = 0;

  /** @param {HTMLElement} list  an ol @param {import("../../../engine/engine.js").Engine} engine */
  constructor(list, engine) {
    this.#list = list;
    this.#engine = engine;
  }

  clear() {
    this.#turn += 1;
    this.#list.replaceChildren();
  }

  /**
   * Show samples of a run's validation.
   * @param {string} run
   * @param {readonly Mistake[]} found
   * @param {readonly string[]} classes
   */
  async show(run, found, classes) {
    const turn = ++this.#turn;
    const indices = found.map(({ index }) => index);
    const bytes = await this.#engine.ask("train.pictures", { run, part: "valid", indices });
    if (turn !== this.#turn) return;
    const pictures = unpacked(bytes);
    this.#list.replaceChildren(...found.map((each, i) => item(each, classes, pictures[i])));
  }
}

/** @param {Mistake} sample @param {readonly string[]} classes @param {import("./thumbs.js").Picture} picture */
function item({ index, label, predicted, probability }, classes, picture) {
  const said = show(
    make("span"),
    words("trainSample", classes[label], classes[predicted], percent(probability ?? 0)),
  );
  const made = make("li", {}, thumb(picture), said);
  Object.assign(made.dataset, { index, label, predicted });
  return made;
}
