// @ts-check
/** The Write view: a language model from a GGUF file, and a conversation with it that streams. */

import { words } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { Bars, percent } from "../../widgets/bars.js";
import { CopyButton } from "../../widgets/copy_button.js";
import { Message } from "../../widgets/message.js";
import { ModelChoice } from "../../widgets/model/choice.js";
import { reason } from "../../widgets/model/reason.js";
import { Talk, visible } from "./talk.js";
import { Talks } from "./talks.js";

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
  #talks;
  /** The id of the conversation that is shown; "" for one that is not kept yet. */
  #shown = "";
  /** The conversations that the select has, as JSON. */
  #listed = "";
  #message;
  #kept;
  #bars;
  #model;
  /** Ends the answer that is being written. @type {AbortController | null} */
  #writing = null;
  /** Resolves when no answer is being written. */
  #quiet = Promise.resolve();

  /**
   * @param {HTMLElement} root
   * @param {import("../view.js").Page} page
   */
  constructor(root, { engine, timed }) {
    /** @param {string} name @returns {any} */
    const hook = (name) => root.querySelector(`[data-testid=write-${name}]`);
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    const place = new URL(".", document.baseURI).pathname;
    this.#engine = engine;
    this.#timed = timed;
    this.#hook = hook;
    this.#message = new Message(hook("said"));
    this.#kept = new Message(hook("kept"));
    this.#bars = new Bars(hook("considered"));
    this.#talk = new Talk(find(".talk"), {
      edit: (text) => {
        this.#writing?.abort();
        hook("input").value = text;
        hook("input").focus();
        this.#render();
      },
      again: () => void this.#stopped().then(() => this.#answer()),
      consider: (chosen) => {
        find(".considered").hidden = !chosen;
        if (!chosen) return;
        const best = chosen.rows[0];
        const share = best ? percent(best.probability) : "";
        show(hook("piece"), words("writePiece", visible(chosen.piece), best?.label ?? "", share));
        this.#bars.show(chosen.rows);
      },
      said: () => {
        this.#keep();
        this.#render();
      },
      cut: () => this.#render(),
    });
    this.#talks = new Talks(
      () => localStorage,
      place,
      (note) => this.#kept.show(note),
    );
    hook("talks").addEventListener("change", () => void this.#choose(hook("talks").value));
    hook("new").addEventListener("click", () => {
      this.#kept.clear();
      void this.#choose("").then(() => hook("input").focus());
    });
    hook("delete").addEventListener("click", () => void this.#delete());
    addEventListener("storage", ({ key }) => this.#changedElsewhere(key));
    addEventListener("pagehide", () => {
      if (this.#writing) this.#keep();
    });
    new CopyButton(
      hook("copy"),
      "copy",
      () => this.#talk.markdown(),
      () => {},
    );
    hook("close").addEventListener("click", () => this.#talk.chooseNone());
    hook("stop").addEventListener("click", () => this.#writing?.abort());
    hook("input").addEventListener("input", () => this.#render());
    hook("input").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      hook("send").click();
    });
    find(".ask").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      void this.#send();
    });
    this.#model = new ModelChoice(hook("choice"), {
      view: "write",
      files: "file",
      task: "write",
      kind: "gguf",
      open: (source, options) =>
        /** @type {Promise<TextModel>} */ (engine.ask("write.load", { source }, options)),
      opened: (name, { family, parameters, context, converses }) =>
        words("writeLoaded", name, family, parameters, context, converses),
      changed: () => this.#render(),
    });
    this.#model.begin();
    this.#shown = this.#talks.list()[0]?.id ?? "";
    this.#talk.show(this.#talks.messages(this.#shown));
    this.#render();
  }

  /** This view needs none of the site's models. @returns {Promise<null>} */
  async model() {
    return null;
  }

  /** Whether the visitor has chosen no model and written nothing. */
  get untouched() {
    return !this.#writing && !this.#hook("input").value && !this.#model.touched;
  }

  /** The device changed, or the worker failed: the model is no longer there. */
  answer() {
    this.#model.forget();
    this.#timed(null);
  }

  /** Choose the first model among files. @param {File[]} files */
  takeFiles(files) {
    this.#model.takeFiles(files);
  }

  /** Keep the conversation that is shown. */
  #keep() {
    const said = this.#talk.messages.filter(({ content }) => content);
    this.#shown = this.#talks.save(this.#shown, said);
  }

  /** Stop the answer that is being written; resolves when it is kept. */
  async #stopped() {
    this.#writing?.abort();
    await this.#quiet;
  }

  /** Show a conversation. @param {string} id  "" for a new one */
  async #choose(id) {
    await this.#stopped();
    this.#shown = id;
    this.#message.clear();
    this.#rate(null);
    this.#talk.show(this.#talks.messages(id));
    this.#render();
  }

  async #delete() {
    await this.#stopped();
    const id = this.#shown;
    const name = this.#talks.list().find((each) => each.id === id)?.name ?? "";
    const undo = this.#talks.remove(id);
    await this.#choose(this.#talks.list()[0]?.id ?? "");
    this.#kept.show(
      words("writeDeleted", name),
      () => {
        this.#kept.clear();
        undo();
        void this.#choose(id);
      },
      words("writeUndo"),
    );
    this.#hook("talks").focus();
  }

  /** Another tab has changed what is kept. @param {string | null} key */
  #changedElsewhere(key) {
    const id = this.#talks.idOf(key);
    // An answer that is being written is kept apart from what the other tab wrote.
    if (id === null || (id === this.#shown && this.#writing)) return;
    this.#talks.reread(id);
    const messages = this.#talks.messages(id);
    if (id === this.#shown) {
      if (messages.length) this.#talk.show(messages);
      else this.#shown = ""; // deleted there: what is here counts once more is said
    }
    this.#render();
  }

  async #send() {
    const text = this.#hook("input").value.toWellFormed().trim();
    if (!text || this.#writing || !this.#model.chosen) return;
    this.#hook("input").value = "";
    this.#talk.add("user", text);
    await this.#answer();
  }

  /** Answer the last message. */
  #answer() {
    const answered = this.#write();
    this.#quiet = answered.catch(() => {});
    return answered;
  }

  async #write() {
    const stop = new AbortController();
    this.#writing = stop;
    this.#message.clear();
    this.#render();
    const model = await this.#model.load(stop.signal);
    if (!model) {
      this.#writing = null;
      this.#render();
      return;
    }
    const messages = this.#asked(model);
    const item = this.#talk.begin();
    const began = performance.now();
    this.#render();
    const onProgress = (/** @type {Wrote} */ { stage, piece, tokens: count, considered }) => {
      if (stage !== "write") return;
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
      if (!answer.tokens) this.#message.show(words("writeNothing"));
    } catch (error) {
      if (error !== stop.signal.reason) {
        this.#message.show(
          words("writeFailed", /** @type {any} */ (reason(error))),
          () => void this.#again(),
        );
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
    const system = this.#hook("system").value.toWellFormed().trim();
    const { messages } = this.#talk;
    if (!converses) return [system, ...messages.map(({ content }) => content)].join("\n").trim();
    return system ? [{ role: "system", content: system }, ...messages] : [...messages];
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

  /** @param {number | null} tokens  null for none @param {number | null} [rate] */
  #rate(tokens, rate = null) {
    const line = this.#hook("rate");
    line.dataset.value = rate === null ? "" : String(rate);
    show(line, tokens === null ? "" : words("writeRate", tokens, rate));
  }

  #render() {
    const busy = this.#writing !== null;
    const hook = this.#hook;
    hook("send").disabled = busy || !this.#model.chosen || !hook("input").value.trim();
    hook("stop").hidden = !busy;
    hook("send").hidden = busy;
    hook("copy").hidden = !this.#talk.messages.length;
    hook("delete").hidden = !this.#shown;
    hook("new").hidden = !this.#shown && !this.#talk.messages.length;
    this.#list();
  }

  /** List the conversations. */
  #list() {
    const talks = this.#talks.list();
    if (!this.#shown) talks.unshift({ id: "", name: "" });
    this.#hook("bar").hidden = talks.length === 1 && !this.#shown;
    const listed = JSON.stringify(talks);
    if (listed !== this.#listed) this.#fill(talks);
    this.#listed = listed;
    this.#hook("talks").value = this.#shown;
  }

  /** @param {{id: string, name: string}[]} talks */
  #fill(talks) {
    const options = talks.map(({ id, name }) => {
      const option = Object.assign(document.createElement("option"), { value: id });
      show(option, name || words("writeUnnamed"));
      return option;
    });
    this.#hook("talks").replaceChildren(...options);
  }
}
