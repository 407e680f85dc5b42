// @ts-check
/**
 * The Open view, which runs any ONNX file that the visitor chooses: facts about it, before any
 * weight is uploaded; a form for its inputs; its outputs, and how far WebGPU and NumPy differ in
 * them.
 */

import { NotReady } from "../../engine/engine.js";
import { Latest } from "../../shared/latest.js";
import { everyFile, givenAs } from "../../prepare/files.js";
import { LABELS } from "../../prepare/labels.js";
import { words, wordsOf } from "../../i18n/messages.js";
import { Message } from "../../widgets/message.js";
import { OpenAnswer } from "./answer.js";
import { OpenFacts } from "./facts.js";
import { UnclearFilesError, chooseFolder, filesAmong, pathsOf, worthReporting } from "./files.js";
import { OpenForm } from "./inputs/form.js";
import { OpenModel } from "./model.js";
import { OpenWork } from "./work.js";

/**
 * @typedef {import("../../i18n/messages.js").Words} Words
 * @typedef {import("../../prepare/files.js").Given} Given
 * @typedef {import("../../shared/contract.js").Answers["open_model"]} FileInfo
 */

/** Limits of the warm runs after a first run and in comparisons. */
const WARM = { runs: 5, seconds: 2 };

/** The limit of seconds for a series that the visitor starts. */
const MAX_SERIES_SECONDS = 30;

/** To open another model, the worker is restarted if a run does not end within this time. */
const GRACE_MS = 5000;

/** @import {View} from "../view.js" */

/** @implements {View} */
export default class Open {
  #root;
  #engine;
  #model;
  #input;
  #work;
  #error;
  #message;
  #facts;
  #form;
  #run;
  #answer;
  #compare;
  #time;
  #runs;
  #opened = false;
  #usable = false;
  /** Whether this view is restarting the worker; then the page stays as it is. */
  #restarting = false;
  /** @type {Latest<{id: number, shapes: Record<string, number[]>}, import("./facts.js").Survey>} */
  #surveys;

  /**
   * @param {HTMLElement} root
   * @param {import("../view.js").Page} page
   */
  constructor(root, { engine, timed }) {
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    const hook = (/** @type {string} */ name) => find(`[data-testid=${name}]`);
    this.#root = root;
    this.#engine = engine;
    this.#model = new OpenModel(engine);
    this.#input = /** @type {HTMLInputElement} */ (hook("open-input"));
    const elements = {
      reading: { status: hook("open-said"), cancel: hook("open-cancel-reading") },
      running: { status: hook("open-doing"), cancel: hook("open-cancel") },
    };
    this.#work = new OpenWork(root, elements, find(".since"), () => this.#render());
    this.#error = /** @type {HTMLElement} */ (hook("open-error"));
    this.#message = new Message(this.#error);
    this.#facts = new OpenFacts(
      hook("open-summary"),
      hook("open-unsupported"),
      () => engine.device,
    );
    this.#form = new OpenForm(find("form"), () => this.#survey());
    this.#run = /** @type {HTMLButtonElement} */ (hook("open-run"));
    this.#answer = new OpenAnswer(hook, find(".given"), timed);
    this.#compare = /** @type {HTMLButtonElement} */ (hook("open-compare"));
    this.#time = /** @type {HTMLButtonElement} */ (hook("open-time"));
    this.#runs = /** @type {HTMLInputElement} */ (hook("open-runs"));
    this.#surveys = new Latest(
      (question) => this.#model.ask("surveyModel", question),
      (survey) => {
        this.#facts.count(survey);
        this.#usable = this.#opened && !survey.unsupported.length;
        this.#render();
      },
      (error) => this.#fail(words("openSurveyFailed", nested(wordsOf(error)))),
    );
    this.#input.addEventListener("change", () => {
      const files = [...(this.#input.files ?? [])];
      this.#input.value = ""; // otherwise choosing the same file again would raise no change event
      void this.take(files.map(givenAs));
    });
    find("form").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      void this.#runModel();
    });
    this.#compare.addEventListener("click", () => void this.#compareDevices());
    this.#time.addEventListener("click", () => void this.#timeSeries());
    for (const { cancel } of Object.values(elements)) {
      cancel.addEventListener("click", () => this.#cancel());
    }
  }

  /** This view needs none of the site's models. @returns {Promise<null>} */
  async model() {
    return null;
  }

  /** Whether the visitor has opened no model. */
  get untouched() {
    return this.#model.files === null;
  }

  /** Files with an ONNX model are for this view. @param {File[]} files */
  claims(files) {
    return files.some(({ name }) => /\.onnx$/i.test(name));
  }

  /** @param {DataTransfer} transfer */
  drop(transfer) {
    void this.take(everyFile(transfer));
  }

  /**
   * Open the model among these files. Files without a model are added to a model that lacks files,
   * or are labels for the open model.
   * @param {Given[] | Promise<Given[]>} given
   */
  async take(given) {
    try {
      const files = await given;
      if (!files.length) return;
      if (this.#opened && files.every(({ path }) => LABELS.test(path))) {
        return await this.#answer.labels.read(files[0].file);
      }
      const chosen = filesAmong(files, this.#model.filesToComplete);
      if (!chosen) return this.#fail(words("openOnlyData", pathsOf(files)));
      await this.#open(chosen);
    } catch (error) {
      this.#fail(wordsOf(error), error);
    }
  }

  /**
   * Answer again, after a change of the device or after a failure.
   * @param {boolean} died  whether the worker failed, perhaps because of the current run
   */
  answer(died) {
    if (this.#restarting) return;
    const running = this.#work.kind === "running";
    const again = !this.#root.hidden && (running ? !died : this.#answer.here);
    this.#clearAnswer();
    if (!again) return;
    if (running) this.#work.end();
    void this.#runModel();
  }

  /** The device may have changed. */
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
      async (current, signal) => {
        await this.#makeWay(words("openOther"), current);
        if (!current()) return;
        const info = await this.#model.open(signal);
        if (current()) this.#show(info, files);
      },
      (error) => {
        this.#model.mayNeedFiles = others.length > 0; // other files may be the right ones
        this.#fail(words("openFailed", file.name, nested(wordsOf(error))), error);
      },
    );
  }

  /**
   * @param {FileInfo} info
   * @param {import("./files.js").Files} files
   */
  #show(info, { file, others }) {
    if ("missing" in info) {
      this.#model.mayNeedFiles = true;
      const given = others.length ? words("openGivenToo", pathsOf(others)) : "";
      this.#fail(words("openMissing", file.name, info.missing.join(", "), nested(given)));
      return;
    }
    if ("unclear" in info) {
      this.#model.mayNeedFiles = true;
      const [locations, names] = [info.unclear, info.given].map((each) => each.join(", "));
      const why = words("openUnclear", file.name, locations, names);
      this.#fail(why, new UnclearFilesError(why));
      return;
    }
    this.#facts.show(info, file.name);
    this.#form.show(info.inputs);
    this.#opened = true;
    this.#usable = !info.unsupported.length;
    this.#answer.labels.expect(info.outputs.map(({ shape }) => shape?.at(-1)));
    const rest = worthReporting(others, info.unneeded);
    const labels = rest.find(({ path }) => LABELS.test(path));
    if (labels) void this.#answer.labels.read(labels.file);
    const unneeded = rest.filter((each) => each !== labels);
    if (unneeded.length) this.#work.say(words("openUnneeded", pathsOf(unneeded)));
    this.#survey();
  }

  #clear() {
    this.#clearAnswer();
    this.#surveys.forget();
    this.#facts.clear();
    this.#form.clear();
    this.#answer.labels.clear();
    this.#clearError();
  }

  /** Count again, because a length has changed. */
  #survey() {
    try {
      this.#clearError();
      this.#surveys.ask({ id: this.#model.id, shapes: this.#form.shapes() });
    } catch (error) {
      this.#fail(wordsOf(error));
    }
  }

  // ---- running ------------------------------------------------------------------------------

  async #runModel() {
    if (this.#work.busy || !this.#usable) return;
    const { id } = this.#model;
    this.#clearAnswer();
    this.#clearError();
    await this.#attempt(words("openRunning"), async (current, signal) => {
      const answer = await this.#model.ask("runModel", { id, feeds: await this.#form.feeds() });
      if (!current()) return;
      this.#answer.show(answer);
      this.#work.say(words("openTiming"));
      const { series } = await this.#model.ask("timeModel", { id, ...WARM }, signal);
      if (current()) this.#answer.measured(series);
    });
  }

  /** Remove the answer. */
  #clearAnswer() {
    this.#answer.clear();
    this.#render();
  }

  async #timeSeries() {
    if (this.#work.busy || !this.#answer.here) return;
    this.#clearError();
    const runs = Number(this.#runs.value);
    if (!Number.isInteger(runs) || runs < 1) return this.#fail(words("openBadRuns"));
    const args = { id: this.#model.id, runs, seconds: MAX_SERIES_SECONDS };
    await this.#attempt(words("openTiming"), async (current, signal) => {
      const { series } = await this.#model.ask("timeModel", args, signal);
      if (current()) this.#answer.measured(series);
    });
  }

  async #compareDevices() {
    if (this.#work.busy || !this.#answer.here) return;
    this.#clearError();
    this.#answer.comparing(words("openComparing"));
    await this.#work.start(
      "running",
      words("openComparing"),
      async (current, signal) => {
        const args = { id: this.#model.id, ...WARM };
        const found = /** @type {import("./times.js").Compared} */ (
          await this.#model.ask("compareModel", args, signal)
        );
        if (current()) this.#answer.compared(found);
      },
      (error) => this.#answer.comparing(words("openCompareFailed", nested(wordsOf(error)))),
    );
  }

  // ---- one thing at a time ------------------------------------------------------------------

  /**
   * @param {Words} status
   * @param {(current: () => boolean, signal: AbortSignal) => Promise<void>} work
   */
  async #attempt(status, work) {
    await this.#work.start("running", status, work, (error) =>
      this.#fail(words("openRunFailed", nested(wordsOf(error))), error),
    );
  }

  /** Cancel the work. Only a new worker interrupts a step of Python's. */
  #cancel() {
    if (!this.#work.busy) return;
    const reading = this.#work.kind === "reading";
    const cancelled = words("openCancelled");
    this.#work.end(cancelled);
    if (!reading && this.#model.stopsSoon) void this.#makeWay(cancelled);
    else this.#restart(cancelled);
    this.#answer.stopped();
    if (reading) this.#model.forget();
    (reading ? this.#input : this.#run).focus();
  }

  /** @param {Words} why */
  #restart(why) {
    this.#restarting = true;
    this.#engine.restart(why);
    this.#restarting = false;
  }

  /**
   * Make the worker free: wait a while for the current run to end, then restart the worker.
   * @param {Words} why
   * @param {() => boolean} [current]  whether that is still wanted
   */
  async #makeWay(why, current = () => true) {
    const { running } = this.#work;
    if (!running) return;
    await Promise.race([running, new Promise((resolve) => setTimeout(resolve, GRACE_MS))]);
    if (current() && this.#work.running === running) this.#restart(why);
  }

  // ---- state and messages -------------------------------------------------------------------

  #render() {
    this.#run.disabled = this.#work.busy || !this.#usable;
    this.#compare.disabled = this.#time.disabled = this.#work.busy || !this.#answer.here;
  }

  /**
   * @param {Words} why
   * @param {unknown} [error]
   */
  #fail(why, error) {
    // Trying again may help if the worker failed, but not if the file is wrong.
    const again = error instanceof NotReady && this.#model.files;
    if (error instanceof UnclearFilesError) {
      const choose = () => chooseFolder((files) => void this.take(files));
      this.#message.show(why, choose, words("openFolder"));
    } else this.#message.show(why, again ? () => void this.#open(again) : undefined);
    this.#error.hidden = false;
    // Show the message next to the control that caused it.
    (this.#opened ? this.#run.closest("form") : this.#input.closest(".question"))?.append(
      this.#error,
    );
  }

  #clearError() {
    this.#message.clear();
    this.#error.hidden = true;
  }
}

/**
 * Lets a message be an argument of another message, which the types don't allow.
 * @param {Words} inner
 * @returns {any}
 */
const nested = (inner) => inner;
