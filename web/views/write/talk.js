// @ts-check
/** Shows a conversation, and what the network considered at each piece of an answer. */

import { words } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { text } from "../../i18n/text.js";

/**
 * @typedef {import("./talks.js").Said} Said
 * @typedef {import("../../widgets/bars.js").Row} Row
 * @typedef {{piece: string, rows: Row[]}} Piece
 *
 * @typedef {object} Listener
 * @property {(text: string) => void} edit  a message goes back into the input
 * @property {() => void} again  the last message is to be answered again
 * @property {(chosen: Piece | null) => void} consider  a piece of an answer was chosen, or is gone
 * @property {() => void} said  there is more to keep
 * @property {() => void} cut  some of it is gone, which counts once more is said
 */

/** The keys that choose another piece of an answer, and where it is. */
const MOVES = /** @type {Record<string, (at: number, last: number) => number>} */ ({
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  Home: () => 0,
  End: (_, last) => last,
});

export class Talk {
  #list;
  #listener;
  /** What elements show. @type {WeakMap<Element, Piece>} */
  #shown = new WeakMap();
  /** The pieces of this visit's answers. @type {WeakMap<Said, Piece[]>} */
  #pieces = new WeakMap();
  /** @type {Said[]} */
  messages = [];

  /**
   * @param {HTMLOListElement} list
   * @param {Listener} listener
   */
  constructor(list, listener) {
    this.#list = list;
    this.#listener = listener;
    for (const event of ["pointerover", "click", "focusin"])
      list.addEventListener(event, ({ target }) => {
        if (target instanceof HTMLElement && this.#shown.has(target)) this.#choose(target);
      });
    list.addEventListener("keydown", (event) => this.#move(event));
  }

  /** Show another conversation. @param {Said[]} messages */
  show(messages) {
    this.messages = [...messages];
    this.#list.replaceChildren();
    this.#listener.consider(null);
    for (const said of this.messages) {
      const [item, content] = this.#item(said.role);
      const pieces = this.#pieces.get(said);
      if (pieces) for (const piece of pieces) this.#add(content, piece);
      else content.textContent = said.content;
      this.#finish(item, said.role);
    }
  }

  /** @param {Said["role"]} role @param {string} content */
  add(role, content) {
    const [item, span] = this.#item(role);
    span.textContent = content;
    this.messages.push({ role, content });
    this.#finish(item, role);
    this.#listener.said();
  }

  /** Begin an answer, which comes piece by piece. */
  begin() {
    for (const other of this.#list.querySelectorAll("[data-testid=write-output]"))
      delete (/** @type {HTMLElement} */ (other).dataset.testid);
    const [item, content] = this.#item("assistant");
    item.dataset.testid = "write-output";
    item.dataset.state = "streaming";
    this.#list.ariaBusy = "true"; // until it can be read out as a whole
    /** @type {Said} */
    const said = { role: "assistant", content: "" };
    /** @type {Piece[]} */
    const pieces = [];
    this.#pieces.set(said, pieces);
    this.messages.push(said);
    return {
      /** @param {string} piece @param {readonly (readonly [string, number])[][]} considered */
      add: (piece, considered) => {
        said.content += piece;
        const rows = (considered.at(-1) ?? []).map(([label, probability], index) => ({
          index,
          label: visible(label),
          probability,
        }));
        pieces.push({ piece, rows });
        this.#add(content, { piece, rows });
      },
      /** The answer ends, and goes if there is none of it. */
      end: () => {
        this.#list.ariaBusy = null;
        const at = this.messages.indexOf(said);
        if (at < 0) return; // the visitor has taken back what it answers
        if (said.content) {
          item.dataset.state = "done";
          this.#finish(item, "assistant");
          this.#listener.said();
        } else {
          this.#cut(at);
        }
      },
    };
  }

  /** Forget the last answer. */
  dropAnswer() {
    if (this.messages.at(-1)?.role === "assistant") this.#cut(this.messages.length - 1);
  }

  /** No piece is chosen any more. */
  chooseNone() {
    this.#list.querySelector(".piece.chosen")?.classList.remove("chosen");
    this.#listener.consider(null);
  }

  /** All of it, as Markdown. */
  markdown() {
    const names = { user: text.writeYou, assistant: text.writeModel };
    return this.messages
      .map(({ role, content }) => `**${names[role]}:**\n\n${content}\n`)
      .join("\n");
  }

  /** @param {Said["role"]} role @returns {[HTMLLIElement, HTMLElement]}  with what has its text */
  #item(role) {
    const item = Object.assign(document.createElement("li"), { className: role });
    const who = Object.assign(document.createElement("span"), { className: "who" });
    show(who, words(role === "user" ? "writeYou" : "writeModel"));
    const content = Object.assign(document.createElement("div"), { className: "said" });
    item.append(who, content);
    this.#list.append(item);
    return [item, content];
  }

  /** Show a piece of an answer. @param {HTMLElement} content @param {Piece} piece */
  #add(content, piece) {
    const span = Object.assign(document.createElement("span"), {
      className: "piece",
      textContent: piece.piece,
      // The first one is reached by Tab, the others from there by the arrows.
      tabIndex: content.childElementCount ? -1 : 0,
    });
    if (!content.childElementCount) {
      content.role = "group";
      show(content, words("writePieces"), "aria-label");
    }
    this.#shown.set(span, piece);
    content.append(span);
  }

  /** @param {HTMLElement} span */
  #choose(span) {
    if (span.classList.contains("chosen")) return;
    this.#list.querySelector(".piece.chosen")?.classList.remove("chosen");
    span.classList.add("chosen");
    for (const other of span.parentElement?.querySelectorAll("[tabindex='0']") ?? [])
      /** @type {HTMLElement} */ (other).tabIndex = -1;
    span.tabIndex = 0;
    this.#listener.consider(this.#shown.get(span) ?? null);
  }

  /** @param {KeyboardEvent} event */
  #move(event) {
    const { key, target, altKey, ctrlKey, metaKey, shiftKey } = event;
    const span = /** @type {HTMLElement} */ (target);
    const move = MOVES[key];
    if (!move || altKey || ctrlKey || metaKey || shiftKey || !this.#shown.has(span)) return;
    const all = /** @type {HTMLElement[]} */ ([...(span.parentElement?.children ?? [])]);
    event.preventDefault(); // the page would scroll
    all[move(all.indexOf(span), all.length - 1)]?.focus();
  }

  /**
   * Add what can be done with a message.
   * @param {HTMLElement} item
   * @param {Said["role"]} role
   */
  #finish(item, role) {
    const button = Object.assign(document.createElement("button"), { type: "button" });
    show(button, words(role === "user" ? "writeEdit" : "writeAgain"));
    button.addEventListener("click", () => {
      const index = [...this.#list.children].indexOf(item);
      const { content } = this.messages[index];
      this.#cut(index);
      if (role === "user") this.#listener.edit(content);
      else this.#listener.again();
    });
    item.append(button);
  }

  /** Forget messages from one on. @param {number} index */
  #cut(index) {
    this.messages.length = index;
    while (this.#list.childElementCount > index) this.#list.lastElementChild?.remove();
    if (!this.#list.querySelector(".piece.chosen")) this.#listener.consider(null);
    this.#listener.cut();
  }
}

/** A token as it is shown: what would be invisible has a sign. @param {string} token */
export const visible = (token) =>
  token.replaceAll("\n", "↵").replace(/^ +| +$/g, (spaces) => "␣".repeat(spaces.length)) || "·";
