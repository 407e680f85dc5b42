// @ts-check
/** A conversation: what was said, how it is shown, and where the browser keeps it. */

import { words } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { text } from "../../i18n/text.js";

/** The key of the conversation in local storage. */
const KEY = "tallow.talk";

/**
 * @typedef {{role: "user" | "assistant", content: string}} Said
 * @typedef {import("../../widgets/bars.js").Row} Row
 *
 * @typedef {object} Listener
 * @property {(text: string) => void} edit  a message goes back into the input
 * @property {() => void} again  the last message is to be answered again
 * @property {(rows: Row[]) => void} consider  a piece of an answer was chosen
 * @property {() => void} changed
 */

export class Talk {
  #list;
  #listener;
  /** @type {Said[]} */
  messages = [];

  /**
   * @param {HTMLOListElement} list
   * @param {Listener} listener
   */
  constructor(list, listener) {
    this.#list = list;
    this.#listener = listener;
    for (const { role, content } of kept()) this.#append(role, content);
  }

  /**
   * @param {Said["role"]} role
   * @param {string} content
   */
  add(role, content) {
    this.#append(role, content);
    this.#changed();
  }

  /**
   * @param {Said["role"]} role
   * @param {string} content
   */
  #append(role, content) {
    const item = this.#item(role);
    item.append(Object.assign(document.createElement("span"), { textContent: content }));
    this.messages.push({ role, content });
    this.#finish(item, role);
  }

  /** Begin an answer, which comes piece by piece. */
  begin() {
    for (const other of this.#list.querySelectorAll("[data-testid=write-output]"))
      delete (/** @type {HTMLElement} */ (other).dataset.testid);
    const item = this.#item("assistant");
    item.dataset.testid = "write-output";
    item.dataset.state = "streaming";
    item.setAttribute("aria-busy", "true");
    /** @type {Said} */
    const said = { role: "assistant", content: "" };
    this.messages.push(said);
    return {
      /** @param {string} piece @param {readonly (readonly [string, number])[][]} considered */
      add: (piece, considered) => {
        said.content += piece;
        const span = Object.assign(document.createElement("span"), {
          className: "piece",
          textContent: piece,
        });
        const rows = (considered.at(-1) ?? []).map(([label, probability], index) => ({
          index,
          label: label.replaceAll("\n", "↵") || "·",
          probability,
        }));
        const choose = () => {
          this.#list.querySelector(".piece.chosen")?.classList.remove("chosen");
          span.classList.add("chosen");
          this.#listener.consider(rows);
        };
        span.addEventListener("pointerenter", choose);
        span.addEventListener("click", choose);
        item.append(span);
      },
      remove: () => {
        this.messages.pop();
        item.remove();
      },
      end: () => {
        item.dataset.state = "done";
        item.removeAttribute("aria-busy");
        this.#finish(item, "assistant");
        this.#changed();
      },
    };
  }

  /** Forget the last answer. */
  dropAnswer() {
    if (this.messages.at(-1)?.role === "assistant") this.#cut(this.messages.length - 1);
  }

  clear() {
    this.#cut(0);
  }

  /** All of it, as Markdown. */
  markdown() {
    const names = { user: text.writeYou, assistant: text.writeModel };
    return this.messages
      .map(({ role, content }) => `**${names[role]}:**\n\n${content}\n`)
      .join("\n");
  }

  /** @param {Said["role"]} role */
  #item(role) {
    const item = Object.assign(document.createElement("li"), { className: role });
    this.#list.append(item);
    return item;
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
    this.#changed();
  }

  #changed() {
    try {
      localStorage.setItem(KEY, JSON.stringify(this.messages));
    } catch {
      // Storage is refused or full: the conversation lasts as long as the page.
    }
    this.#listener.changed();
  }
}

/** The conversation of an earlier visit. @returns {Said[]} */
function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return found.filter(
      (/** @type {any} */ { role, content }) =>
        ["user", "assistant"].includes(role) && typeof content === "string",
    );
  } catch {
    return [];
  }
}
