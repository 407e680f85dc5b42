// @ts-check
/** What a network of characters writes: samples while it learns, and texts that it goes on with. */

import { words, wordsOf } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { make } from "../../../widgets/dom.js";
import { Message } from "../../../widgets/message.js";

/** Characters that it writes when it is asked. */
const LENGTH = 300;

export class Written {
  #root;
  #training;
  #sample = make("pre", { class: "written", "data-testid": "train-sample", tabindex: "0" });
  #when = make("p", { class: "info" });
  #begin = make("textarea", { rows: "2", "data-testid": "train-begin" });
  #button = make("button", { type: "submit", "data-testid": "train-write" });
  #message;
  /** The run that Python has open. @type {string | null} */
  #run = null;
  /** Ends what is being written. @type {AbortController | null} */
  #work = null;

  /**
   * @param {HTMLElement} root  empty
   * @param {import("../training.js").Training} training
   */
  constructor(root, training) {
    this.#root = root;
    this.#training = training;
    const alert = make("p", { class: "message", role: "alert" });
    this.#message = new Message(alert);
    show(this.#sample, words("trainWritten"), "aria-label");
    const label = show(make("span"), words("trainWriteBegin"));
    const begin = make("label", {}, label, this.#begin);
    const form = make("form", { class: "own-text" }, begin, this.#button);
    form.addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      if (this.#work) this.#work.abort();
      else void this.#write();
    });
    const title = show(make("h2"), words("trainWritten"));
    root.replaceChildren(title, this.#when, this.#sample, form, alert);
    training.on("begun", ({ run }) => this.#open(run));
    training.on("closed", () => (this.#run = null));
    training.on("sample", ({ step, text }) => {
      show(this.#when, words("trainWrittenAt", step));
      this.#sample.textContent = text;
    });
    for (const event of ["state", "settings", "data"]) training.on(event, () => this.#render());
    this.#render();
  }

  /** @param {string} run */
  #open(run) {
    if (run !== this.#run) this.#sample.textContent = this.#when.textContent = "";
    this.#run = run;
    this.#render();
  }

  async #write() {
    const { engine } = this.#training;
    const stop = new AbortController();
    this.#work = stop;
    this.#message.clear();
    this.#when.textContent = "";
    this.#render();
    const onProgress = (/** @type {any} */ { text }) => (this.#sample.textContent = text);
    try {
      const asked = { run: this.#run, begin: this.#begin.value, count: LENGTH };
      await engine.ask("train.write", asked, { signal: stop.signal, onProgress, proves: true });
    } catch (error) {
      if (!stop.signal.aborted)
        this.#message.show(words("trainNotWritten", /** @type {any} */ (wordsOf(error))));
    } finally {
      this.#work = null;
      this.#render();
    }
  }

  #render() {
    const { busy, run, source } = this.#training;
    this.#root.hidden = source?.own !== "text" || this.#run === null || run !== this.#run;
    this.#button.disabled = this.#begin.disabled = busy;
    show(this.#button, words(this.#work ? "trainWriteStop" : "trainWrite"));
    this.#sample.setAttribute("aria-busy", String(this.#work !== null));
  }
}
