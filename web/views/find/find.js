// @ts-check
/** The Find view: texts that are cut and embedded in the tab, and asked by meaning. */

import { words, wordsOf } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { text } from "../../i18n/text.js";
import { Message } from "../../widgets/message.js";
import { ModelChoice } from "../../widgets/model/choice.js";
import { Files } from "./files.js";
import { nameOf } from "./model.js";
import { pagesOf } from "./pdf.js";
import { Results } from "./results.js";

/** @import {View} from "../view.js" */
/** @typedef {import("../../i18n/messages.js").Words} Words */
/** @typedef {import("../../shared/contract.js").Embedded} Embedded */
/** @typedef {import("../../shared/contract.js").FindModel} FindModel */
/** @typedef {import("../../shared/contract.js").Indexed} Indexed */
/** @typedef {import("../../shared/contract.js").IndexedFile} IndexedFile */
/** @typedef {import("../../shared/contract.js").Looked} Looked */
/** @typedef {{stage: "unkept", why: string}} Unkept */

/** Passages that are shown. */
const MOST = 10;

/** Letters of a pasted text that are its name. */
const NAME_LETTERS = 40;

/** @implements {View} */
export default class Find {
  #engine;
  #timed;
  #hook;
  #message;
  #results;
  #files;
  #choice;
  #progress;
  /** What the worker has of an earlier visit. @type {Promise<void> | null} */
  #restored = null;
  /** Files that are not yet cut. @type {File[]} */
  #waiting = [];
  /** Ends reading, cutting and embedding. @type {AbortController | null} */
  #indexing = null;
  /** Whether another model was chosen meanwhile. */
  #again = false;
  /** Passages that can be found, and all. */
  #count = { done: 0, total: 0 };
  /** Whether typing has opened the chosen model: who cancels that types on without it. */
  #prepared = false;
  /** Ends the search. @type {AbortController | null} */
  #looking = null;

  /**
   * @param {HTMLElement} root
   * @param {import("../view.js").Page} page
   */
  constructor(root, { engine, timed }) {
    /** @param {string} name @returns {any} */
    const hook = (name) => root.querySelector(`[data-testid=find-${name}]`);
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    this.#engine = engine;
    this.#timed = timed;
    this.#hook = hook;
    this.#progress = find("progress");
    this.#message = new Message(find(".message"));
    this.#results = new Results(hook("results"), find(".found"));
    this.#files = new Files(find(".texts"), hook("list"), (name) => void this.#remove(name));
    this.#choice = new ModelChoice(hook("choice"), {
      view: "find",
      task: "find",
      kind: "safetensors",
      open: async (source, options) => {
        await this.#restore();
        const named = { source, name: await nameOf(source) };
        return /** @type {FindModel} */ (await engine.ask("find.load", named, options));
      },
      opened: (name, { dropped }) => {
        void this.#index();
        if (dropped) {
          this.#count.done = 0;
          this.#message.show(words("findAgain", dropped));
        }
        return words("choiceLoaded", name);
      },
      chosen: () => {
        this.#prepared = false;
        this.#again = this.#indexing !== null;
        this.#indexing?.abort();
        if (this.#waiting.length) void this.#index();
      },
      changed: () => this.#render(),
    });
    hook("files").addEventListener("change", () => {
      this.takeFiles([...hook("files").files]);
      hook("files").value = "";
    });
    hook("text").addEventListener("input", () => this.#render());
    hook("add").addEventListener("click", () => this.#paste());
    hook("stop").addEventListener("click", () => this.#indexing?.abort());
    hook("continue").addEventListener("click", () => void this.#index());
    hook("clear").addEventListener("click", () => void this.#remove(""));
    hook("query").addEventListener("focus", () => void this.#prepare());
    hook("query").addEventListener("input", () => {
      void this.#prepare();
      this.#render();
    });
    find(".ask").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      void this.#look();
    });
    this.#choice.begin();
    void this.#restore().catch(() => {});
    this.#render();
  }

  /** This view needs none of the site's networks. @returns {Promise<null>} */
  async model() {
    return null;
  }

  /** Whether the visitor has given no texts and asked nothing. */
  get untouched() {
    return !this.#count.total && !this.#waiting.length && !this.#hook("query").value;
  }

  /** The device changed, or the worker failed: the model is no longer there. @param {boolean} died */
  answer(died) {
    this.#choice.forget();
    this.#prepared = false;
    this.#timed(null);
    if (died) {
      this.#restored = null;
      void this.#restore().catch(() => {});
    }
    this.#render();
  }

  /** Index files. @param {File[]} files */
  takeFiles(files) {
    if (!files.length) return;
    this.#waiting.push(...files);
    void this.#index();
  }

  #paste() {
    const field = this.#hook("text");
    const start = field.value.trim().replace(/\s+/g, " ").slice(0, NAME_LETTERS);
    if (!start) return;
    this.takeFiles([new File([field.value], text.findPasted(start), { type: "text/plain" })]);
    field.value = "";
    this.#render();
  }

  /** Have the worker take what an earlier visit has kept. */
  #restore() {
    this.#restored ??= this.#takeKept();
    return this.#restored;
  }

  async #takeKept() {
    this.#say("loading", words("findRestoring"));
    try {
      /** @type {{files: IndexedFile[], damaged: number}} */
      const { files, damaged } = await this.#engine.ask("find.restore", {});
      this.#files.replace(files);
      const done = files.reduce((sum, file) => sum + file.done, 0);
      this.#count = { done, total: this.#files.passages };
      if (damaged) this.#message.show(words("findWasDamaged", damaged));
    } catch (error) {
      this.#message.show(words("findNotKept", /** @type {any} */ (wordsOf(error))));
    }
    this.#rest();
  }

  /** Have the worker open the chosen model. @returns {Promise<FindModel | null>}  see ModelChoice */
  #load() {
    if (!this.#choice.loaded) this.#say("loading", words("findOpening"));
    return this.#choice.load();
  }

  /** Open the model while a question is typed. */
  async #prepare() {
    const { chosen, loaded } = this.#choice;
    if (this.#prepared || !this.#count.total || !chosen || loaded) return;
    this.#prepared = true;
    if (!(await this.#load())) this.#rest(this.#choice.failed);
  }

  /** Read, cut and embed what waits, or is not embedded yet. */
  async #index() {
    if (this.#indexing) return;
    if (!this.#choice.chosen) {
      this.#say("none", words(this.#waiting.length ? "findWaits" : "findNone"));
      return;
    }
    const stop = new AbortController();
    this.#indexing = stop;
    this.#message.clear();
    this.#render();
    /** @type {Words | null} */
    let failed = null;
    try {
      if (await this.#load()) {
        do {
          for (let file; (file = this.#waiting.shift());)
            failed = (await this.#add(file, stop.signal)) ?? failed;
          await this.#embed(stop.signal);
        } while (this.#waiting.length);
      } else failed = this.#choice.failed;
    } catch (error) {
      if (error !== stop.signal.reason) {
        failed = words("findStopped", /** @type {any} */ (wordsOf(error)));
        this.#message.show(failed, () => void this.#index());
      }
    }
    this.#indexing = null;
    if (this.#again) {
      this.#again = false;
      await this.#index();
    } else this.#rest(failed);
  }

  /**
   * Read a file and cut it into passages.
   * @param {File} file
   * @param {AbortSignal} signal
   * @returns {Promise<Words | null>}  why that failed
   */
  async #add(file, signal) {
    const { name } = file;
    this.#say("indexing", words("findReading", name, this.#waiting.length));
    try {
      const isPdf = /\.pdf$/i.test(name) || file.type === "application/pdf";
      const content = isPdf
        ? await pagesOf(file, signal, (page, pages) =>
            this.#say("indexing", words("findPages", name, page, pages), page / pages),
          )
        : file;
      const kind = isPdf ? "pages" : /\.x?html?$/i.test(name) ? "html" : "text";
      const onProgress = (/** @type {Embedded} */ { stage, done, total }) => {
        if (stage !== "cut") return;
        this.#say("indexing", words("findCutting", name, done / total), done / total);
      };
      const { passages, guessed } = /** @type {Indexed} */ (
        await this.#engine.ask("find.add", { name, kind, file: content }, { signal, onProgress })
      );
      this.#files.put(name, passages, guessed);
      this.#count.total = this.#files.passages;
      return null;
    } catch (error) {
      if (signal.aborted) throw error;
      const why = /** @type {any} */ (wordsOf(error));
      this.#files.fail(name, words("findReason", name, why));
      return words("findFailed", name, why);
    }
  }

  /** Embed all passages that have no vectors. @param {AbortSignal} signal */
  async #embed(signal) {
    const onProgress = (/** @type {Embedded | Unkept} */ report) => {
      if (report.stage === "unkept") {
        const { why } = report;
        const reason = why === "QuotaExceededError" ? words("findFull") : why;
        this.#message.show(words("findNotKept", /** @type {any} */ (reason)));
      } else if (report.stage === "embed") {
        const { done, total, rate = 0 } = report;
        this.#count = { done, total };
        if (done < total)
          this.#say("indexing", words("findEmbedding", done, total, rate), done / total);
      }
    };
    const { done, total } = /** @type {Embedded} */ (
      await this.#engine.ask("find.embed", {}, { signal, onProgress, proves: true })
    );
    this.#count = { done, total };
  }

  /** Forget a file; "" means all. @param {string} name */
  async #remove(name) {
    this.#files.remove(name);
    this.#waiting = name ? this.#waiting.filter((file) => file.name !== name) : [];
    if (!name) this.#indexing?.abort();
    this.#results.clear();
    try {
      /** @type {Embedded} */
      const { done, total } = await this.#engine.ask("find.remove", { name });
      if (!this.#indexing) {
        this.#count = { done, total };
        this.#rest();
      }
    } catch (error) {
      this.#message.show(/** @type {any} */ (wordsOf(error)));
    }
  }

  /** Show the passages that are nearest to the question. */
  async #look() {
    const question = this.#hook("query").value.trim();
    if (!question || !this.#choice.chosen) return;
    this.#looking?.abort();
    const stop = new AbortController();
    this.#looking = stop;
    this.#results.begin();
    try {
      if (!(await this.#load())) {
        this.#results.clear();
        this.#rest(this.#choice.failed);
        return;
      }
      let shown = false;
      const onProgress = (/** @type {Looked} */ report) => {
        if (report.stage !== "look" || stop.signal.aborted || shown) return;
        shown = true;
        this.#results.show(question, report, false);
      };
      const options = { signal: stop.signal, onProgress: /** @type {any} */ (onProgress) };
      const answer = /** @type {Looked} */ (
        await this.#engine.ask("find.look", { question, most: MOST }, { ...options, proves: true })
      );
      this.#results.show(question, answer, true);
      this.#timed(answer.seconds * 1000);
    } catch (error) {
      if (stop.signal.aborted) return;
      this.#results.clear();
      const why = /** @type {any} */ (wordsOf(error));
      this.#message.show(words("findNotFound", why), () => void this.#look());
    } finally {
      if (this.#looking === stop) this.#looking = null;
    }
  }

  /** Say how things are when nothing is going on. @param {Words | null} [failed] */
  #rest(failed = null) {
    const { done, total } = this.#count;
    if (this.#indexing) return;
    if (failed) this.#say("failed", failed);
    else if (!total) this.#say("none", words(this.#waiting.length ? "findWaits" : "findNone"));
    else if (done < total) this.#say("ready", words("findPartly", done, total));
    else this.#say("ready", words("findReady", total, this.#files.size));
  }

  /**
   * @param {"none" | "loading" | "indexing" | "ready" | "failed"} state
   * @param {Words} said
   * @param {number | null} [part]  that is done
   */
  #say(state, said, part = null) {
    const line = this.#hook("status");
    line.dataset.state = state;
    line.dataset.value = String(this.#count.done);
    show(line, said);
    this.#progress.hidden = state !== "loading" && state !== "indexing";
    if (part === null) this.#progress.removeAttribute("value");
    else this.#progress.value = part;
    this.#render();
  }

  #render() {
    const { done, total } = this.#count;
    const busy = this.#indexing !== null;
    this.#hook("add").disabled = !this.#hook("text").value.trim();
    this.#hook("stop").hidden = !busy;
    this.#hook("continue").hidden = busy || done >= total;
    this.#hook("go").disabled = !this.#hook("query").value.trim() || !total || !this.#choice.chosen;
  }
}
