// @ts-check
/**
 * Open any ONNX file: what is in it, before a weight is uploaded; a form for its inputs; its
 * outputs, and how far WebGPU and NumPy differ in them.
 */

import { NotReady } from "../../engine/engine.js";
import { Latest } from "../../shared/latest.js";
import { everyFile, givenAs } from "../../prepare/files.js";
import { LABELS } from "../../prepare/labels.js";
import { words, wordsOf } from "../../i18n/messages.js";
import { Message } from "../../widgets/message.js";
import { OpenFacts } from "./facts.js";
import { UnclearFilesError, chooseFolder, filesAmong, pathsOf, worthSaying } from "./files.js";
import { OpenForm } from "./inputs/form.js";
import { OpenLabels } from "./labels.js";
import { OpenModel } from "./model.js";
import { OpenOutput } from "./output.js";
import { OpenTimes } from "./times.js";
import { OpenWork } from "./work.js";

/**
 * @typedef {import("../../i18n/messages.js").Words} Words
 * @typedef {object} Answer  see run_model in py/tallow_page/user_model.py
 * @property {import("../../engine/types.js").Device} device
 * @property {string} adapter
 * @property {number} first
 * @property {import("./output.js").Output[]} outputs
 * @property {{dispatches: number, moved: string[], host: number, bytes: number}} report
 *
 * @typedef {import("../../prepare/files.js").Given} Given
 * @typedef {object} Beside  see open_model in py/tallow_page/user_model.py
 * @property {string[]} [missing]
 * @property {string[]} [unclear]
 * @property {string[]} [given]
 * @property {string[]} unneeded
 */

/** Runs that follow the first by themselves, and of the device that is compared with; and seconds
 * after which no further one is begun. */
const WARM = { runs: 5, seconds: 2 };

/** Seconds after which no further run of a series is begun that was asked for. */
const SERIES = 30;

/** Milliseconds for which another model waits for a run to end, before it ends that. */
const GRACE = 5000;

export class Open {
  #root;
  #engine;
  #model;
  #timed;
  #input;
  #work;
  #error;
  #message;
  #facts;
  #form;
  #run;
  #given;
  #times;
  #compare;
  #time;
  #runs;
  #labels;
  #opened = false;
  #usable = false;
  /** Whether the worker is being ended here: what is on the page stays as it is. */
  #ending = false;
  /** @type {Answer | null} */
  #answer = null;
  /** @type {OpenOutput[]} */
  #outputs = [];
  /** @type {Latest<{id: number, shapes: Record<string, number[]>}, import("./facts.js").Survey>} */
  #surveys;

  /**
   * @param {HTMLElement} root
   * @param {import("../registry.js").Page} page
   */
  constructor(root, { engine, timed }) {
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    const hook = (/** @type {string} */ name) => find(`[data-testid=${name}]`);
    this.#root = root;
    this.#engine = engine;
    this.#model = new OpenModel(engine);
    this.#timed = timed;
    this.#input = /** @type {HTMLInputElement} */ (hook("open-input"));
    const places = {
      reading: { said: hook("open-said"), cancel: hook("open-cancel-reading") },
      running: { said: hook("open-doing"), cancel: hook("open-cancel") },
    };
    this.#work = new OpenWork(root, places, find(".since"), () => this.#tell());
    this.#error = /** @type {HTMLElement} */ (hook("open-error"));
    this.#message = new Message(this.#error);
    this.#facts = new OpenFacts(
      hook("open-summary"),
      hook("open-unsupported"),
      () => engine.device,
    );
    this.#form = new OpenForm(find("form"), () => this.#survey());
    this.#run = /** @type {HTMLButtonElement} */ (hook("open-run"));
    this.#given = /** @type {HTMLElement} */ (find(".given"));
    this.#times = new OpenTimes(hook("open-times"), hook("open-compared"));
    this.#compare = /** @type {HTMLButtonElement} */ (hook("open-compare"));
    this.#time = /** @type {HTMLButtonElement} */ (hook("open-time"));
    this.#runs = /** @type {HTMLInputElement} */ (hook("open-runs"));
    this.#labels = new OpenLabels(hook("open-labels"), hook("open-labelled"), (labels) => {
      for (const output of this.#outputs) output.label(labels);
    });
    this.#surveys = new Latest(
      (question) => this.#model.ask("surveyModel", question),
      (survey) => {
        this.#facts.count(survey);
        this.#usable = this.#opened && !survey.unsupported.length;
        this.#tell();
      },
      (error) => this.#fail(words("openSurveyFailed", plain(wordsOf(error)))),
    );
    this.#input.addEventListener("change", () => {
      const files = [...(this.#input.files ?? [])];
      this.#input.value = ""; // without this, choosing the same file a second time is no change
      void this.take(files.map(givenAs));
    });
    find("form").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      void this.#answerIt();
    });
    this.#compare.addEventListener("click", () => void this.#compareIt());
    this.#time.addEventListener("click", () => void this.#timeIt());
    for (const { cancel } of Object.values(places)) {
      cancel.addEventListener("click", () => this.#cancel());
    }
  }

  /** No model of the site is needed here. @returns {Promise<null>} */
  async model() {
    return null;
  }

  /** Whether there is nothing of the visitor's here. */
  get untouched() {
    return this.#model.files === null;
  }

  /** A model among them is for this view. @param {File[]} files */
  claims(files) {
    return files.some(({ name }) => /\.onnx$/i.test(name));
  }

  /** @param {DataTransfer} transfer */
  drop(transfer) {
    void this.take(everyFile(transfer));
  }

  /**
   * Open the model among these files. Files without one join the model that lacks some, or are the
   * labels of the one that is open.
   * @param {Given[] | Promise<Given[]>} given
   */
  async take(given) {
    try {
      const files = await given;
      if (!files.length) return;
      if (this.#opened && files.every(({ path }) => LABELS.test(path))) {
        return await this.#labels.read(files[0].file);
      }
      const chosen = filesAmong(files, this.#model.incomplete);
      if (!chosen) return this.#fail(words("openOnlyData", pathsOf(files)));
      await this.#open(chosen);
    } catch (error) {
      this.#fail(wordsOf(error), error);
    }
  }

  /**
   * The device has changed, or something that failed was replaced: answer again.
   * @param {boolean} died  whether that was the worker, which a run that was under way may have ended
   */
  answer(died) {
    if (this.#ending) return;
    const running = this.#work.kind === "running";
    const again = !this.#root.hidden && (running ? !died : this.#answer !== null);
    this.#clearAnswer();
    if (!again) return;
    if (running) this.#work.end();
    void this.#answerIt();
  }

  /** Another device computes, perhaps. */
  started() {
    this.#facts.relabel();
  }

  // ---- opening ------------------------------------------------------------------------------

  /** @param {import("./files.js").Files} files */
  async #open(files) {
    const { file, others } = files;
    this.#model.choose(files);
    this.#opened = this.#usable = false;
    this.#clear();
    await this.#work.start(
      "reading",
      words("openReading", file.name),
      async (current) => {
        await this.#makeWay(current);
        if (!current()) return;
        const told = await this.#model.open();
        if (current()) this.#show(told, files);
      },
      (error) => {
        this.#model.lacking = others.length > 0; // another of them may be better
        this.#fail(words("openFailed", file.name, plain(wordsOf(error))), error);
      },
    );
  }

  /**
   * @param {import("./facts.js").Told & Beside} told
   * @param {import("./files.js").Files} files
   */
  #show(told, { file, others }) {
    if (told.missing) {
      this.#model.lacking = true;
      const given = others.length ? words("openGivenToo", pathsOf(others)) : "";
      this.#fail(words("openMissing", file.name, told.missing.join(", "), plain(given)));
      return;
    }
    if (told.unclear) {
      this.#model.lacking = true;
      const [locations, names] = [told.unclear, told.given ?? []].map((each) => each.join(", "));
      const why = words("openUnclear", file.name, locations, names);
      this.#fail(why, new UnclearFilesError(why));
      return;
    }
    this.#facts.show(told, file.name);
    this.#form.show(told.inputs);
    this.#opened = true;
    this.#usable = !told.unsupported.length;
    this.#labels.expect(told.outputs.map(({ shape }) => shape?.at(-1)));
    const rest = worthSaying(others, told.unneeded);
    const labels = rest.find(({ path }) => LABELS.test(path));
    if (labels) void this.#labels.read(labels.file);
    const unneeded = rest.filter((each) => each !== labels);
    if (unneeded.length) this.#work.say(words("openUnneeded", pathsOf(unneeded)));
    this.#survey();
  }

  #clear() {
    this.#clearAnswer();
    this.#surveys.forget();
    this.#facts.clear();
    this.#form.clear();
    this.#labels.clear();
    this.#forgive();
  }

  /** Count again: a length is another. */
  #survey() {
    try {
      this.#forgive();
      this.#surveys.ask({ id: this.#model.id, shapes: this.#form.shapes() });
    } catch (error) {
      this.#fail(wordsOf(error));
    }
  }

  // ---- running ------------------------------------------------------------------------------

  async #answerIt() {
    if (this.#work.busy || !this.#usable) return;
    const { id } = this.#model;
    this.#clearAnswer();
    this.#forgive();
    await this.#attempt(words("openRunning"), async (current) => {
      const answer = await this.#model.ask("runModel", { id, feeds: await this.#form.feeds() });
      if (!current()) return;
      this.#answered(answer);
      this.#work.say(words("openTiming"));
      const { series } = await this.#model.ask("timeModel", { id, ...WARM });
      if (current()) this.#measured(series);
    });
  }

  /** @param {Answer} answer */
  #answered(answer) {
    this.#answer = answer;
    this.#outputs = answer.outputs.map((output) => new OpenOutput(output, this.#labels.all));
    const place = /** @type {HTMLElement} */ (this.#given.querySelector(".results"));
    place.replaceChildren(...this.#outputs.map(({ element }) => element));
    this.#given.hidden = false;
    this.#labels.expect(answer.outputs.map(({ shape }) => shape.at(-1)));
    this.#times.show(answer);
    this.#timed(answer.first);
  }

  /** @param {import("./times.js").Series | null} series */
  #measured(series) {
    this.#times.measured(series);
    if (series) this.#timed(series.median);
  }

  /** There is no answer any more. */
  #clearAnswer() {
    this.#answer = null;
    for (const output of this.#outputs) output.close();
    this.#outputs = [];
    this.#given.hidden = true;
    /** @type {HTMLElement} */ (this.#given.querySelector(".results")).replaceChildren();
    this.#times.show(null);
    this.#timed(null);
    this.#tell();
  }

  async #timeIt() {
    if (this.#work.busy || !this.#answer) return;
    this.#forgive();
    const runs = Number(this.#runs.value);
    if (!Number.isInteger(runs) || runs < 1) return this.#fail(words("openBadRuns"));
    const args = { id: this.#model.id, runs, seconds: SERIES };
    await this.#attempt(words("openTiming"), async (current) => {
      const { series } = await this.#model.ask("timeModel", args);
      if (current()) this.#measured(series);
    });
  }

  async #compareIt() {
    if (this.#work.busy || !this.#answer) return;
    this.#forgive();
    this.#times.compared(words("openComparing"));
    await this.#work.start(
      "running",
      words("openComparing"),
      async (current) => {
        const found = /** @type {import("./times.js").Compared} */ (
          await this.#model.ask("compareModel", { id: this.#model.id, ...WARM })
        );
        if (!current()) return;
        this.#times.compared(found);
        for (const output of this.#outputs) output.compared(found.outputs);
      },
      (error) => this.#times.compared(words("openCompareFailed", plain(wordsOf(error)))),
    );
  }

  // ---- one thing at a time ------------------------------------------------------------------

  /**
   * @param {Words} now
   * @param {(current: () => boolean) => Promise<void>} work
   */
  async #attempt(now, work) {
    await this.#work.start("running", now, work, (error) =>
      this.#fail(words("openRunFailed", plain(wordsOf(error))), error),
    );
  }

  /** Nothing interrupts Python but the end of its worker. */
  #cancel() {
    if (!this.#work.busy) return;
    const reading = this.#work.kind === "reading";
    this.#work.end(words("openCancelled"));
    this.#restart(words("openCancelled"));
    this.#times.stopped();
    if (reading) this.#model.forget();
    (reading ? this.#input : this.#run).focus();
  }

  /** @param {Words} why */
  #restart(why) {
    this.#ending = true;
    this.#engine.restart(why);
    this.#ending = false;
  }

  /**
   * For another model: a run that does not end soon is ended.
   * @param {() => boolean} current  whether that model is still wanted
   */
  async #makeWay(current) {
    const { running } = this.#work;
    if (!running) return;
    await Promise.race([running, new Promise((resolve) => setTimeout(resolve, GRACE))]);
    if (current() && this.#work.running === running) this.#restart(words("openOther"));
  }

  // ---- what is said -------------------------------------------------------------------------

  #tell() {
    this.#run.disabled = this.#work.busy || !this.#usable;
    this.#compare.disabled = this.#time.disabled = this.#work.busy || !this.#answer;
  }

  /**
   * @param {Words} why
   * @param {unknown} [error]
   */
  #fail(why, error) {
    // What the worker lacks may come again; what the file lacks does not.
    const again = error instanceof NotReady && this.#model.files;
    if (error instanceof UnclearFilesError) {
      const choose = () => chooseFolder((files) => void this.take(files));
      this.#message.show(why, choose, words("openFolder"));
    } else this.#message.show(why, again ? () => void this.#open(again) : undefined);
    this.#error.hidden = false;
    // Beside what it is about, so that whoever pressed the button sees it.
    (this.#opened ? this.#run.closest("form") : this.#input.closest(".question"))?.append(
      this.#error,
    );
  }

  #forgive() {
    this.#message.clear();
    this.#error.hidden = true;
  }
}

/**
 * Words that stand within others.
 * @param {Words} inner
 * @returns {any}
 */
const plain = (inner) => inner;
