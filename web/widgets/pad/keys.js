// @ts-check
/**
 * Drawing with the keyboard: arrows move a cursor, Space draws while it is held, Enter lowers and
 * lifts the pen. The page describes this beside the pad and to screen readers, and announces the
 * pen to these.
 */

import { words } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { SIDE } from "./pad.js";

/** How far an arrow moves, and how far with Shift. */
const STEP = SIDE / 28;
const FINE = SIDE / 112;

/** @type {Record<string, [number, number]>} */
const ARROWS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

export class PadKeys {
  #cursor;
  #announcement;
  #pad;
  #position = { x: SIDE / 2, y: SIDE / 4 };
  /** The arrows that are held. Two at once move diagonally. @type {Set<string>} */
  #held = new Set();

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {HTMLElement} cursor  over the canvas
   * @param {HTMLElement} announcement  for screen readers
   * @param {import("./pad.js").Pad} pad
   */
  constructor(canvas, cursor, announcement, pad) {
    this.#cursor = cursor;
    this.#announcement = announcement;
    this.#pad = pad;
    canvas.addEventListener("keydown", (event) => this.#down(event));
    canvas.addEventListener("keyup", (event) => this.#up(event));
    canvas.addEventListener("focus", () => this.#show(canvas.matches(":focus-visible")));
    canvas.addEventListener("blur", () => this.#leave());
    canvas.addEventListener("pointerdown", () => this.#show(false));
  }

  /** @param {KeyboardEvent} event */
  #down(event) {
    const { key, ctrlKey, metaKey, altKey, shiftKey, repeat } = event;
    if (ctrlKey || metaKey || altKey) return;
    if (key in ARROWS) {
      this.#held.add(key);
      this.#move(shiftKey ? FINE : STEP);
    } else if (key === " ") {
      if (!repeat) this.#pen(true);
    } else if (key === "Enter") {
      if (!repeat) this.#pen(!this.#pad.ink.drawing);
    } else {
      return;
    }
    event.preventDefault(); // no scrolling
    this.#show(true);
  }

  /** @param {KeyboardEvent} event */
  #up({ key }) {
    this.#held.delete(key);
    if (key === " " && this.#pad.ink.drawing) this.#pen(false);
  }

  /** @param {boolean} down */
  #pen(down) {
    if (down) this.#pad.begin(this.#position);
    else this.#pad.end();
    show(this.#announcement, words(down ? "penDown" : "penUp"));
  }

  /** @param {number} step */
  #move(step) {
    const within = (/** @type {number} */ value) => Math.min(Math.max(value, 0), SIDE);
    let { x, y } = this.#position;
    for (const key of this.#held) {
      x += step * ARROWS[key][0];
      y += step * ARROWS[key][1];
    }
    this.#position = { x: within(x), y: within(y) };
    this.#pad.extend(this.#position);
  }

  #leave() {
    this.#held.clear();
    this.#pad.end();
    this.#announcement.textContent = "";
    this.#show(false);
  }

  /** @param {boolean} visible */
  #show(visible) {
    const { style, classList } = this.#cursor;
    this.#cursor.hidden = !visible;
    classList.toggle("down", this.#pad.ink.drawing);
    style.left = `${(100 * this.#position.x) / SIDE}%`;
    style.top = `${(100 * this.#position.y) / SIDE}%`;
    style.width = `${(100 * this.#pad.brush.width) / SIDE}%`;
  }
}
