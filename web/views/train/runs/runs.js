// @ts-check
/** The list of the runs that are kept: opened, named, compared, shared, removed. */

import { words, wordsOf } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { SavedFiles } from "../../../widgets/saved_files.js";
import { differences } from "./differences.js";

/** @typedef {import("../training.js").Training} Training */
/** @typedef {import("../../../i18n/messages.js").Words} Words */
/** @typedef {import("../../../shared/contract.js").TrainRun} TrainRun */
/** @typedef {TrainRun & {damaged?: true}} Kept */

/**
 * @typedef {object} Acts  what a run's buttons do
 * @property {(run: TrainRun) => void} open
 * @property {() => void} compare  other runs are compared
 * @property {(why: Words) => void} fail
 */

export class Runs {
  #list;
  #differences;
  #training;
  #acts;
  #saved = new SavedFiles();
  /** @type {Kept[]} */
  #runs = [];
  /** Those that are compared. @type {Set<string>} */
  #compared = new Set();

  /**
   * @param {HTMLElement} list
   * @param {HTMLTableElement} differences
   * @param {Training} training
   * @param {Acts} acts
   */
  constructor(list, differences, training, acts) {
    this.#list = list;
    list.tabIndex = -1;
    this.#differences = differences;
    this.#training = training;
    this.#acts = acts;
    for (const event of ["state", "settings", "data"]) training.on(event, () => this.#render());
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

  /** The runs that are compared with the one that is shown. */
  get compared() {
    return this.#runs.filter(({ run }) => this.#compared.has(run) && run !== this.#training.run);
  }

  /** Show what is kept now. */
  async refresh() {
    try {
      this.#runs = await this.#training.engine.ask("train.runs", {});
    } catch {
      return; // without a worker there is nothing to show; the page says what failed
    }
    this.#saved.forget();
    const there = new Set(this.#runs.map(({ run }) => run));
    for (const run of this.#compared) if (!there.has(run)) this.#compared.delete(run);
    this.#render();
  }

  #render() {
    const items = this.#runs.map((run) => this.#item(run));
    if (!items.length) items.push(show(document.createElement("li"), words("trainNoRuns")));
    this.#keepFocus(() => this.#list.replaceChildren(...items));
    this.#compare();
  }

  /** Change the list; the focus stays on a run, or goes to the one that takes its place. @param {() => void} change */
  #keepFocus(change) {
    const one = /** @type {HTMLElement | null} */ (document.activeElement);
    const listed = () => /** @type {HTMLElement[]} */ ([...this.#list.children]);
    const at = listed().findIndex((item) => item.contains(one));
    const run = listed()[at]?.dataset.run;
    change();
    if (!one || at < 0) return;
    const items = listed();
    const item = items.find(({ dataset }) => dataset.run === run) ?? items[at] ?? items[at - 1];
    /** @type {HTMLButtonElement[]} */
    const buttons = [...(item?.querySelectorAll("button") ?? [])];
    const usable = buttons.filter(({ hidden, disabled }) => !hidden && !disabled);
    const same = usable.find(({ dataset }) => dataset.testid === one.dataset.testid);
    (same ?? usable[0] ?? this.#list).focus();
  }

  /** @param {Kept} kept */
  #item(kept) {
    const { run, name, state, step, epoch, settings, records, damaged } = kept;
    const item = document.createElement("li");
    item.dataset.run = run;
    const learns = this.#training.busy && this.#training.run === run;
    const line = show(
      document.createElement("p"),
      damaged
        ? words("trainDamagedRun", run)
        : words("trainRun", step, epoch, settings.epochs, words(STATES[state] ?? STATES.paused)),
    );
    line.className = "info";
    const last = records?.findLast(({ valid_accuracy: right }) => typeof right === "number");
    if (last) {
      const right = show(document.createElement("span"), words("trainRight", last.valid_accuracy));
      line.append(" ", right);
    }
    const acts = document.createElement("div");
    acts.className = "acts";
    if (damaged) {
      acts.append(this.#button("remove", "trainRemove", () => this.#remove(run)));
      item.append(line, acts);
      return item;
    }
    const field = document.createElement("input");
    Object.assign(field, { type: "text", value: name, required: true, maxLength: 80 });
    field.disabled = learns;
    show(field, words("trainName"), "aria-label");
    field.dataset.testid = "train-run-name";
    field.addEventListener("change", () => void this.#rename(run, field.value.trim()));
    const check = document.createElement("input");
    Object.assign(check, { type: "checkbox", checked: this.#compared.has(run) });
    check.dataset.testid = "train-run-compare";
    check.addEventListener("change", () => {
      if (check.checked) this.#compared.add(run);
      else this.#compared.delete(run);
      this.#compare();
      this.#acts.compare();
    });
    const label = document.createElement("label");
    label.className = "check";
    label.append(check, show(document.createElement("span"), words("trainCompare")));
    const open = this.#button("open", "trainShow", () => this.#acts.open(kept));
    open.disabled = this.#training.busy;
    open.hidden = run === this.#training.run;
    const remove = this.#button("remove", "trainRemove", () => this.#remove(run));
    remove.disabled = learns;
    const share = this.#button("share", "trainShare", () => this.#share(kept));
    acts.append(open, share, remove, label);
    item.append(field, line, acts);
    if (run === this.#training.run) item.setAttribute("aria-current", "true");
    return item;
  }

  /** @param {string} hook @param {"trainShow" | "trainRemove" | "trainShare"} entry @param {() => void} act */
  #button(hook, entry, act) {
    const button = Object.assign(document.createElement("button"), { type: "button" });
    button.dataset.testid = `train-run-${hook}`;
    button.addEventListener("click", act);
    return show(button, words(entry));
  }

  /** @param {string} run @param {string} name */
  async #rename(run, name) {
    if (name) await this.#ask("train.rename", { run, name });
    await this.refresh();
    this.#acts.compare(); // curves have the names of their runs
  }

  /** @param {string} run */
  async #remove(run) {
    const done = await this.#ask("train.remove", { run });
    if (done === false) this.#acts.fail(words("trainElsewhere"));
    if (done && this.#training.run === run) this.#training.run = null;
    await this.refresh();
    this.#training.tell("state");
    this.#acts.compare();
  }

  /** @param {TrainRun} kept */
  async #share({ run, name }) {
    const content = await this.#ask("train.share", { run });
    if (content)
      this.#saved.save(`${name.replace(/[\\/:]/g, "-")}.run.zip`, () => new Blob([content]));
  }

  /** Keep a run of another visitor. @param {File} file */
  async take(file) {
    const run = await this.#ask("train.take", { file }, (type) => {
      if (type === "StorageError") return words("trainNoRoom");
      return type === "DataError" ? words("trainNoRunFile", file.name) : null;
    });
    await this.refresh();
    const found = this.#runs.find((each) => each.run === run);
    if (found) this.#acts.open(found);
  }

  /**
   * @param {string} action
   * @param {Record<string, unknown>} args
   * @param {(type: string) => Words | null} [known]  what to say of an error of this type
   */
  async #ask(action, args, known = () => null) {
    try {
      return await this.#training.engine.ask(action, args);
    } catch (error) {
      this.#acts.fail(known(/** @type {any} */ (error).type) ?? wordsOf(error));
      return undefined;
    }
  }

  /** Show the settings in which the compared runs differ. */
  #compare() {
    const runs = this.#runs.filter(
      ({ run, damaged }) => !damaged && (this.#compared.has(run) || run === this.#training.run),
    );
    const rows = this.#compared.size && runs.length > 1 ? differences(runs) : [];
    const [head, body] = [this.#differences.createTHead(), this.#differences.tBodies[0]];
    head.replaceChildren();
    body.replaceChildren();
    const around = /** @type {HTMLElement} */ (this.#differences.parentElement);
    around.hidden = !rows.length;
    if (!rows.length) return;
    const top = head.insertRow();
    top.append(show(cell("th"), words("trainSetting")));
    for (const { name } of runs) top.append(cell("th", name));
    for (const [setting, values] of rows) {
      const row = body.insertRow();
      const first = cell("th", setting);
      const named = SETTINGS[setting];
      if (named) show(first, words(named));
      first.scope = "row";
      row.append(first, ...values.map((value) => cell("td", value)));
    }
  }
}

/** @type {Record<string, "trainStatePaused" | "trainStateDone" | "trainStateFailed">} */
const STATES = {
  paused: "trainStatePaused",
  done: "trainStateDone",
  failed: "trainStateFailed",
};

/** What the view calls settings. @type {Record<string, import("../../../i18n/messages.js").Entry>} */
const SETTINGS = {
  layers: "trainLayers",
  batch: "trainBatch",
  epochs: "trainEpochs",
  "data name": "trainDataName",
  "data count": "trainCount",
  "optimizer name": "trainOptimizer",
  "optimizer lr": "trainRateField",
  "optimizer momentum": "trainMomentum",
  "optimizer weight_decay": "trainDecay",
  schedule: "trainSchedule",
  augment: "trainAugment",
  seed: "trainSeed",
};

/** @param {"th" | "td"} kind @param {string} [text] */
function cell(kind, text = "") {
  const made = /** @type {HTMLTableCellElement} */ (document.createElement(kind));
  made.textContent = text;
  return made;
}
