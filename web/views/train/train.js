// @ts-check
/** The Train view: a network that learns in this tab. */

import { words, wordsOf } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { count, percent, value } from "../../shared/format.js";
import { published } from "../../site/published.js";
import { Message } from "../../widgets/message.js";
import { Runs } from "./runs.js";
import { Fields } from "./settings.js";
import { LENET, Training } from "./training.js";

/** @import {View} from "../view.js" */
/** @typedef {import("../../site/published.js").Published} Published */
/** @typedef {import("../../shared/contract.js").TrainAnswer} TrainAnswer */

/** Networks to begin with. @type {[string, string, object[]][]} */
const NETWORKS = [["lenet", "LeNet-5", LENET]];

/** @implements {View} */
export default class Train {
  #training;
  #hook;
  #message;
  #fields;
  #runs;
  #timed;
  /** Data sets of the site. @type {Published[]} */
  #data = [];
  /** Ends what is being learnt. @type {AbortController | null} */
  #work = null;
  /** Steps of the whole run. */
  #steps = 0;
  #step = 0;

  /**
   * @param {HTMLElement} root
   * @param {import("../view.js").Page} page
   */
  constructor(root, { engine, timed }) {
    /** @param {string} name @returns {any} */
    const hook = (name) => root.querySelector(`[data-testid=train-${name}]`);
    this.#hook = hook;
    this.#timed = timed;
    this.#training = new Training(engine);
    this.#message = new Message(/** @type {any} */ (root.querySelector(".message")));
    this.#fields = new Fields(/** @type {any} */ (root.querySelector(".fields")), this.#training);
    this.#runs = new Runs(hook("runs"), this.#training);
    hook("network").replaceChildren(...NETWORKS.map(([name, title]) => new Option(title, name)));
    hook("start").addEventListener("click", () => void this.#learn(false));
    hook("step").addEventListener("click", () => void this.#learn(true));
    hook("pause").addEventListener("click", () => this.#pause());
    hook("stop").addEventListener("click", () => this.#pause());
    hook("data").addEventListener("change", () => this.#chooseData());
    for (const event of ["settings", "data", "state"])
      this.#training.on(event, () => this.#render());
    this.#state("idle", words("trainIdle"));
    void this.#list();
  }

  /** This view needs none of the site's own models. @returns {Promise<null>} */
  async model() {
    return null;
  }

  /** Whether nothing was learnt. */
  get untouched() {
    return this.#training.state === "idle";
  }

  /** The device changed, or the worker failed: what learns there has ended. */
  answer() {
    this.#timed(null);
  }

  // ---- data -----------------------------------------------------------------------------------

  /** Show which data there are. */
  async #list() {
    try {
      this.#data = await published("train");
      const options = this.#data.map(({ name, title }) => new Option(title, name));
      this.#hook("data").replaceChildren(...options);
      if (this.#data.length) this.#chooseData();
      else show(this.#hook("data-facts"), words("trainNoData"));
    } catch (error) {
      const line = words("trainNoList", /** @type {any} */ (wordsOf(error)));
      show(this.#hook("data-facts"), line);
    }
    this.#render();
  }

  #chooseData() {
    const { value: name } = this.#hook("data");
    const found = this.#data.find((each) => each.name === name);
    if (!found) return;
    show(this.#hook("data-facts"), words("trainNeeds", found.bytes, found.licence));
    this.#training.learnFrom({ published: name, files: found.files }, name);
  }

  // ---- a run ----------------------------------------------------------------------------------

  /** Begin or go on. @param {boolean} one  whether to stop after a step */
  async #learn(one) {
    const training = this.#training;
    if (training.busy || !training.source) return;
    training.run ??= Date.now().toString(36);
    const { run, settings, source } = training;
    const stop = new AbortController();
    this.#work = stop;
    this.#message.clear();
    this.#state("running", words("trainOpening"));
    const onProgress = (/** @type {any} */ report) => this.#take(report);
    const name = this.#runs.nameOf(run) ?? this.#runs.newName(settings.data.name);
    try {
      const answer = /** @type {TrainAnswer | null} */ (
        await training.engine.ask(
          "train.run",
          { run, name, settings, source, one },
          { signal: stop.signal, onProgress, proves: true },
        )
      );
      if (!answer) {
        this.#fail(words("trainElsewhere"));
        return;
      }
      this.#step = answer.step;
      if (answer.state === "failed") this.#fail(answer.reason?.text ?? "");
      else if (answer.state === "done") this.#state("done", words("trainDone", answer.step));
      else this.#state("paused", words("trainPaused", answer.step, this.#steps));
    } catch (error) {
      if (stop.signal.aborted) this.#state("paused", words("trainPaused", this.#step, this.#steps));
      else this.#fail(wordsOf(error));
    } finally {
      this.#work = null;
      this.#render();
      await this.#runs.refresh();
    }
  }

  #pause() {
    this.#work?.abort();
    show(this.#hook("status"), words("trainPausing"));
  }

  /** @param {any} report */
  #take(report) {
    const { epochs } = this.#training.settings;
    if (report.stage === "fetch") {
      this.#state("running", words("trainFetching", report.done, report.total));
    } else if (report.stage === "begun") {
      this.#steps = report.steps;
    } else if (report.stage === "look") {
      this.#step = report.step;
      const epoch = Math.min(report.epoch + 1, epochs);
      const line = words("trainRunning", epoch, epochs, report.step, this.#steps);
      this.#state("running", line);
      this.#figure("loss", report.loss, value(report.loss));
      this.#figure("accuracy", report.accuracy, percent(report.accuracy));
      this.#figure("rate", report.rate, count(Math.round(report.rate)));
      this.#figure("lr", report.lr, value(report.lr));
      show(this.#hook("left"), words("trainSeconds", report.left));
      this.#hook("status").dataset.step = report.step;
      this.#hook("status").dataset.epoch = report.epoch;
    } else if (report.stage === "record") {
      this.#hook("status").dataset.epoch = report.epoch;
      const { valid_accuracy: right } = report;
      if (right !== null) this.#figure("valid-accuracy", right, percent(right));
    }
    this.#training.tell(report.stage, report);
  }

  /** @param {string} name @param {number} figure @param {string} shown */
  #figure(name, figure, shown) {
    const place = this.#hook(name);
    place.dataset.value = String(figure);
    place.textContent = shown;
  }

  // ---- what is shown --------------------------------------------------------------------------

  /** @param {import("./training.js").State} state @param {import("../../i18n/messages.js").Words} line */
  #state(state, line) {
    const status = this.#hook("status");
    show(status, line);
    if (status.dataset.state === state && this.#training.state === state) return;
    status.dataset.state = state;
    this.#training.become(state);
  }

  /** @param {import("../../i18n/messages.js").Words} why */
  #fail(why) {
    this.#state("failed", words("trainPaused", this.#step, this.#steps));
    this.#message.show(words("trainFailed", /** @type {any} */ (why)));
  }

  #render() {
    const { busy, source, run, state } = this.#training;
    const start = this.#hook("start");
    show(start, words(run && state === "paused" ? "trainResume" : "trainStart"));
    start.disabled = busy || !source;
    this.#hook("step").disabled = busy || !source;
    this.#hook("pause").disabled = this.#hook("stop").disabled = !busy;
    this.#hook("data").disabled = this.#hook("network").disabled = busy;
  }
}
