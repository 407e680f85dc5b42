// @ts-check
/** The Write view: a language model from a GGUF file, and a conversation with it that streams. */

import { words, wordsOf } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { Bars } from "../../widgets/bars.js";
import { CopyButton } from "../../widgets/copy_button.js";
import { Message } from "../../widgets/message.js";
import { Talk } from "./talk.js";

/** Of the file's size: what a model of it holds, with its memory of the text. */
const MEMORY = 1.5;

/** @import {View} from "../view.js" */
/** @typedef {import("../../shared/contract.js").TextModel} TextModel */
/** @typedef {import("../../shared/contract.js").Wrote} Wrote */
/** @typedef {import("../../shared/contract.js").WroteAnswer} WroteAnswer */

/** @implements {View} */
export default class Write {
  #engine;
  #timed;
  #hook;
  #talk;
  #message;
  #bars;
  /** @type {File | null} */
  #file = null;
  /** What the worker has loaded of it. @type {Promise<TextModel> | null} */
  #loaded = null;
  /** Ends the answer that is being written. @type {AbortController | null} */
  #writing = null;

  /**
   * @param {HTMLElement} root
   * @param {import("../view.js").Page} page
   */
  constructor(root, { engine, timed }) {
    /** @param {string} name @returns {any} */
    const hook = (name) => root.querySelector(`[data-testid=write-${name}]`);
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    this.#engine = engine;
    this.#timed = timed;
    this.#hook = hook;
    this.#message = new Message(find(".message"));
    this.#bars = new Bars(hook("considered"));
    this.#talk = new Talk(find(".talk"), {
      edit: (text) => {
        hook("input").value = text;
        hook("input").focus();
        this.#render();
      },
      again: () => void this.#answer(),
      consider: (rows) => {
        find(".considered").hidden = false;
        this.#bars.show(rows);
      },
      changed: () => this.#render(),
    });
    new CopyButton(
      hook("copy"),
      "copy",
      () => this.#talk.markdown(),
      () => {},
    );
    hook("file").addEventListener("change", () => {
      this.takeFiles([...hook("file").files]);
      hook("file").value = "";
    });
    hook("load").addEventListener("click", () => void this.#load());
    hook("stop").addEventListener("click", () => this.#writing?.abort());
    hook("new").addEventListener("click", () => this.#talk.clear());
    hook("input").addEventListener("input", () => this.#render());
    hook("input").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      hook("send").click();
    });
    find("form").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      void this.#send();
    });
    show(hook("model"), words("writeNone"));
    this.#render();
  }

  /** This view needs none of the site's models. @returns {Promise<null>} */
  async model() {
    return null;
  }

  /** Whether the visitor has chosen no model and written nothing. */
  get untouched() {
    return !this.#file && !this.#talk.messages.length && !this.#hook("input").value;
  }

  /** The device changed, or the worker failed: the model is no longer there. */
  answer() {
    this.#loaded = null;
    this.#timed(null);
  }

  /** Choose the first model among files. @param {File[]} files */
  takeFiles(files) {
    const file = files.find(({ name }) => name.endsWith(".gguf"));
    if (!file) {
      if (files.length) this.#message.show(words("writeNotGguf"));
      return;
    }
    this.#file = file;
    this.#loaded = null;
    this.#message.clear();
    this.#hook("model").dataset.state = "chosen";
    show(
      this.#hook("model"),
      words("writeChosen", file.name, file.size, Math.round(file.size * MEMORY)),
    );
    this.#render();
  }

  /** Have the worker open the file. @returns {Promise<TextModel | null>}  null if that failed */
  async #load() {
    const file = this.#file;
    if (!file) return null;
    const line = this.#hook("model");
    try {
      if (!this.#loaded) {
        line.dataset.state = "loading";
        show(line, words("writeLoading", file.name));
        this.#loaded = this.#engine.ask("write.load", { file });
        this.#render();
      }
      const { family, parameters, context, converses } = /** @type {TextModel} */ (
        await this.#loaded
      );
      line.dataset.state = "loaded";
      show(line, words("writeLoaded", file.name, family, parameters, context));
      if (!converses) this.#message.show(words("writePlain"));
    } catch (error) {
      this.#loaded = null;
      line.dataset.state = "failed";
      show(line, words("writeNotLoaded", file.name, /** @type {any} */ (wordsOf(error))));
    }
    this.#render();
    return this.#loaded;
  }

  async #send() {
    const text = this.#hook("input").value.trim();
    if (!text || this.#writing || !this.#file) return;
    this.#hook("input").value = "";
    this.#talk.add("user", text);
    await this.#answer();
  }

  /** Answer the last message. */
  async #answer() {
    const model = await this.#load();
    if (!model || this.#writing) return;
    const stop = new AbortController();
    this.#writing = stop;
    this.#message.clear();
    const messages = this.#asked(model);
    const item = this.#talk.begin();
    let tokens = 0;
    const began = performance.now();
    this.#render();
    const onProgress = (/** @type {Wrote} */ { stage, piece, tokens: count, considered }) => {
      if (stage !== "write") return;
      tokens = count;
      item.add(piece, considered);
      const seconds = (performance.now() - began) / 1000;
      this.#rate(count, count / seconds);
    };
    try {
      const options = {
        signal: stop.signal,
        onProgress: /** @type {any} */ (onProgress),
        proves: true,
      };
      const answer = /** @type {WroteAnswer} */ (
        await this.#engine.ask("write.answer", { messages, options: this.#options() }, options)
      );
      this.#rate(answer.tokens, answer.rate);
      this.#timed(answer.first * 1000);
    } catch (error) {
      if (error !== stop.signal.reason) {
        this.#message.show(
          words("writeFailed", /** @type {any} */ (wordsOf(error))),
          () => void this.#again(),
        );
        if (!tokens) item.remove();
      }
    } finally {
      this.#writing = null;
      item.end();
      this.#render();
    }
  }

  /** Answer the last message once more. */
  async #again() {
    this.#message.clear();
    this.#talk.dropAnswer();
    await this.#answer();
  }

  /** What the model is asked: a conversation, or a text that it goes on with. @param {TextModel} model */
  #asked({ converses }) {
    const system = this.#hook("system").value.trim();
    const { messages } = this.#talk;
    if (!converses) return [system, ...messages.map(({ content }) => content)].join("\n").trim();
    return system ? [{ role: "system", content: system }, ...messages] : messages;
  }

  #options() {
    const number = (/** @type {string} */ name) => Number(this.#hook(name).value);
    return {
      max_tokens: number("most"),
      temperature: number("temperature"),
      top_p: number("top-p"),
      repetition_penalty: number("penalty"),
      seed: number("seed"),
    };
  }

  /** @param {number} tokens @param {number | null} rate */
  #rate(tokens, rate) {
    const line = this.#hook("rate");
    line.dataset.value = rate === null ? "" : String(rate);
    show(line, words("writeRate", tokens, rate));
  }

  #render() {
    const { messages } = this.#talk;
    const busy = this.#writing !== null;
    this.#hook("load").disabled = !this.#file || this.#loaded !== null;
    this.#hook("send").disabled = busy || !this.#file || !this.#hook("input").value.trim();
    this.#hook("stop").disabled = !busy;
    this.#hook("new").disabled = this.#hook("copy").disabled = busy || !messages.length;
  }
}
