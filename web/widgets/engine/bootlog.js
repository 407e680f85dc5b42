// @ts-check
/**
 * The boot log: a line for each stage of a start, with its time, and for each failure that was
 * recovered.
 */

import { follow } from "../../i18n/show.js";
import { bytes as inBytes, time } from "../../shared/format.js";
import { say } from "../../i18n/messages.js";
import { text } from "../../i18n/text.js";

/** @typedef {import("../../engine/types.js").Stage} Stage */
/** @typedef {Stage | {note: import("../../i18n/messages.js").Words}} Line */

/** If the page is open for long, only the newest lines are kept. */
const MAX_LINES = 30;

export class BootLog {
  #list;
  /** Stages and notes, in the order in which they began. @type {Map<string, Line>} */
  #lines = new Map();
  #notes = 0;

  /** @param {HTMLOListElement} list */
  constructor(list) {
    this.#list = list;
    follow(list, () => this.#draw());
  }

  /** Show the start or the end of a stage. @param {Stage} stage */
  show(stage) {
    const key = `${stage.name} ${stage.model ?? ""}`;
    if (stage.state === "begun") this.#lines.delete(key); // move it to the end
    const known = this.#lines.get(key);
    this.#set(key, { .../** @type {Stage | undefined} */ (known), ...stage });
  }

  /**
   * Show compiled kernels in the stage that compiles them. Kernels compiled for tuning have no
   * stage.
   * @param {number} done
   * @param {number} total
   */
  compiled(done, total) {
    for (const [key, stage] of this.#lines) {
      if ("note" in stage || stage.name !== "kernels" || stage.state !== "begun") continue;
      this.#set(key, { ...stage, done, total });
    }
  }

  /**
   * Note a failure that is being recovered.
   * @param {import("../../i18n/messages.js").Words} note
   */
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
      if (this.#lines.size <= MAX_LINES) break;
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
