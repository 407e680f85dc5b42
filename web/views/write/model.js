// @ts-check
/** The choice of a language model, by name, from the hub or from a file, and its opening. */

import { words, wordsOf } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { published } from "../../site/published.js";
import { ggufFiles, hubName } from "./hub.js";
import { reason } from "./reason.js";

/** Of the bytes of a GGUF file: what a model of it holds, with its memory of the text. */
const MEMORY = 1.5;

/** The values of the select that name no model. */
const HUB = "hub…";
const FILE = "file…";

/** @typedef {import("../../shared/contract.js").TextModel} TextModel */
/** @typedef {import("../../site/published.js").Published} Published */

/**
 * @typedef {object} Choice
 * @property {string} name
 * @property {number} bytes   to fetch, or of the file
 * @property {number} memory  that it needs
 * @property {{files: Published["files"]} | {blobs: File[]}} source  what Python's `opened` takes
 */

export class Model {
  #engine;
  #hook;
  #changed;
  #key;
  /** @type {Published[]} */
  #published = [];
  /** The files at the hub that were found. @type {Choice[]} */
  #found = [];
  /** @type {Choice | null} */
  #choice = null;
  /** @type {File | null} */
  #file = null;
  /** What the worker has opened. @type {Promise<TextModel> | null} */
  #loaded = null;
  /** Ends the loading. @type {AbortController | null} */
  #loading = null;
  #failed = false;
  /** Whether the visitor has chosen on this visit. */
  #touched = false;

  /**
   * @param {(name: string) => any} hook  finds an element of the view
   * @param {import("../../engine/engine.js").Engine} engine
   * @param {string} place  the path of this site, since several may share a storage
   * @param {() => void} changed
   */
  constructor(hook, engine, place, changed) {
    this.#engine = engine;
    this.#hook = hook;
    this.#changed = changed;
    this.#key = `tallow.model ${place}`;
    hook("model").addEventListener("change", () => {
      this.#touched = true;
      this.#select(hook("model").value);
    });
    hook("hub-form").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      void this.#find();
    });
    hook("hub-file").addEventListener("change", () => this.#chooseFound());
    hook("file").addEventListener("change", () => {
      this.takeFiles([...hook("file").files]);
      hook("file").value = "";
    });
    hook("load").addEventListener("click", () => void this.load());
    hook("cancel").addEventListener("click", () => this.#loading?.abort());
  }

  /** Offer what an earlier visit chose, and fetch the list of the site's models. */
  begin() {
    this.#offer();
    this.#restore();
    void this.#list();
  }

  /** Whether the visitor has chosen on this visit. */
  get touched() {
    return this.#touched;
  }

  /** Whether there is a model to load. */
  get chosen() {
    return this.#choice !== null;
  }

  /** The worker no longer has it. */
  forget() {
    if (this.#loading) return; // the call fails by itself
    this.#loaded = null;
    if (this.#choice) this.#sayChosen();
    this.#render();
  }

  /** Choose the first model among files. @param {File[]} files */
  takeFiles(files) {
    const file = files.find(({ name }) => /\.gguf$/i.test(name));
    if (file) this.#file = file;
    if (!files.length) return;
    this.#touched = true;
    this.#select(FILE);
    if (!file) this.#say("none", words("writeNotGguf"));
  }

  /** Have the worker open the model. @returns {Promise<TextModel | null>}  null if that failed */
  async load() {
    const choice = this.#choice;
    if (!choice) return null;
    this.#loaded ??= this.#open(choice);
    const loaded = this.#loaded;
    try {
      return await loaded;
    } catch {
      if (this.#loaded === loaded) this.#loaded = null;
      return null;
    } finally {
      this.#render();
    }
  }

  /** @param {Choice} choice @returns {Promise<TextModel>} */
  async #open(choice) {
    const stop = new AbortController();
    this.#loading = stop;
    this.#failed = false;
    const { name, source } = choice;
    this.#say("loading", words("writeLoading", name));
    /** @param {{stage: string, done: number, total: number | null, file: string}} report */
    const onProgress = ({ stage, done, total, file }) => {
      if (stage !== "fetch" || this.#loading !== stop) return;
      if (total !== null && done >= total) this.#say("loading", words("writeLoading", name));
      else this.#say("fetching", words("writeFetching", file, done, total), done / (total ?? NaN));
    };
    this.#render();
    try {
      const asked = this.#engine.ask("write.load", { source }, { signal: stop.signal, onProgress });
      // A server may be silent while the visitor cancels; the worker ends with what comes next.
      const model = /** @type {TextModel} */ (await Promise.race([asked, aborted(stop.signal)]));
      const { family, parameters, context, converses } = model;
      this.#say("loaded", words("writeLoaded", name, family, parameters, context, converses));
      return model;
    } catch (error) {
      if (this.#choice === choice) {
        if (stop.signal.aborted) this.#say("chosen", words("writeCancelled"));
        else {
          this.#failed = true;
          this.#say("failed", words("writeNotLoaded", name, /** @type {any} */ (reason(error))));
        }
      }
      throw error;
    } finally {
      if (this.#loading === stop) this.#loading = null;
    }
  }

  /** Fetch the list of the site's models. */
  async #list() {
    try {
      this.#published = await published("write");
    } catch (error) {
      this.#hook("list").hidden = false;
      show(this.#hook("list"), words("writeNoList", /** @type {any} */ (wordsOf(error))));
    }
    this.#offer();
    if (!this.#touched) this.#restore();
  }

  /** Fill the select. */
  #offer() {
    const select = this.#hook("model");
    const before = select.value;
    const named = this.#published.map(({ name, title }) => option(name, title));
    select.replaceChildren(
      ...named,
      option(HUB, words("writeFromHub")),
      option(FILE, words("writeFromFile")),
    );
    if (before) select.value = before;
  }

  /** @param {string} value  of the select */
  #select(value) {
    const hook = this.#hook;
    this.#loading?.abort();
    this.#loaded = null;
    this.#failed = false;
    hook("model").value = value;
    hook("hub-form").hidden = value !== HUB;
    hook("frame").hidden = value !== FILE;
    const model = this.#published.find(({ name }) => name === value);
    if (value === HUB) this.#chooseFound();
    else if (value === FILE) {
      const file = this.#file;
      this.#choose(file && ofBytes(file.name, file.size, { blobs: [file] }));
    } else if (model) {
      const { title, bytes, memory, files } = model;
      this.#choose({ name: title, bytes, memory, source: { files } });
      this.#remember({ model: value });
    }
  }

  /** List the files that the hub has under the name that was typed. */
  async #find() {
    const hook = this.#hook;
    const name = hubName(hook("hub").value);
    this.#showFound([]);
    if (!name) {
      this.#say("failed", words("writeNotHubName"));
      return;
    }
    this.#say("finding", words("writeFinding", name));
    try {
      const found = await ggufFiles(name);
      if (hubName(hook("hub").value) !== name) return; // another was asked for meanwhile
      this.#showFound(found.map(({ name: file, bytes, files }) => ofBytes(file, bytes, { files })));
    } catch (error) {
      this.#say("failed", wordsOf(error));
    }
  }

  /** Show what was found at the hub. @param {Choice[]} found @param {number} [at]  which is chosen */
  #showFound(found, at = 0) {
    this.#found = found;
    this.#hook("hub-file").replaceChildren(
      ...found.map(({ name, bytes }, at) => option(String(at), words("writeSized", name, bytes))),
    );
    this.#hook("hub-file").value = String(at);
    this.#hook("hub-files").hidden = !found.length;
    this.#chooseFound();
  }

  #chooseFound() {
    const at = Number(this.#hook("hub-file").value);
    const choice = this.#found[at] ?? null;
    this.#loading?.abort();
    this.#loaded = null;
    this.#failed = false;
    this.#choose(choice);
    if (choice) this.#remember({ hub: this.#hook("hub").value, found: this.#found, at });
  }

  /** @param {Choice | null} choice */
  #choose(choice) {
    this.#choice = choice;
    if (choice) this.#sayChosen();
    else this.#say("none", words("writeNone"));
    this.#render();
  }

  #sayChosen() {
    const { name, bytes, memory, source } = /** @type {Choice} */ (this.#choice);
    const entry = "blobs" in source ? "writeChosen" : "writeToFetch";
    this.#say("chosen", words(entry, name, bytes, memory));
  }

  /**
   * @param {string} state
   * @param {import("../../i18n/messages.js").Words} message
   * @param {number} [share]  of what is fetched, NaN if nobody knows it; none is fetched without it
   */
  #say(state, message, share) {
    const line = this.#hook("status");
    line.dataset.state = state;
    show(line, message);
    const bar = this.#hook("progress");
    bar.hidden = share === undefined;
    if (share === undefined || Number.isNaN(share)) bar.removeAttribute("value");
    else bar.value = share;
  }

  #render() {
    const hook = this.#hook;
    hook("load").hidden = !this.#choice || this.#loading !== null || this.#loaded !== null;
    show(hook("load"), words(this.#failed ? "tryAgain" : "writeLoad"));
    hook("cancel").hidden = !this.#loading;
    this.#changed();
  }

  // ---- what an earlier visit chose --------------------------------------------------------------

  /** @param {object} choice */
  #remember(choice) {
    try {
      localStorage.setItem(this.#key, JSON.stringify(choice));
    } catch {
      // Storage is refused or full: the next visit chooses anew.
    }
  }

  #restore() {
    const { model, hub, found, at } = this.#remembered();
    if (typeof hub === "string" && Array.isArray(found) && found.every(isFound)) {
      this.#hook("hub").value = hub;
      this.#select(HUB);
      this.#showFound(found, at);
      return;
    }
    const known = this.#published.find(({ name }) => name === model) ?? this.#published[0];
    this.#select(known?.name ?? FILE);
  }

  /** @returns {any} */
  #remembered() {
    try {
      return JSON.parse(localStorage.getItem(this.#key) ?? "{}") ?? {};
    } catch {
      return {};
    }
  }
}

/**
 * @param {string} name
 * @param {number} bytes
 * @param {Choice["source"]} source
 * @returns {Choice}
 */
const ofBytes = (name, bytes, source) => ({
  name,
  bytes,
  memory: Math.round(bytes * MEMORY),
  source,
});

/** @param {any} found @returns {found is Choice} */
const isFound = (found) =>
  typeof found?.name === "string" &&
  typeof found.bytes === "number" &&
  typeof found.memory === "number" &&
  Array.isArray(found.source?.files);

/** @param {string} value @param {import("../../i18n/messages.js").Words} label */
const option = (value, label) =>
  show(Object.assign(document.createElement("option"), { value }), label);

/** Rejects when a signal is aborted. @param {AbortSignal} signal @returns {Promise<never>} */
const aborted = (signal) =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
