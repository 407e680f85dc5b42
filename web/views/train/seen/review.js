// @ts-check
/**
 * Labels reviewed: samples whose label the network doubts, and duplicates, with one key each to
 * relabel, throw out, keep, and undo.
 */

import { words, wordsOf } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { count, percent } from "../../../shared/format.js";
import { make } from "../../../widgets/dom.js";
import { Message } from "../../../widgets/message.js";
import { Changes } from "./changes.js";
import { thumb, unpacked } from "./thumbs.js";

/** How many samples are listed at once; "More" lists as many again. */
const PAGE = 60;

/**
 * @typedef {import("../../../shared/contract.js").Reviewed} Reviewed
 *
 * @typedef {object} Case  a sample to decide about
 * @property {"train" | "valid"} part
 * @property {number} index  among its part
 * @property {number} number  by which changes know it
 * @property {number} label
 * @property {number | null} guess  what the network takes it for; null for a duplicate
 * @property {number} share  its probability, or how alike the duplicates are
 * @property {number | null} other  the label of the sample that it is like
 */

/** What is to be decided about, doubts first. @param {Reviewed} reviewed @returns {Case[]} */
export function casesOf({ parts }) {
  /** @type {Case[]} */
  const doubted = [];
  /** @type {Case[]} */
  const twins = [];
  for (const { part, doubts, duplicates } of parts) {
    for (const { index, number, label, guess, probability } of doubts)
      doubted.push({ part, index, number, label, guess, share: probability ?? 0, other: null });
    const seen = new Set(doubts.map(({ index }) => index));
    for (const { index, number, label, other, alike } of duplicates)
      if (!seen.has(index))
        twins.push({ part, index, number, label, guess: null, share: alike, other });
  }
  return [...doubted, ...twins];
}

/**
 * What a key does to a case: its label from now on, null to throw it out; undefined: nothing.
 * @param {string} key @param {Case} item
 */
export function decided(key, { label, guess }) {
  if (key === "r" || key === "Enter") return guess ?? undefined;
  if (key === "x" || key === "Delete") return null;
  return key === "k" ? label : undefined;
}

export class Review {
  #engine;
  #changed;
  #begin;
  #stop;
  #undo;
  #line;
  #counts;
  #list;
  #more;
  #message;
  /** @type {AbortController | null} */
  #work = null;
  /** @type {readonly string[]} */
  #classes = [];
  /** Those that are not listed yet. @type {Case[]} */
  #waiting = [];
  /** @type {WeakMap<Element, Case>} */
  #cases = new WeakMap();
  /** Samples of each class. @type {number[]} */
  #samples = [];
  /**
   * What was decided since the review, with its place in the list, the latest last.
   * @type {{item: HTMLElement, before: Element | null, label: number | null}[]}
   */
  #done = [];
  #changes;
  #run = "";

  /**
   * @param {HTMLElement} root  an empty element
   * @param {{engine: import("../../../engine/engine.js").Engine}} page
   * @param {Changes} changes
   * @param {() => void} changed  called after each change: the next run learns from it
   */
  constructor(root, { engine }, changes, changed) {
    this.#engine = engine;
    this.#changes = changes;
    this.#changed = changed;
    this.#begin = button("trainReviewBegin", "train-review-begin");
    this.#stop = button("trainReviewStop");
    this.#undo = button("trainReviewUndo", "train-review-undo");
    this.#more = button("trainReviewMore");
    this.#line = make("p", { class: "info", role: "status" });
    this.#counts = make("ul", { class: "counts", hidden: "" });
    show(this.#counts, words("trainCounts"), "aria-label");
    this.#list = make("ol", { class: "samples", "data-testid": "train-review" });
    show(this.#list, words("trainReview"), "aria-label");
    const alert = make("p", { class: "message", role: "alert" });
    this.#message = new Message(alert);
    root.replaceChildren(
      show(make("h2"), words("trainReview")),
      show(make("p", { class: "info" }), words("trainReviewHow")),
      make("div", { class: "acts" }, this.#begin, this.#stop, this.#undo),
      this.#line,
      this.#counts,
      this.#list,
      this.#more,
      alert,
    );
    this.#begin.addEventListener("click", () => void this.#review());
    this.#stop.addEventListener("click", () => this.#work?.abort());
    this.#undo.addEventListener("click", () => this.#takeBack());
    this.#more.addEventListener("click", () => void this.#page());
    root.addEventListener("keydown", (event) => this.#key(event));
    this.#list.addEventListener("click", (/** @type {MouseEvent} */ { target }) => {
      const chosen = /** @type {Element} */ (target).closest("button");
      const item = /** @type {HTMLElement | null} */ (chosen?.closest("li"));
      if (chosen && item) this.#decide(item, chosen.dataset.key ?? "");
    });
    this.#list.addEventListener("change", (/** @type {Event} */ { target }) => {
      const select = /** @type {HTMLSelectElement} */ (target);
      const item = /** @type {HTMLElement} */ (select.closest("li"));
      if (select.value) this.#make(item, Number(select.value));
    });
    this.clear();
  }

  /** Another run is open. @param {string} run  its name; "" for none */
  open(run) {
    this.#run = run;
    this.clear();
  }

  clear() {
    this.#work?.abort();
    this.#waiting = [];
    this.#done = [];
    this.#list.replaceChildren();
    this.#counts.hidden = true;
    this.#message.clear();
    show(this.#line, "");
    this.#render();
  }

  async #review() {
    this.clear();
    const stop = new AbortController();
    this.#work = stop;
    this.#render();
    const onProgress = (/** @type {any} */ { done, total }) =>
      show(this.#line, words("trainReviewing", done, total));
    try {
      const { signal } = stop;
      const asked = { run: this.#run, changes: this.#changes.all };
      const reviewed = await this.#engine.ask("train.review", asked, { signal, onProgress });
      this.#classes = reviewed.classes;
      this.#samples = [...reviewed.counts];
      this.#waiting = casesOf(reviewed);
      this.#count();
      show(this.#line, summary(reviewed.parts));
      await this.#page();
    } catch (error) {
      show(this.#line, "");
      if (!stop.signal.aborted)
        this.#message.show(words("trainReviewFailed", /** @type {any} */ (wordsOf(error))));
    } finally {
      if (this.#work === stop) this.#work = null;
      this.#render();
    }
  }

  /** List more of what was found. */
  async #page() {
    const some = this.#waiting.splice(0, PAGE);
    for (const part of new Set(some.map((each) => each.part))) {
      const own = some.filter((each) => each.part === part);
      const indices = own.map(({ index }) => index);
      const asked = { run: this.#run, part, indices };
      const pictures = unpacked(await this.#engine.ask("train.pictures", asked));
      this.#list.append(...own.map((each, i) => this.#item(each, pictures[i])));
    }
    this.#render();
  }

  /** @param {Case} found @param {import("./thumbs.js").Picture} picture */
  #item(found, picture) {
    const { part, index, label, guess, share, other } = found;
    const names = this.#classes;
    const about =
      guess === null
        ? words("trainTwin", names[label], percent(share), names[other ?? label])
        : words("trainDoubt", names[label], names[guess], percent(share));
    const said = show(make("span"), about);
    const others = make("select", {}, show(make("option", { value: "" }), words("trainOther")));
    others.append(...names.map((name, i) => make("option", { value: String(i) }, name)));
    show(others, words("trainOther"), "aria-label");
    const acts = make("span", { class: "acts" });
    if (guess !== null) acts.append(act("r", words("trainRelabel", names[guess])));
    acts.append(act("x", words("trainThrow")), act("k", words("trainKeep")), others);
    const item = make("li", { tabindex: "-1" }, thumb(picture), said, acts);
    Object.assign(item.dataset, { part, index, label, guess: guess ?? "" });
    this.#cases.set(item, found);
    return item;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const target = /** @type {Element} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("select")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const item = /** @type {HTMLElement | null} */ (target.closest("li"));
    if (key === "u") this.#takeBack();
    else if (item && ["ArrowDown", "ArrowRight"].includes(key)) focus(item.nextElementSibling);
    else if (item && ["ArrowUp", "ArrowLeft"].includes(key)) focus(item.previousElementSibling);
    else if (!item || (key === "Enter" && target !== item)) return;
    else if (!this.#decide(item, key)) return;
    event.preventDefault();
  }

  /** @param {HTMLElement} item @param {string} key @returns {boolean}  whether the key does anything */
  #decide(item, key) {
    const found = this.#cases.get(item);
    const label = found && decided(key, found);
    if (label === undefined) return false;
    this.#make(item, label);
    return true;
  }

  /** @param {HTMLElement} item @param {number | null} label */
  #make(item, label) {
    const found = this.#cases.get(item);
    if (!found || !item.isConnected) return;
    const before = item.nextElementSibling;
    const next = before ?? item.previousElementSibling ?? this.#undo;
    item.remove();
    this.#done.push({ item, before, label });
    const name = label === null ? null : this.#classes[label];
    this.#note(this.#changes.add({ number: found.number, label: name }));
    this.#move(found.label, label);
    const said = name === null ? words("trainThrown") : words("trainRelabelled", name);
    show(this.#line, label === found.label ? words("trainKept") : said);
    if (!this.#list.childElementCount && this.#waiting.length) void this.#page();
    this.#render();
    focus(next);
  }

  #takeBack() {
    const last = this.#done.pop();
    const found = last && this.#cases.get(last.item);
    if (!found) return;
    const { item, before, label } = last;
    for (const select of item.querySelectorAll("select")) select.value = "";
    this.#list.insertBefore(item, before?.isConnected ? before : null);
    this.#render();
    focus(item);
    this.#note(this.#changes.undo());
    this.#move(label, found.label);
    show(this.#line, words("trainUndone"));
  }

  /** @param {boolean} kept  whether the browser has kept a change */
  #note(kept) {
    if (kept) this.#message.clear();
    else this.#message.show(words("trainChangesUnkept"));
    this.#changed();
  }

  /** A sample leaves a class for another; null is none. @param {number | null} from @param {number | null} to */
  #move(from, to) {
    if (from !== null) this.#samples[from] -= 1;
    if (to !== null) this.#samples[to] += 1;
    this.#count();
  }

  #count() {
    const items = this.#samples.map((samples, i) =>
      make("li", {}, make("b", {}, this.#classes[i]), ` ${count(samples)}`),
    );
    this.#counts.replaceChildren(...items);
    this.#counts.hidden = false;
  }

  #render() {
    const busy = this.#work !== null;
    this.#begin.disabled = busy;
    this.#stop.hidden = !busy;
    this.#undo.hidden = !this.#done.length;
    this.#more.hidden = !this.#waiting.length || busy;
    this.#list.setAttribute("aria-busy", String(busy));
    const first = this.#list.firstElementChild;
    if (first && !this.#list.querySelector('li[tabindex="0"]')) first.setAttribute("tabindex", "0");
  }
}

/** What a review found. @param {Reviewed["parts"]} parts */
function summary(parts) {
  const sum = (/** @type {"doubted" | "duplicated"} */ name) =>
    parts.reduce((all, part) => all + part[name], 0);
  const [doubted, duplicated] = [sum("doubted"), sum("duplicated")];
  if (!doubted && !duplicated) return words("trainReviewNone");
  return words("trainReviewFound", doubted, duplicated);
}

/** @param {any} label @param {string} [hook] @returns {HTMLButtonElement} */
function button(label, hook) {
  const made = make("button", { type: "button", ...(hook ? { "data-testid": hook } : {}) });
  return show(made, words(label));
}

/** @param {string} key @param {import("../../../i18n/messages.js").Words} label */
function act(key, label) {
  const made = make("button", { type: "button", "data-key": key, "aria-keyshortcuts": key });
  return show(made, label);
}

/** @param {Element | null} item */
function focus(item) {
  const list = item?.closest("ol");
  for (const each of list?.querySelectorAll('li[tabindex="0"]') ?? [])
    each.setAttribute("tabindex", "-1");
  if (item?.matches("li")) item.setAttribute("tabindex", "0");
  /** @type {HTMLElement | null} */ (item)?.focus();
}
