// @ts-check
/** Files of a run to take home: the network, the program that trained it, a card. */

import { words, wordsOf } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { bytes } from "../../../shared/format.js";
import { make } from "../../../widgets/dom.js";
import { Message } from "../../../widgets/message.js";
import { SavedFiles } from "../../../widgets/saved_files.js";

/**
 * A file that is offered: its form, what it is called, how it is named after its run.
 * @typedef {{form: string, entry: import("../../../i18n/messages.js").Entry, ending: string, type: string}} Offered
 */

/** @type {readonly Offered[]} */
const OFFERED = [
  { form: "onnx", entry: "trainTakeOnnx", ending: ".onnx", type: "application/octet-stream" },
  {
    form: "safetensors",
    entry: "trainTakeSafetensors",
    ending: ".safetensors",
    type: "application/octet-stream",
  },
  { form: "python", entry: "trainTakePython", ending: ".py", type: "text/x-python" },
  { form: "data", entry: "trainTakeData", ending: "", type: "application/octet-stream" },
  { form: "card", entry: "trainTakeCard", ending: ".md", type: "text/markdown" },
];

/** What the program asks for, by the kind of data. */
const dataFile = (/** @type {string} */ kind) =>
  kind === "text" ? "text.txt" : "data.safetensors";

export class Take {
  #training;
  #nameOf;
  #root;
  #line;
  #message;
  #saved = new SavedFiles();
  #code = make("details");
  #program = make("pre", { class: "written", tabindex: "0", "data-testid": "train-program" });

  /**
   * @param {HTMLElement} root  empty
   * @param {import("../training.js").Training} training
   * @param {(run: string) => string | null | undefined} nameOf  a run's name, for people
   */
  constructor(root, training, nameOf) {
    this.#root = root;
    this.#training = training;
    this.#nameOf = nameOf;
    const title = show(make("h2"), words("trainTake"));
    const buttons = OFFERED.map((offered) => {
      const { form, entry } = offered;
      const testid = `train-download-${form}`;
      const button = make("button", { type: "button", "data-testid": testid });
      show(button, words(entry));
      button.addEventListener("click", () => void this.#save(offered));
      return button;
    });
    this.#line = make("p", { class: "info", role: "status", "data-testid": "train-taken" });
    const alert = make("p", { class: "message", role: "alert" });
    this.#message = new Message(alert);
    this.#code.append(show(make("summary"), words("trainProgram")), this.#program);
    this.#code.addEventListener("toggle", () => void this.#read());
    const acts = make("div", { class: "acts" }, ...buttons);
    root.append(title, acts, this.#line, alert, this.#code);
    // Python has the run once it has begun, and until another one does.
    training.on("begun", ({ run }) => (root.dataset.run = run));
    training.on("closed", () => delete root.dataset.run);
    for (const event of ["state", "settings", "data"]) training.on(event, () => this.#render());
    this.#render();
  }

  #render() {
    const { busy, run, source } = this.#training;
    const there = run !== null && !busy && this.#root.dataset.run === run;
    if (!there) {
      this.#saved.forget(); // the network learns on
      this.#line.textContent = "";
      this.#message.clear();
      this.#code.open = false;
    }
    this.#root.hidden = !there;
    this.#button("data").hidden = Boolean(source?.published);
  }

  /** Show the program that trains the network again. */
  async #read() {
    const { run, engine } = this.#training;
    if (!this.#code.open || run === null) return;
    try {
      const content = await engine.ask("train.home", { run, form: "python" });
      this.#program.textContent = new TextDecoder().decode(content);
    } catch (error) {
      this.#message.show(words("trainNotTaken", wordsOf(error)));
    }
  }

  /** @param {string} form @returns {HTMLButtonElement} */
  #button(form) {
    return /** @type {HTMLButtonElement} */ (
      this.#root.querySelector(`[data-testid=train-download-${form}]`)
    );
  }

  /** @param {Offered} offered */
  async #save({ form, ending, type }) {
    const { run, facts, engine } = this.#training;
    if (run === null) return;
    const name =
      form === "data" ? dataFile(facts.kind) : `${fileName(this.#nameOf(run) ?? run)}${ending}`;
    this.#message.clear();
    this.#root.ariaBusy = "true";
    show(this.#line, words("trainTaking"));
    try {
      const content = await engine.ask("train.home", { run, form });
      this.#saved.save(name, () => new Blob([content], { type }));
      show(this.#line, words("trainTaken", name, bytes(content.byteLength)));
    } catch (error) {
      show(this.#line, "");
      this.#message.show(words("trainNotTaken", wordsOf(error)));
    } finally {
      this.#root.ariaBusy = null;
    }
  }
}

/** A name without the signs that file systems refuse. @param {string} name */
export const fileName = (name) =>
  name
    .replaceAll(/[\\/:*?"<>|\p{Cc}]+/gu, "-")
    .replaceAll(/^[\s.-]+|[\s.-]+$/g, "")
    .slice(0, 100) || "network";
