// @ts-check
/** What is seen of the run that is open, beside its curves: it follows what the run reports. */

import { words, wordsOf } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { Latest } from "../../../shared/latest.js";
import { make } from "../../../widgets/dom.js";
import { Message } from "../../../widgets/message.js";
import { Changes } from "./changes.js";
import { Confusion } from "./confusion.js";
import { Elsewhere } from "../use/elsewhere.js";
import { Filters } from "./filters.js";
import { Mistakes } from "./mistakes.js";
import { Review } from "./review.js";
import { Use } from "../use/use.js";

/** @typedef {import("../../../shared/contract.js").Insight} Insight */
/** @typedef {{insight: Insight, filters: Uint8Array}} Learnt */

export class Seen {
  #training;
  #confusion;
  #mistakes;
  #filters;
  #review;
  #use;
  #elsewhere;
  #message;
  #look;
  #parts;
  #changes;
  /** The run that Python has open; "" for none. */
  #run = "";
  /** @type {Latest<string, Learnt>} */
  #latest;

  /**
   * @param {HTMLElement} root  of the view
   * @param {import("../../view.js").Page} page
   * @param {import("../training.js").Training} training
   * @param {() => void} look  has Python open the run that is shown, which is done
   */
  constructor(root, page, training, look) {
    this.#training = training;
    /** @param {string} name @returns {any} */
    const part = (name) => root.querySelector(`[data-part=${name}]`);
    const [confusion, mistakes, filters] = [1, 2, 3].map(() => make("div"));
    const alert = make("p", { class: "message", role: "alert" });
    this.#look = show(
      make("button", { type: "button", "data-testid": "train-run-look", hidden: "" }),
      words("trainLook"),
    );
    this.#look.addEventListener("click", look);
    part("insight").replaceChildren(this.#look, alert, confusion, mistakes, filters);
    this.#parts = [confusion, mistakes, filters, part("review")];
    this.#message = new Message(alert);
    this.#confusion = new Confusion(confusion, page);
    this.#mistakes = new Mistakes(mistakes, page);
    this.#filters = new Filters(filters);
    this.#changes = new Changes(() => localStorage, location.pathname);
    this.#review = new Review(part("review"), page, this.#changes, () => this.#learnChanged());
    this.#use = new Use(part("use"), page);
    this.#elsewhere = new Elsewhere(part("elsewhere"), page);
    const { engine } = page;
    this.#latest = new Latest(
      async (run) => ({
        insight: await engine.ask("train.insight", { run }),
        filters: await engine.ask("train.filters", { run }),
      }),
      (learnt, run) => void this.#show(learnt, run),
      (error) => this.#fail(error),
    );
    training.on("begun", ({ run }) => this.#open(run));
    training.on("look", ({ norms }) => norms && this.#filters.norms(norms));
    for (const event of ["record", "ended"]) training.on(event, () => this.#latest.ask(this.#run));
    training.on("closed", () => this.close());
    training.on("data", () => this.#take());
    training.on("state", () => this.#settle());
    this.close();
  }

  /** Python has no run open any more. */
  close() {
    this.#run = "";
    this.#latest.forget();
    this.#message.clear();
    this.#use.close();
    this.#elsewhere.close();
    for (const part of this.#parts) part.hidden = true;
  }

  /** @param {string} run */
  #open(run) {
    if (run === this.#run) return;
    this.close();
    this.#run = run;
    this.#confusion.clear();
    this.#mistakes.clear();
    this.#filters.clear();
    this.#review.open(run);
  }

  /** Perhaps another run is shown. */
  #settle() {
    const { state, run } = this.#training;
    this.#look.hidden = state !== "done" || !run || run === this.#run;
    if ((state === "paused" || state === "done") && run && run !== this.#run) this.close();
  }

  /** @param {Learnt} learnt @param {string} run */
  async #show({ insight, filters }, run) {
    const [confusion, mistakes, first, review] = this.#parts;
    const measured = insight.confusion.length > 0;
    this.#message.clear();
    confusion.hidden = mistakes.hidden = !measured;
    review.hidden = !insight.classes.length;
    first.hidden = false;
    this.#filters.show(filters);
    this.#use.open(run, insight.kind, insight.shape);
    this.#elsewhere.open(run, insight.kind, insight.shape);
    if (!measured) return;
    this.#confusion.show(run, insight);
    await this.#mistakes.show(run, insight);
  }

  /** @param {unknown} error */
  #fail(error) {
    this.#message.show(words("trainSamplesFailed", /** @type {any} */ (wordsOf(error))));
  }

  // ---- changes to labels --------------------------------------------------------------------

  /** Other data are chosen: what was decided about them before. */
  #take() {
    const { settings } = this.#training;
    const whole = this.#changes.open(settings.data.name);
    this.#message.show(whole ? "" : words("trainChangesDamaged"));
    const { changes: _, ...data } = settings.data;
    const { all } = this.#changes;
    settings.data = all.length ? { ...data, changes: [...all] } : data;
  }

  /** What learns from now on learns from the labels as they are now. */
  #learnChanged() {
    const { changes: _, ...data } = this.#training.settings.data;
    this.#training.change({ data: { ...data, changes: [...this.#changes.all] } });
  }
}
