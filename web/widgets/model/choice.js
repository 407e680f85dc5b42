// @ts-check
/**
 * The form of Write, Find and Listen in which the visitor chooses a model, of the site, from the hub
 * or from files, and opens it.
 */

import { addTexts } from "../../i18n/languages.js";
import { words, wordsOf } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { published } from "../../site/published.js";
import { hubName, modelsAt } from "./hub.js";
import { reason } from "./reason.js";
import * as en from "./texts/en.js";
import * as zh from "./texts/zh.js";

addTexts({ en: [en], zh: [zh] });

/** The values of the select that name no model. */
const HUB = "hub…";
const FILE = "file…";

/**
 * The kinds of models. accept: the endings of their files; several: whether a model has more than
 * one; memory: how many bytes of memory a byte of the files takes, since a model also holds other
 * things, and may widen numbers.
 */
const KINDS = {
  gguf: { accept: ".gguf", several: false, memory: 1.5 },
  safetensors: { accept: ".json,.safetensors,.onnx", several: true, memory: 2 },
};

/** @typedef {import("../../i18n/messages.js").Words} Words */
/** @typedef {import("../../site/published.js").Published} Published */
/** @typedef {import("../../site/published.js").Task} Task */

/**
 * @typedef {{files: Published["files"]} | {blobs: File[]} | {hub: string, revision: string}} Source
 *   what `opened` of py/tallow_page/published.py takes
 *
 * @typedef {object} Choice
 * @property {string} name
 * @property {number} bytes   to fetch, or of the files
 * @property {number} memory  that it needs
 * @property {string} [licence]
 * @property {Source} source
 */

/**
 * @template Model  what the worker says of a model that is open
 * @typedef {object} Uses
 * @property {string} view  begins the names of the hooks (data-testid)
 * @property {string} [files]  the name of the field for files behind it; "model-files" if not given
 * @property {Task} task
 * @property {Task} [beside]  a task whose published model is opened together with the chosen one
 * @property {keyof typeof KINDS} kind
 * @property {(source: Source, options: object, beside?: Published) => Promise<Model>} open
 * @property {(name: string, model: Model) => Words} opened  what to say of a model that is open
 * @property {() => void} [chosen]  called when another model is chosen
 * @property {() => void} changed  called when another is chosen, or one was opened or forgotten
 */

/** @template Model */
export class ModelChoice {
  #uses;
  #part;
  #key;
  /** @type {Published[]} */
  #published = [];
  /** @type {Published | undefined} */
  #beside;
  /** What was found at the hub. @type {Choice[]} */
  #found = [];
  /** @type {Choice | null} */
  #choice = null;
  /** The visitor's own. @type {File[]} */
  #files = [];
  /** What the worker has opened. @type {Promise<Model> | null} */
  #loaded = null;
  /** Ends the loading. @type {AbortController | null} */
  #loading = null;
  #touched = false;
  /** Why the last loading failed. @type {Words | null} */
  failed = null;

  /**
   * @param {HTMLElement} root  empty
   * @param {Uses<Model>} uses
   */
  constructor(root, uses) {
    this.#uses = uses;
    this.#part = build(root, uses);
    this.#key = `tallow.model.${uses.view} ${new URL(".", document.baseURI).pathname}`;
    const { model, hubForm, hubFile, file, load, cancel } = this.#part;
    model.addEventListener("change", () => {
      this.#touched = true;
      this.#select(model.value);
    });
    hubForm.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#find();
    });
    hubFile.addEventListener("change", () => this.#chooseFound());
    file.addEventListener("change", () => {
      this.takeFiles([...(file.files ?? [])]);
      file.value = "";
    });
    load.addEventListener("click", () => void this.load());
    cancel.addEventListener("click", () => this.#loading?.abort());
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
    return this.#choice !== null && (!this.#uses.beside || this.#beside !== undefined);
  }

  /** Whether the worker has the model, or is opening it. */
  get loaded() {
    return this.#loaded !== null;
  }

  /** Let the visitor choose no other model for now. @param {boolean} locked */
  lock(locked) {
    for (const name of /** @type {const} */ (["model", "hub", "find", "hubFile", "file"]))
      this.#part[name].disabled = locked;
  }

  /** The worker no longer has the model. */
  forget() {
    if (this.#loading) return; // the call fails by itself
    this.#loaded = null;
    if (this.#choice) this.#sayChosen();
    this.#render();
  }

  /** Choose a model among files. @param {File[]} files */
  takeFiles(files) {
    const { accept, several } = KINDS[this.#uses.kind];
    const fitting = files.filter(({ name }) =>
      accept.split(",").some((ending) => name.toLowerCase().endsWith(ending)),
    );
    if (!files.length) return;
    if (fitting.length) this.#files = several ? fitting : fitting.slice(0, 1);
    this.#touched = true;
    this.#select(FILE);
    if (!fitting.length) this.#say("none", words("choiceUnfit", accept.replaceAll(",", ", ")));
  }

  /**
   * Have the worker open the model.
   * @param {AbortSignal} [signal]  ends the waiting for it
   * @returns {Promise<Model | null>}  null if that failed, or is no longer waited for
   */
  async load(signal) {
    if (!this.#choice || !this.chosen) return null;
    const loaded = (this.#loaded ??= this.#open(this.#choice));
    return Promise.race(signal ? [loaded, aborted(signal)] : [loaded]).catch(() => null);
  }

  /** @param {Choice} choice @returns {Promise<Model>} */
  async #open(choice) {
    const stop = new AbortController();
    this.#loading = stop;
    this.failed = null;
    const { name, source } = choice;
    this.#say("loading", words("choiceLoading", name));
    /** @param {{stage: string, done: number, total: number | null, file: string}} report */
    const onProgress = ({ stage, done, total, file }) => {
      if (stage !== "fetch" || this.#loading !== stop) return;
      if (total !== null && done >= total) this.#say("loading", words("choiceLoading", name));
      else this.#say("fetching", words("choiceFetching", file, done, total), done / (total ?? NaN));
    };
    this.#render();
    try {
      const asked = this.#uses.open(source, { signal: stop.signal, onProgress }, this.#beside);
      // A server may be silent while the visitor cancels; the worker ends with what comes next.
      const model = await Promise.race([asked, aborted(stop.signal)]);
      this.#say("loaded", this.#uses.opened(name, model));
      return model;
    } catch (error) {
      if (this.#loading === stop) {
        this.#loaded = null;
        if (stop.signal.aborted) this.#say("chosen", words("choiceCancelled"));
        else {
          this.failed = words("choiceNotLoaded", name, /** @type {any} */ (reason(error)));
          this.#say("failed", this.failed);
        }
      }
      throw error;
    } finally {
      if (this.#loading === stop) this.#loading = null;
      this.#render();
    }
  }

  /** Fetch the list of the site's models. */
  async #list() {
    const { task, beside } = this.#uses;
    try {
      this.#published = await published(task);
      if (beside) [this.#beside] = await published(beside);
    } catch (error) {
      this.#part.list.hidden = false;
      show(this.#part.list, words("choiceNoList", /** @type {any} */ (wordsOf(error))));
    }
    this.#offer();
    if (!this.#touched) this.#restore();
  }

  /** Fill the select. */
  #offer() {
    const select = this.#part.model;
    const before = select.value;
    const named = this.#published.map(({ name, title }) => option(name, title));
    const own = this.#uses.kind === "gguf" ? "choiceFile" : "choiceFiles";
    select.replaceChildren(...named, option(HUB, words("choiceHub")), option(FILE, words(own)));
    if (before) select.value = before;
  }

  /** @param {string} value  of the select */
  #select(value) {
    const { model, hubForm, frame } = this.#part;
    model.value = value;
    hubForm.hidden = value !== HUB;
    frame.hidden = value !== FILE;
    const known = this.#published.find(({ name }) => name === value);
    if (value === HUB) this.#chooseFound();
    else if (known) {
      const { title, bytes, memory, licence, files } = known;
      this.#choose({ name: title, bytes, memory, licence, source: { files } });
      this.#remember({ model: value });
    } else {
      const [first] = this.#files;
      const bytes = this.#files.reduce((sum, { size }) => sum + size, 0);
      this.#choose(first ? this.#ofBytes(first.name, bytes, { blobs: this.#files }) : null);
    }
  }

  /** List what the hub has under the name that was typed. */
  async #find() {
    const { hub } = this.#part;
    const name = hubName(hub.value);
    this.#showFound([]);
    if (!name) {
      this.#say("failed", words("choiceNotHubName"));
      return;
    }
    this.#say("finding", words("choiceFinding", name));
    try {
      const found = await modelsAt(name, this.#uses.kind);
      if (hubName(hub.value) !== name) return; // another was asked for meanwhile
      this.#showFound(found.map((each) => this.#ofBytes(each.name, each.bytes, each.source)));
    } catch (error) {
      this.#say("failed", wordsOf(error));
    }
  }

  /** Show what was found at the hub. @param {Choice[]} found @param {number} [at]  which is chosen */
  #showFound(found, at = 0) {
    const { hubFile, hubFiles } = this.#part;
    this.#found = found;
    hubFile.replaceChildren(
      ...found.map(({ name, bytes }, at) => option(String(at), words("choiceSized", name, bytes))),
    );
    hubFile.value = String(at);
    hubFiles.hidden = !found.length;
    this.#chooseFound();
  }

  #chooseFound() {
    const { hub, hubFile } = this.#part;
    const at = Number(hubFile.value);
    const choice = this.#found[at] ?? null;
    this.#choose(choice);
    if (choice) this.#remember({ hub: hub.value, found: this.#found, at });
  }

  /** @param {Choice | null} choice */
  #choose(choice) {
    this.#loading?.abort();
    this.#loading = this.#loaded = this.failed = null;
    this.#choice = choice;
    if (choice) this.#sayChosen();
    else this.#say("none", words("choiceNone"));
    this.#render();
    this.#uses.chosen?.();
  }

  #sayChosen() {
    const { name, bytes, memory, licence, source } = /** @type {Choice} */ (this.#choice);
    const entry = "blobs" in source ? "choiceChosen" : "choiceToFetch";
    const more = this.#beside;
    const size = bytes + (more?.bytes ?? 0);
    this.#say("chosen", words(entry, name, size, memory + (more?.memory ?? 0), licence ?? ""));
  }

  /**
   * @param {string} state
   * @param {Words} message
   * @param {number} [share]  of what is fetched, NaN if nobody knows it; none is fetched without it
   */
  #say(state, message, share) {
    const { status, progress } = this.#part;
    status.dataset.state = state;
    show(status, message);
    progress.hidden = share === undefined;
    if (share === undefined || Number.isNaN(share)) progress.removeAttribute("value");
    else progress.value = share;
  }

  #render() {
    const { load, cancel } = this.#part;
    load.hidden = !this.chosen || this.#loading !== null || this.#loaded !== null;
    show(load, words(this.failed ? "tryAgain" : "choiceLoad"));
    cancel.hidden = !this.#loading;
    this.#uses.changed();
  }

  /**
   * @param {string} name
   * @param {number} bytes
   * @param {Source} source
   * @returns {Choice}
   */
  #ofBytes(name, bytes, source) {
    return { name, bytes, memory: Math.round(bytes * KINDS[this.#uses.kind].memory), source };
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
      this.#part.hub.value = hub;
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

/** @param {any} found @returns {found is Choice} */
const isFound = (found) =>
  typeof found?.name === "string" &&
  typeof found.bytes === "number" &&
  typeof found.memory === "number" &&
  (Array.isArray(found.source?.files) || typeof found.source?.hub === "string");

/** @param {string} value @param {Words} label */
const option = (value, label) =>
  show(Object.assign(document.createElement("option"), { value }), label);

/** Rejects when a signal is aborted. @param {AbortSignal} signal @returns {Promise<never>} */
const aborted = (signal) =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });

/**
 * The elements, by what they are for.
 * @param {HTMLElement} root
 * @param {{view: string, files?: string, kind: keyof typeof KINDS}} uses
 */
function build(root, { view, files = "model-files", kind }) {
  /**
   * @template {keyof HTMLElementTagNameMap} Tag
   * @param {Tag} tag
   * @param {string} name  of its hook, "" for none
   * @param {Partial<HTMLElementTagNameMap[Tag]>} [properties]
   * @returns {HTMLElementTagNameMap[Tag]}
   */
  const made = (tag, name, properties = {}) => {
    const element = Object.assign(document.createElement(tag), properties);
    if (name) element.setAttribute("data-testid", `${view}-${name}`);
    return element;
  };
  /** @param {HTMLElement} field @param {any} entry @param {string} [name] */
  const labelled = (field, entry, name = "") => {
    const label = made("label", name, { className: "entry" });
    label.append(show(made("span", ""), words(entry)), field);
    return label;
  };
  /** @type {Partial<HTMLInputElement>} */
  const plain = { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: false };
  const { accept, several } = KINDS[kind];
  const choose = kind === "gguf" ? "choiceChoose" : "choiceChooseFiles";
  const part = {
    model: made("select", "model"),
    list: made("p", "model-list", { className: "info", role: "status", hidden: true }),
    hubForm: made("form", "hub-form", { hidden: true }),
    hub: made("input", "hub", { ...plain, placeholder: "owner/name" }),
    find: show(made("button", "hub-find", { type: "submit" }), words("choiceFind")),
    hubFile: made("select", "hub-file"),
    frame: made("label", "model-frame", { className: "frame drop", hidden: true }),
    file: made("input", files, { type: "file", accept, multiple: several }),
    status: made("p", "model-info", { className: "info", role: "status" }),
    progress: made("progress", "model-progress", { max: 1, hidden: true }),
    load: made("button", "load", { type: "button" }),
    cancel: show(made("button", "cancel", { type: "button" }), words("choiceCancel")),
  };
  const hubFiles = labelled(part.hubFile, "choiceHubFile", "hub-files");
  hubFiles.hidden = true;
  part.hubForm.append(labelled(part.hub, "choiceHubName"), part.find, hubFiles);
  const prompt = made("span", "", { className: "prompt" });
  prompt.append(show(made("b", ""), words(choose)));
  if (kind === "gguf") prompt.append(show(made("span", ""), words("choiceDrop")));
  show(part.file, words(choose), "aria-label");
  show(part.progress, words("choiceProgress"), "aria-label");
  part.frame.append(part.file, prompt);
  const acts = made("div", "", { className: "acts" });
  acts.append(part.load, part.cancel);
  root.classList.add("model-choice");
  root.append(
    ...[labelled(part.model, "choiceModel"), part.list, part.hubForm, part.frame],
    ...[part.status, part.progress, acts],
  );
  return { ...part, hubFiles };
}
