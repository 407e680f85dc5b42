// @ts-check
/**
 * Open any ONNX file: what is in it, before a weight is uploaded; a form for its inputs; its
 * outputs, and how far WebGPU and NumPy differ in them.
 */

import { NotReady } from "../engine.js";
import { Latest } from "../latest.js";
import { readLabels } from "../prepare/labels.js";
import { say, words, wordsOf } from "../said.js";
import { text } from "../text.js";
import { Message } from "./message.js";
import { OpenFacts } from "./open_facts.js";
import { OpenForm } from "./open_form.js";
import { OpenOutput } from "./open_output.js";

/**
 * @typedef {import("../said.js").Words} Words
 * @typedef {object} Answer  see run_model in py/tallow/opened.py
 * @property {import("../engine.js").Device} device
 * @property {number} first
 * @property {number | null} warm
 * @property {import("./open_output.js").Output[]} outputs
 * @property {{dispatches: number, moved: string[], host: number, bytes: number}} report
 *
 * @typedef {{first: number | null, warm: number | null}} Times
 * @typedef {object} Compared  see compare_model there
 * @property {Times} webgpu
 * @property {Times} numpy
 * @property {{name: string, difference: number | null, largest: number | null}[]} outputs
 */

/** Runs after the first, of the device that is compared with. */
const WARM = 3;

/** What the engine calls its devices. */
const NAMES = { webgpu: "WebGPU", numpy: "NumPy" };

export class Open {
  #root;
  #engine;
  #timed;
  #input;
  #said;
  #error;
  #message;
  #facts;
  #form;
  #run;
  #given;
  #compare;
  #labelsInput;
  /** Of the classes, from a file. @type {string[]} */
  #labels = [];
  /** The chosen files. @type {{file: File, others: File[]} | null} */
  #files = null;
  /** The worker's number of the model; another for every opening. */
  #id = 0;
  #opened = false;
  #usable = false;
  #busy = false;
  /** @type {Answer | null} */
  #answer = null;
  /** @type {Compared | null} */
  #compared = null;
  /** @type {OpenOutput[]} */
  #outputs = [];
  /** What is said politely, and of the comparison. @type {{open: Words, compare: Words}} */
  #words = { open: "", compare: "" };
  /** @type {Latest<{id: number, shapes: Record<string, number[]>}, import("./open_facts.js").Survey>} */
  #surveys;

  /**
   * @param {HTMLElement} root
   * @param {import("../engine.js").Engine} engine
   * @param {(ms: number | null) => void} timed  hears the time of each answer
   */
  constructor(root, engine, timed) {
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    const hook = (/** @type {string} */ name) => find(`[data-testid=${name}]`);
    this.#root = root;
    this.#engine = engine;
    this.#timed = timed;
    this.#input = /** @type {HTMLInputElement} */ (hook("open-input"));
    this.#said = /** @type {HTMLElement} */ (hook("open-said"));
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
    this.#compare = /** @type {HTMLButtonElement} */ (hook("open-compare"));
    this.#labelsInput = /** @type {HTMLInputElement} */ (hook("open-labels"));
    this.#surveys = new Latest(
      (question) => this.#ask("surveyModel", question),
      (survey) => {
        this.#facts.count(survey);
        this.#usable = this.#opened && !survey.unsupported.length;
        this.#tell();
      },
      (error) => this.#fail(words("openSurveyFailed", plain(wordsOf(error)))),
    );
    this.#input.addEventListener("change", () => void this.take([...(this.#input.files ?? [])]));
    // Without this, choosing the same file a second time is no change.
    this.#input.addEventListener("click", () => {
      this.#input.value = "";
    });
    find("form").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      void this.#answerIt();
    });
    this.#compare.addEventListener("click", () => void this.#compareIt());
    this.#labelsInput.addEventListener("change", () => void this.#label());
  }

  /** No model of the site is needed here. @returns {Promise<null>} */
  async model() {
    return null;
  }

  /**
   * Open the model among these files; files without one join the model that could not be opened
   * before, as its external data.
   * @param {File[] | Promise<File[]>} given
   */
  async take(given) {
    try {
      const files = await given;
      if (!files.length) return;
      const isModel = (/** @type {File} */ { name }) => /\.onnx$/i.test(name);
      const labels = files.length === 1 && this.#answer && /\.(txt|json)$/i.test(files[0].name);
      if (labels) return void (await this.#label(files[0]));
      const lacking = this.#opened ? null : this.#files;
      const file = files.find(isModel) ?? lacking?.file ?? (files.length === 1 && files[0]);
      if (!file) {
        const names = files.map(({ name }) => name).join(", ");
        return this.#fail(words("openOnlyData", names));
      }
      const names = new Set(files.map(({ name }) => name));
      const before = file === lacking?.file ? lacking.others : [];
      const kept = before.filter(({ name }) => !names.has(name));
      await this.#open(file, [...kept, ...files.filter((each) => each !== file)]);
    } catch (error) {
      this.#fail(wordsOf(error));
    }
  }

  /** The device has changed, or something that failed was replaced: answer again. */
  answer() {
    const again = this.#answer !== null && !this.#root.hidden;
    this.#clearAnswer();
    if (again) void this.#answerIt();
  }

  /** Another device computes, perhaps. */
  started() {
    this.#facts.relabel();
  }

  /** Say it again, in another language. */
  relabel() {
    this.#message.relabel();
    this.#facts.relabel();
    this.#form.relabel();
    for (const output of this.#outputs) output.relabel();
    this.#tell();
  }

  // ---- opening ------------------------------------------------------------------------------

  /**
   * @param {File} file
   * @param {File[]} others
   */
  async #open(file, others) {
    const id = ++this.#id;
    this.#files = { file, others };
    this.#opened = this.#usable = false;
    this.#clear();
    this.#busyWith(words("openReading", file.name));
    try {
      const told = /** @type {import("./open_facts.js").Told} */ (
        await this.#engine.opened("openModel", { id, file, others })
      );
      if (id !== this.#id) return;
      this.#facts.show(told, file.name);
      this.#form.show(told.inputs);
      this.#opened = true;
      this.#usable = !told.unsupported.length;
      this.#words.open = "";
      this.#survey();
    } catch (error) {
      if (id !== this.#id) return;
      this.#fail(words("openFailed", file.name, plain(wordsOf(error))), error);
    } finally {
      if (id === this.#id) this.#rest();
    }
  }

  #clear() {
    this.#clearAnswer();
    this.#surveys.forget();
    this.#facts.clear();
    this.#form.clear();
    this.#labels = [];
    this.#labelsInput.value = "";
    this.#forgive();
  }

  /** Count again: a length is another. */
  #survey() {
    try {
      this.#forgive();
      this.#surveys.ask({ id: this.#id, shapes: this.#form.shapes() });
    } catch (error) {
      this.#fail(wordsOf(error));
    }
  }

  /**
   * An action on the model. A worker that has been replaced is given the files once more.
   * @param {"surveyModel" | "runModel" | "compareModel"} action
   * @param {Record<string, unknown>} args
   */
  async #ask(action, args) {
    try {
      return await this.#engine.opened(action, args);
    } catch (error) {
      const { type } = /** @type {{type?: string}} */ (error);
      if (type !== "NotOpenError" || args.id !== this.#id || !this.#files) throw error;
      await this.#engine.opened("openModel", { id: this.#id, ...this.#files });
      return this.#engine.opened(action, args);
    }
  }

  // ---- running ------------------------------------------------------------------------------

  async #answerIt() {
    if (this.#busy || !this.#usable) return;
    const id = this.#id;
    this.#clearAnswer();
    this.#forgive();
    this.#busyWith(words("openRunning"));
    try {
      const feeds = await this.#form.feeds();
      const answer = /** @type {Answer} */ (await this.#ask("runModel", { id, feeds }));
      if (id === this.#id) this.#show(answer);
    } catch (error) {
      if (id === this.#id) this.#fail(words("openRunFailed", plain(wordsOf(error))), error);
    } finally {
      if (id === this.#id) this.#rest();
    }
  }

  /** @param {Answer} answer */
  #show(answer) {
    this.#answer = answer;
    this.#outputs = answer.outputs.map((output) => new OpenOutput(output, this.#labels));
    const place = /** @type {HTMLElement} */ (this.#given.querySelector(".results"));
    place.replaceChildren(...this.#outputs.map(({ element }) => element));
    this.#given.hidden = false;
    this.#timed(answer.warm ?? answer.first);
    this.#tell();
  }

  /** There is no answer any more. */
  #clearAnswer() {
    this.#answer = this.#compared = null;
    this.#outputs = [];
    this.#words.compare = "";
    this.#given.hidden = true;
    /** @type {HTMLElement} */ (this.#given.querySelector(".results")).replaceChildren();
    this.#timed(null);
    this.#tell();
  }

  async #compareIt() {
    if (this.#busy || !this.#answer) return;
    const answer = this.#answer;
    this.#words.compare = words("openComparing");
    this.#busyWith("");
    try {
      const found = /** @type {Compared} */ (
        await this.#ask("compareModel", { id: this.#id, warm: WARM })
      );
      if (answer !== this.#answer) return;
      this.#compared = found;
      this.#words.compare = "";
      this.#outputs.forEach((output, i) => output.compared(found.outputs[i]));
    } catch (error) {
      if (answer !== this.#answer) return;
      this.#words.compare = words("openCompareFailed", plain(wordsOf(error)));
    } finally {
      this.#rest();
    }
  }

  /** @param {File} [dropped] */
  async #label(dropped) {
    const file = dropped ?? this.#labelsInput.files?.[0];
    if (!file) return;
    try {
      this.#labels = await readLabels(file);
      this.#words.compare = words("openLabelled", this.#labels.length);
      for (const output of this.#outputs) output.label(this.#labels);
    } catch (error) {
      this.#words.compare = wordsOf(error);
    }
    this.#tell();
  }

  // ---- what is said -------------------------------------------------------------------------

  /** @param {Words} now */
  #busyWith(now) {
    this.#busy = true;
    this.#words.open = now;
    this.#root.setAttribute("aria-busy", "true");
    this.#tell();
  }

  #rest() {
    this.#busy = false;
    this.#words.open = "";
    this.#root.setAttribute("aria-busy", "false");
    this.#tell();
  }

  #tell() {
    this.#said.textContent = say(this.#words.open);
    const compared = /** @type {HTMLElement} */ (
      this.#given.querySelector("[data-testid=open-compared]")
    );
    compared.textContent = [say(this.#words.compare), ...this.#comparedTimes()].join(" ").trim();
    this.#run.disabled = this.#busy || !this.#usable;
    this.#compare.disabled = this.#busy || !this.#answer;
    this.#tellTimes();
  }

  #comparedTimes() {
    const found = this.#compared;
    if (!found) return [];
    return /** @type {("webgpu" | "numpy")[]} */ (["webgpu", "numpy"]).map((device) => {
      const { first, warm } = found[device];
      return text.openTimes(NAMES[device], first ?? 0, warm);
    });
  }

  #tellTimes() {
    const place = /** @type {HTMLElement} */ (this.#given.querySelector(".took"));
    if (!this.#answer) {
      place.textContent = "";
      return;
    }
    const { device, first, warm, report } = this.#answer;
    Object.assign(place.dataset, {
      device,
      first: first.toFixed(3),
      warm: warm?.toFixed(3) ?? "",
      dispatches: String(report.dispatches),
      host: String(report.host),
    });
    const told = [text.openTimes(NAMES[device], first, warm)];
    if (report.host) told.push(text.openCrossed(report.host, report.bytes));
    told.push(...report.moved.map((why) => text.openMoved(why)));
    place.textContent = told.join(" ");
  }

  /**
   * @param {Words} why
   * @param {unknown} [error]
   */
  #fail(why, error) {
    // What the worker lacks may come again; what the file lacks does not.
    const again = error instanceof NotReady && this.#files;
    this.#message.show(why, again ? () => void this.#open(again.file, again.others) : undefined);
    this.#error.hidden = false;
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
