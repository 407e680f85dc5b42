// @ts-check
/** The Train view: a network that learns in this tab. */

import { NotReady } from "../../engine/engine.js";
import { words, wordsOf } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { count, percent, tiny } from "../../shared/format.js";
import { published } from "../../site/published.js";
import { Message } from "../../widgets/message.js";
import { Classes } from "./own/classes.js";
import { Curves } from "./curves.js";
import { Layers } from "./network/layers.js";
import { isOwn, networkOf, OWN, recipeOf } from "./own/own.js";
import { isClosed, whyNot, whyStopped } from "./reason.js";
import { Runs } from "./runs/runs.js";
import { Seen } from "./seen/seen.js";
import { short } from "./short.js";
import { Fields } from "./network/settings.js";
import { Take } from "./use/take.js";
import { DIGITS, Training, USUAL } from "./training.js";
import { Written } from "./use/written.js";

/** @import {View} from "../view.js" */
/** @typedef {import("../../i18n/messages.js").Words} Words */
/** @typedef {import("../../site/published.js").Published} Published */
/** @typedef {import("../../shared/contract.js").TrainAnswer} TrainAnswer */
/** @typedef {import("../../shared/contract.js").TrainRun} TrainRun */
/** @typedef {import("./training.js").State} State */

/** With less room than this the view says so before it is full. */
const LITTLE_ROOM = 50e6;

/** A run that was shared. @param {File} file */
const isRun = ({ name }) => name.endsWith(".run.zip");

/** @implements {View} */
export default class Train {
  #training;
  #hook;
  #figures;
  #message;
  #fields;
  #layers;
  #runs;
  #classes;
  #curves;
  #seen;
  #timed;
  /** Data sets of the site. @type {Published[]} */
  #data = [];
  /** Ends what is being learnt. @type {AbortController | null} */
  #work = null;
  /** Whether the loop in Python has begun, so that it can be asked to pause. */
  #begun = false;
  /** Whether the visitor wants no more of this run. */
  #stopped = false;
  /** Whether the run ended because its worker or device did, so that it goes on with the next. */
  #interrupted = false;
  /** Steps of the whole run. */
  #steps = 0;
  #step = 0;
  /** What the curves are of. @type {{name: string, curve: [number, number, number][], records: any[]}} */
  #line = { name: "", curve: [], records: [] };

  /**
   * @param {HTMLElement} root
   * @param {import("../view.js").Page} page
   */
  constructor(root, page) {
    const { engine, timed } = page;
    /** @param {string} name @returns {any} */
    const hook = (name) => root.querySelector(`[data-testid=train-${name}]`);
    this.#hook = hook;
    this.#timed = timed;
    this.#figures = /** @type {HTMLElement} */ (root.querySelector(".figures"));
    const training = new Training(engine);
    this.#training = training;
    this.#message = new Message(/** @type {any} */ (root.querySelector(".message")));
    this.#fields = new Fields(/** @type {any} */ (root.querySelector(".fields")), training);
    const part = (/** @type {string} */ name) =>
      /** @type {HTMLElement} */ (root.querySelector(`[data-part=${name}]`));
    this.#classes = new Classes(part("classes"), page, () => this.#fit());
    this.#curves = new Curves(hook("curve"));
    this.#runs = new Runs(hook("runs"), hook("differences"), training, {
      open: (run) => this.#open(run),
      compare: () => this.#draw(),
      fail: (why) => this.#message.show(why),
    });
    const panel = /** @type {HTMLDetailsElement} */ (part("layers"));
    this.#layers = new Layers(panel, hook("network"), hook("layer-total"), training);
    new Written(part("written"), training);
    new Take(part("take"), training, (run) => this.#runs.nameOf(run));
    this.#seen = new Seen(root, page, training, () => void this.#learn(false, false));
    hook("start").addEventListener("click", () => void this.#learn(false));
    hook("step").addEventListener("click", () => void this.#learn(true));
    hook("pause").addEventListener("click", () => this.#pause(false));
    hook("stop").addEventListener("click", () => this.#stop());
    hook("data").addEventListener("change", () => this.#chooseData());
    hook("run-file").addEventListener("change", () => {
      this.#takeRun([...hook("run-file").files]);
      hook("run-file").value = "";
    });
    document.addEventListener("visibilitychange", () => {
      if (document.hidden && training.busy) this.#note(words("trainHidden"));
    });
    for (const event of ["settings", "data", "state", "layers"])
      training.on(event, () => this.#render());
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

  /** The device changed, or the worker failed: what learnt there goes on from its checkpoint. */
  answer() {
    this.#seen.close();
    this.#timed(null);
    this.#layers.again();
    if (this.#interrupted) void this.#learn(false);
  }

  /** Take examples for the visitor's own classes, or keep a run that was shared. @param {File[]} files */
  takeFiles(files) {
    if (this.#training.busy) return;
    if (this.#training.prepare && !files.some(isRun)) this.#classes.takeFiles(files);
    else this.#takeRun(files);
  }

  /** Take what is dropped: folders are classes of pictures. @param {DataTransfer} transfer */
  drop(transfer) {
    if (this.#training.busy) return;
    const data = this.#hook("data");
    const files = [...transfer.files];
    const folders = [...transfer.items].some((item) => item.webkitGetAsEntry?.()?.isDirectory);
    if (folders && data.value !== "pictures") {
      data.value = "pictures";
      this.#chooseData();
    }
    if (data.value === "pictures" && !files.some(isRun)) this.#classes.drop(transfer);
    else this.takeFiles(files);
  }

  /** @param {File[]} files */
  #takeRun(files) {
    const file = files.find(({ name }) => name.endsWith(".zip"));
    if (file && !this.#training.busy) void this.#runs.take(file);
  }

  // ---- data -----------------------------------------------------------------------------------

  /** Show which data there are. */
  async #list() {
    try {
      this.#data = await published("train");
      const options = this.#data.map(({ name, title }) => new Option(title, name));
      const own = Object.entries(OWN).map(([name, entry]) =>
        show(new Option("", name), words(entry)),
      );
      this.#hook("data").replaceChildren(...options, ...own);
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
    if (isOwn(name)) {
      this.#learnFromOwn(name);
      this.#training.change({ ...recipeOf(name), layers: networkOf(name, 2), augment: [] });
      return;
    }
    const found = this.#data.find((each) => each.name === name);
    if (!found) return;
    if (this.#training.prepare) this.#training.change(structuredClone(USUAL));
    this.#classes.use(null);
    this.#training.facts = DIGITS;
    show(this.#hook("data-facts"), words("trainNeeds", found.bytes, found.licence));
    this.#training.learnFrom({ published: name, files: found.files }, name);
  }

  /** @param {import("./own/own.js").Kind} kind */
  #learnFromOwn(kind) {
    show(this.#hook("data-facts"), words("trainOwnHere"));
    this.#classes.use(kind);
    this.#training.learnFrom({ own: kind }, kind, (signal) =>
      this.#classes.source(signal, (done, total) =>
        show(this.#hook("status"), words("trainOwnReading", done, total)),
      ),
    );
  }

  /** Let the network fit the visitor's own data: it ends with a score for each class. */
  #fit() {
    const training = this.#training;
    const facts = this.#classes?.facts;
    if (!facts || training.busy) return;
    training.facts = facts;
    const { layers } = training.settings;
    const last = layers.at(-1);
    if (last && last.out !== facts.classes)
      training.change({ layers: [...layers.slice(0, -1), { ...last, out: facts.classes }] });
    else training.tell("data");
  }

  // ---- a run ----------------------------------------------------------------------------------

  /**
   * Begin or go on.
   * @param {boolean} one  whether to stop after a step
   * @param {boolean} anew  whether a run that is done begins anew; else Python only opens it
   */
  async #learn(one, anew = true) {
    const training = this.#training;
    if (training.busy || !training.source || !this.#fields.checked()) return;
    if (!training.run || (anew && (training.state === "done" || this.#stopped))) this.#begin();
    const { run, settings } = training;
    const stop = new AbortController();
    this.#work = stop;
    this.#begun = this.#stopped = this.#interrupted = false;
    this.#figures.hidden = false;
    this.#message.clear();
    this.#note("");
    this.#state("running", words(this.#layers.known ? "trainOpening" : "trainStarting"));
    void this.#warn();
    const onProgress = (/** @type {any} */ report) => this.#take(report);
    const name = this.#runs.nameOf(/** @type {string} */ (run)) ?? this.#line.name;
    try {
      const source = (await training.prepare?.(stop.signal)) ?? training.source;
      const answer = /** @type {TrainAnswer | null} */ (
        await training.engine.ask(
          "train.run",
          { run, name, settings, source, one },
          { signal: stop.signal, onProgress, proves: true },
        )
      );
      if (answer) this.#end(answer);
      else this.#fail(words("trainElsewhere"));
    } catch (error) {
      const { entry } = /** @type {any} */ (wordsOf(error));
      this.#interrupted = error instanceof NotReady || entry === "otherDevice";
      if (stop.signal.aborted) this.#state("paused", words("trainPaused", this.#step, this.#steps));
      else this.#fail(words("trainFailed", /** @type {any} */ (whyNot(error))));
    } finally {
      this.#work = null;
      await this.#runs.refresh();
    }
  }

  /** Another run. */
  #begin() {
    this.#seen.close();
    this.#training.run = Date.now().toString(36);
    const name = this.#runs.newName(this.#training.settings.data.name);
    this.#line = { name, curve: [], records: [] };
    this.#step = 0;
    for (const place of ["loss", "accuracy", "valid-accuracy", "rate", "lr"]) this.#blank(place);
    show(this.#hook("left"), "–");
    show(this.#hook("facts"), "");
    this.#draw();
  }

  /** @param {TrainAnswer} answer */
  #end({ state, step, reason }) {
    this.#step = step;
    this.#where(step);
    this.#training.tell(isClosed(reason, step) ? "closed" : "ended");
    if (reason) this.#fail(words("trainFailed", /** @type {any} */ (whyStopped(reason, step))));
    else if (state === "done") this.#state("done", words("trainDone", step));
    else if (this.#stopped) this.#state("paused", words("trainStopped", step));
    else this.#state("paused", words("trainPaused", step, this.#steps));
  }

  /** End the run: at once if it is paused. */
  #stop() {
    if (this.#training.busy) this.#pause(true);
    else {
      this.#stopped = true;
      this.#state("paused", words("trainStopped", this.#step));
    }
  }

  /** Have it pause after its step; while the data arrive, at once. @param {boolean} forGood */
  #pause(forGood) {
    this.#stopped = forGood;
    this.#say(words("trainPausing"));
    if (this.#begun) void this.#training.engine.ask("train.pause", {}).catch(() => {});
    else this.#work?.abort();
  }

  /** Show a run that is kept, so that it can go on. @param {TrainRun} kept */
  #open({ run, name, settings, source, state, step, epoch, curve, records }) {
    const training = this.#training;
    const found = this.#data.find((each) => each.name === source.published);
    if (isOwn(source.own)) {
      this.#hook("data").value = source.own;
      this.#learnFromOwn(source.own);
    } else {
      training.prepare = null;
      training.facts = DIGITS;
      this.#classes.use(null);
    }
    training.settings = /** @type {any} */ (structuredClone(settings));
    training.source = found ? { ...source, files: found.files } : { ...source };
    training.run = run;
    training.tell("settings");
    if (found) this.#hook("data").value = found.name;
    this.#line = /** @type {any} */ (structuredClone({ name, curve, records }));
    this.#stopped = this.#interrupted = false;
    this.#message.clear();
    this.#note(words("trainOpened", name));
    this.#step = step;
    this.#hook("status").dataset.epoch = String(epoch);
    this.#where(step);
    const [, loss, right] = curve.at(-1) ?? [0, NaN, NaN];
    this.#figure("loss", loss, short(loss));
    this.#figure("accuracy", right, percent(right));
    this.#measured(records.at(-1)?.valid_accuracy ?? null);
    const line = state === "done" ? words("trainDone", step) : words("trainStopped", step);
    this.#state(state === "done" ? "done" : "paused", line);
    this.#draw();
  }

  /** @param {any} report */
  #take(report) {
    const { epochs } = this.#training.settings;
    if (report.stage === "fetch") {
      show(this.#hook("status"), words("trainFetching", report.done, report.total));
    } else if (report.stage === "begun") {
      this.#begun = true;
      this.#steps = report.steps;
      show(this.#hook("facts"), words("trainBegun", report.parameters, report.samples));
    } else if (report.stage === "damaged") {
      this.#note(words("trainDamaged", report.checkpoints.join(", ")));
    } else if (report.stage === "look") {
      const { step, loss, accuracy, rate, lr } = report;
      this.#step = step;
      const epoch = Math.min(report.epoch + 1, epochs);
      show(this.#hook("status"), words("trainRunning", epoch, epochs, step, this.#steps));
      this.#where(step);
      this.#hook("status").dataset.epoch = report.epoch;
      this.#figure("loss", loss, short(loss));
      this.#figure("accuracy", accuracy, percent(accuracy));
      this.#figure("rate", rate, count(Math.round(rate)));
      this.#figure("lr", lr, short(lr, tiny(lr)));
      show(this.#hook("left"), words("trainSeconds", report.left));
      const { curve } = this.#line;
      while ((curve.at(-1)?.[0] ?? 0) >= step) curve.pop(); // it went on from a checkpoint
      curve.push([step, loss, accuracy]);
      this.#hook("curve").hidden = false;
      this.#curves.draw();
    } else if (report.stage === "record") {
      this.#hook("status").dataset.epoch = report.epoch;
      this.#measured(report.valid_accuracy);
      const { records } = this.#line;
      this.#line.records = [...records.filter((each) => each.step < report.step), report];
      this.#curves.draw();
    }
    this.#training.tell(report.stage, report);
  }

  // ---- what is shown --------------------------------------------------------------------------

  /** @param {string} name @param {number} figure @param {string} shown */
  #figure(name, figure, shown) {
    const place = this.#hook(name);
    place.dataset.value = String(figure);
    place.textContent = Number.isNaN(figure) ? "–" : shown;
  }

  /** @param {string} name */
  #blank(name) {
    const place = this.#hook(name);
    delete place.dataset.value;
    place.textContent = "–";
  }

  /** @param {number | null} right */
  #measured(right) {
    this.#figure("valid-accuracy", right ?? NaN, percent(right ?? 0));
  }

  /** @param {number} step */
  #where(step) {
    this.#hook("status").dataset.step = String(step);
    const bar = this.#hook("progress");
    bar.value = this.#steps ? step / this.#steps : 0;
    bar.hidden = !this.#training.busy;
  }

  #draw() {
    const { run } = this.#training;
    this.#line.name = (run && this.#runs.nameOf(run)) ?? this.#line.name;
    const lines = [...(this.#line.name ? [this.#line] : []), ...this.#runs.compared];
    this.#figures.hidden = !this.#line.name;
    this.#hook("curve").hidden = !lines.some(({ curve }) => curve.length);
    this.#curves.show(lines);
  }

  /** Say beforehand that little can be kept. */
  async #warn() {
    const { quota = 0, usage = 0 } = (await navigator.storage?.estimate?.()) ?? {};
    if (quota && quota - usage < LITTLE_ROOM) this.#note(words("trainRoom", quota - usage));
  }

  /** @param {Words} note */
  #note(note) {
    show(this.#hook("note"), note);
  }

  /** @param {State} state @param {Words} line */
  #state(state, line) {
    this.#say(line);
    this.#hook("status").dataset.state = state;
    this.#training.become(state);
  }

  /** Show a line, and have screen readers speak it: the lines of each step are shown alone. @param {Words} line */
  #say(line) {
    for (const place of ["status", "said"]) show(this.#hook(place), line);
  }

  /** @param {Words} why */
  #fail(why) {
    const line = this.#step ? words("trainFailedAfter", this.#step) : words("trainNotBegun");
    if (!this.#step) this.#figures.hidden = true;
    this.#state("failed", line);
    this.#message.show(why);
  }

  #render() {
    const { busy, source, run, state } = this.#training;
    const goesOn =
      run && (state === "paused" || state === "failed") && !this.#stopped && this.#step > 0;
    const [start, step, pause, stop] = ["start", "step", "pause", "stop"].map(this.#hook);
    show(start, words(goesOn ? "trainResume" : "trainStart"));
    start.disabled = step.disabled = busy || !source || !this.#layers.possible;
    const focused = [start, step, pause, stop].includes(document.activeElement);
    start.hidden = step.hidden = busy;
    pause.hidden = !busy;
    stop.hidden = !busy && !goesOn;
    // A button that goes takes the focus with it.
    if (focused && document.activeElement?.matches("[hidden], body"))
      (busy ? pause : start).focus();
    this.#hook("data").disabled = this.#hook("run-file").disabled = busy;
    this.#hook("progress").hidden = !busy;
    this.#hook("fixed").hidden = !busy;
  }
}
