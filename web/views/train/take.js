// @ts-check
/** Files of a run to take home: the network, the program that trained it, a card. */

import { words, wordsOf } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { bytes } from "../../shared/format.js";
import { make } from "../../widgets/dom.js";
import { Message } from "../../widgets/message.js";
import { SavedFiles } from "../../widgets/saved_files.js";

/**
 * A file that is offered: its form, what it is called, how it is named after its run.
 * @typedef {{form: string, entry: import("../../i18n/messages.js").Entry, ending: string, type: string}} Offered
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
const DATA_FILE = (/** @type {string} */ kind) =>
  kind === "text" ? "text.txt" : "data.safetensors";

export class Take {
  #take;
  #root;
  #line;
  #message;
  #saved = new SavedFiles();
  /** @type {{run: string, name: string, kind: string, published: boolean} | null} */
  #run = null;

  /**
   * @param {HTMLElement} root  empty
   * @param {(asked: {run: string, form: string}) => Promise<Uint8Array<ArrayBuffer>>} take  asks the
   *     worker, `train.take`
   */
  constructor(root, take) {
    this.#root = root;
    this.#take = take;
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
    root.append(title, make("div", { class: "acts" }, ...buttons), this.#line, alert);
    root.hidden = true;
  }

  /**
   * Offer the files of a run, or none.
   * @param {{run: string, name: string, kind: string, published: boolean} | null} run  run: its
   *     folder; name: for people; kind: of its data; published: whether others have the data too
   */
  offer(run) {
    if (run?.run !== this.#run?.run) this.#line.textContent = "";
    this.#run = run;
    this.#saved.forget(); // the network has learnt on
    this.#root.hidden = !run;
    this.#button("data").hidden = !run || run.published;
  }

  /** @param {string} form @returns {HTMLButtonElement} */
  #button(form) {
    return /** @type {HTMLButtonElement} */ (
      this.#root.querySelector(`[data-testid=train-download-${form}]`)
    );
  }

  /** @param {Offered} offered */
  async #save({ form, ending, type }) {
    const run = this.#run;
    if (!run) return;
    const name = form === "data" ? DATA_FILE(run.kind) : `${fileName(run.name)}${ending}`;
    this.#message.clear();
    this.#root.ariaBusy = "true";
    show(this.#line, words("trainTaking"));
    try {
      const content = await this.#take({ run: run.run, form });
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
