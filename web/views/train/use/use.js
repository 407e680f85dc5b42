// @ts-check
/**
 * The trained network answers: what is drawn on a pad, a photograph or what the camera sees, or a
 * second of sound, by the kind of its data.
 */

import { words, wordsOf } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { readPhoto } from "../../../engine/photo.js";
import { prepareDigit, SIDE } from "../../../prepare/digit.js";
import { Latest } from "../../../shared/latest.js";
import { fetchCard, findModel } from "../../../site/catalogue.js";
import { NETWORK } from "../../../site/own_examples.js";
import { Bars } from "../../../widgets/bars.js";
import { make } from "../../../widgets/dom.js";
import { Message } from "../../../widgets/message.js";
import { PadKeys } from "../../../widgets/pad/keys.js";
import { Pad } from "../../../widgets/pad/pad.js";
import { Camera } from "../own/camera.js";
import { chooser } from "../own/chooser.js";
import { clipsOf, heard, unheard } from "../own/sounds.js";

/** The most probable classes that are shown. */
const SHOWN = 10;

/** @typedef {import("../../../shared/contract.js").LessonAnswer} LessonAnswer */

/** The rows of an answer, the most probable first if there are many classes. @param {LessonAnswer} answer */
export function rowsOf({ classes, probabilities }) {
  const rows = classes.map((label, index) => ({
    index,
    label,
    probability: probabilities[index] ?? 0,
  }));
  if (rows.length <= SHOWN) return rows;
  return rows.sort((a, b) => b.probability - a.probability).slice(0, SHOWN);
}

export class Use {
  #root;
  #bars;
  #said;
  #message;
  #body = make("div", { class: "ask" });
  /** @type {Latest<Uint8Array, LessonAnswer>} */
  #latest;
  #run = "";
  #kind = "";
  /** Ends a recording. @type {AbortController | null} */
  #recording = null;
  /** @type {Camera | null} */
  #camera = null;

  /**
   * @param {HTMLElement} root  an empty element
   * @param {{engine: import("../../../engine/engine.js").Engine}} page
   */
  constructor(root, { engine }) {
    this.#root = root;
    const list = make("ol", { class: "bars", "data-testid": "train-use-bars" });
    show(list, words("trainUseBars"), "aria-label");
    this.#bars = new Bars(list);
    this.#said = make("p", { class: "info", role: "status" });
    const alert = make("p", { class: "message", role: "alert" });
    this.#message = new Message(alert);
    this.#latest = new Latest(
      (content) => engine.ask("train.answer", { run: this.#run, content, kind: this.#kind }),
      (answer) => this.#show(answer),
      (error) => this.#fail(error),
    );
    root.replaceChildren(show(make("h2"), words("trainUse")), this.#body, list, this.#said, alert);
    this.close();
  }

  /** No network can be asked. */
  close() {
    this.#recording?.abort();
    this.#latest.forget();
    this.#run = this.#kind = "";
    this.#root.hidden = true;
    this.#body.replaceChildren();
    this.#blank();
  }

  /**
   * Ask a run's network. @param {string} run @param {string} kind  of its data
   * @param {readonly number[]} shape  of an input
   */
  open(run, kind, shape) {
    if (run === this.#run && kind === this.#kind) return;
    this.close();
    const drawn = kind === "pictures" && shape.join() === `1,${SIDE},${SIDE}`;
    if (!drawn && kind !== "features" && kind !== "sounds") return;
    [this.#run, this.#kind] = [run, kind];
    this.#root.hidden = false;
    if (kind === "features") this.#photos();
    else if (kind === "sounds") this.#sounds();
    else this.#draw();
  }

  // ---- what is asked ------------------------------------------------------------------------

  #draw() {
    const canvas = make("canvas", {
      "data-testid": "train-use",
      role: "application",
      tabindex: "0",
      "aria-describedby": "train-use-keys",
    });
    const cursor = make("span", { class: "cursor", "aria-hidden": "true", hidden: "" });
    const pen = make("p", { class: "said", role: "status" });
    const how = show(make("p", { class: "info", id: "train-use-keys" }), words("trainUseKeys"));
    const clear = make("button", { type: "button", "data-testid": "train-use-clear" });
    show(canvas, words("trainUsePad"), "aria-label");
    show(clear, words("trainUseClear"));
    const pad = new Pad(canvas, () => {
      const { ink, width, height } = pad.ink.read();
      const picture = pad.ink.empty ? null : prepareDigit(ink, width, height);
      if (picture) this.#ask(Uint8Array.from(picture, (value) => Math.round(255 * value)));
      else this.#blank();
    });
    new PadKeys(canvas, cursor, pen, pad);
    clear.addEventListener("click", () => pad.change("clear"));
    this.#body.append(make("div", { class: "frame pad" }, canvas, cursor), how, pen, clear);
  }

  #photos() {
    const input = make("input", { type: "file", accept: "image/*", "data-testid": "train-use" });
    const camera = make("button", { type: "button", "data-testid": "train-use-camera" });
    show(camera, words("trainUseCamera"));
    const shown = make("canvas", { class: "thumb", hidden: "", "aria-hidden": "true" });
    const take = async (/** @type {File | undefined} */ file) => {
      if (!file) return;
      this.#message.clear();
      try {
        const { preprocess } = await fetchCard(await findModel(NETWORK));
        const photo = await readPhoto(file, preprocess);
        photo.close();
        const pixels = await photo.pixels(preprocess);
        const { size } = preprocess;
        Object.assign(shown, { width: size, height: size, hidden: false });
        shown.getContext("2d")?.putImageData(new ImageData(pixels, size, size), 0, 0);
        this.#ask(new Uint8Array(pixels.buffer));
      } catch (error) {
        this.#fail(error);
      }
    };
    const choose = chooser(input, words("trainUsePhoto"), ([file]) => void take(file));
    this.#camera ??= new Camera(this.#root);
    const dialog = this.#camera;
    camera.addEventListener("click", () => {
      const name = show(make("span"), words("trainUse")).textContent ?? "";
      void dialog.open(name, (picture) => void take(picture));
    });
    this.#body.append(make("div", { class: "acts" }, choose, camera), shown);
  }

  #sounds() {
    const input = make("input", { type: "file", accept: "audio/*", "data-testid": "train-use" });
    const record = make("button", { type: "button", "data-testid": "train-use-record" });
    const label = () => {
      show(record, words(this.#recording ? "trainUseRecorded" : "trainUseRecord"));
      record.setAttribute("aria-pressed", String(this.#recording !== null));
    };
    const take = async (/** @type {AsyncIterable<Uint8Array>} */ clips) => {
      this.#message.clear();
      try {
        for await (const clip of clips) this.#ask(clip);
      } catch (error) {
        const why = unheard(error);
        if (why) this.#message.show(why);
        else this.#fail(error);
      }
    };
    const choose = chooser(input, words("trainUseSound"), ([file]) => {
      if (file) void take(clipsOf(file));
    });
    record.addEventListener("click", async () => {
      if (this.#recording) {
        this.#recording.abort();
        return;
      }
      this.#recording = new AbortController();
      label();
      await take(heard(this.#recording.signal));
      this.#recording = null;
      label();
    });
    label();
    this.#body.append(make("div", { class: "acts" }, record, choose));
  }

  // ---- what is answered ---------------------------------------------------------------------

  /** @param {Uint8Array} content */
  #ask(content) {
    this.#root.setAttribute("aria-busy", "true");
    this.#latest.ask(content);
  }

  /** @param {LessonAnswer} answer */
  #show(answer) {
    this.#message.clear();
    this.#root.setAttribute("aria-busy", String(this.#latest.waiting));
    this.#bars.show(rowsOf(answer));
    const best = answer.probabilities.indexOf(Math.max(...answer.probabilities));
    const said = words("trainUseSaid", answer.classes[best]);
    show(this.#said, said);
    this.#camera?.say(said);
  }

  /** @param {unknown} error */
  #fail(error) {
    this.#root.setAttribute("aria-busy", "false");
    this.#message.show(words("trainUseFailed", /** @type {any} */ (wordsOf(error))));
  }

  #blank() {
    this.#latest.forget();
    this.#root.setAttribute("aria-busy", "false");
    this.#message.clear();
    this.#bars.show([]);
    show(this.#said, "");
  }
}
