// @ts-check
/**
 * The boot log: a line for each stage of a start, with what it took, and for each failure that was
 * mended.
 */

import { follow } from "../../i18n/show.js";
import { bytes as inBytes, time } from "../../shared/format.js";
import { say } from "../../i18n/messages.js";
import { text } from "../../i18n/text.js";

/**
 * @typedef {object} Stage
 * @property {import("../../worker/stage.js").Name} name
 * @property {"begun" | "done" | "failed"} state
 * @property {string} [model]
 * @property {number} [bytes]
 * @property {number} [ms]     so far
 * @property {import("../../i18n/messages.js").Words} [why]  it failed
 * @property {number} [done]   kernels
 * @property {number} [total]
 */

/** @typedef {Stage | {note: import("../../i18n/messages.js").Words}} Line */

/** Of a page that is long open, the newest lines. */
const LINES = 30;

export class BootLog {
  #list;
  /** Stages and notes by what they are about, in the order of their begin. @type {Map<string, Line>} */
  #lines = new Map();
  #notes = 0;

  /** @param {HTMLOListElement} list */
  constructor(list) {
    this.#list = list;
    follow(list, () => this.#draw());
  }

  /** A stage begins, or ends. @param {Stage} stage */
  show(stage) {
    const key = `${stage.name} ${stage.model ?? ""}`;
    if (stage.state === "begun") this.#lines.delete(key); // it goes to the end
    const known = this.#lines.get(key);
    this.#set(key, { .../** @type {Stage | undefined} */ (known), ...stage });
  }

  /**
   * The kernels of the model that is being loaded. Others are compiled for tuning, say: no stage.
   * @param {number} done
   * @param {number} total
   */
  compiled(done, total) {
    for (const [key, stage] of this.#lines) {
      if ("note" in stage || stage.name !== "kernels" || stage.state !== "begun") continue;
      this.#set(key, { ...stage, done, total });
    }
  }

  /** Something failed, and is replaced. @param {import("../../i18n/messages.js").Words} note */
  note(note) {
    this.#set(`note ${this.#notes++}`, { note });
  }

  #draw() {
    this.#list.replaceChildren(...[...this.#lines.values()].map(line));
  }

  /**
   * @param {string} key
   * @param {Line} stage
   */
  #set(key, stage) {
    this.#lines.set(key, stage);
    for (const [oldest] of this.#lines) {
      if (this.#lines.size <= LINES) break;
      this.#lines.delete(oldest);
    }
    this.#draw();
  }
}

/** @param {Line} stage */
function line(stage) {
  const item = document.createElement("li");
  if ("note" in stage) {
    item.textContent = say(stage.note);
    return item;
  }
  const { name, state, model = "", bytes, ms = 0, done = 0, total, why = "" } = stage;
  item.dataset.stage = name;
  item.dataset.state = state;
  if (bytes !== undefined) item.dataset.bytes = String(bytes);
  if (state === "done") item.dataset.ms = ms.toFixed(1);
  const size = bytes === undefined ? total && text.kernelsOf(done, total) : inBytes(bytes);
  const took = state === "done" ? time(ms) : state === "failed" ? text.stageFailed(say(why)) : "…";
  for (const words of [text.stages[name](model), size || "", took]) {
    item.append(Object.assign(document.createElement("span"), { textContent: words }), " ");
  }
  return item;
}
