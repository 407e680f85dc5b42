// @ts-check
/**
 * Drawing with the keyboard: arrows move a cursor, Space draws while it is held, Enter lowers and
 * lifts the pen. The page says so beside the pad and to screen readers, which also hear of the pen.
 */

import { words } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { SIDE } from "./pad.js";

/** How far an arrow goes, and a fine one (with Shift). */
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
  #said;
  #pad;
  #at = { x: SIDE / 2, y: SIDE / 4 };
  /** The arrows that are held: two at once go aslant. @type {Set<string>} */
  #held = new Set();

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {HTMLElement} cursor  lies over the canvas
   * @param {HTMLElement} said  for screen readers
   * @param {import("./pad.js").Pad} pad
   */
  constructor(canvas, cursor, said, pad) {
    this.#cursor = cursor;
    this.#said = said;
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
    event.preventDefault(); // the page does not scroll
    this.#show(true);
  }

  /** @param {KeyboardEvent} event */
  #up({ key }) {
    this.#held.delete(key);
    if (key === " " && this.#pad.ink.drawing) this.#pen(false);
  }

  /** @param {boolean} down */
  #pen(down) {
    if (down) this.#pad.begin(this.#at);
    else this.#pad.end();
    show(this.#said, words(down ? "penDown" : "penUp"));
  }

  /** @param {number} step */
  #move(step) {
    const within = (/** @type {number} */ place) => Math.min(Math.max(place, 0), SIDE);
    let { x, y } = this.#at;
    for (const key of this.#held) {
      x += step * ARROWS[key][0];
      y += step * ARROWS[key][1];
    }
    this.#at = { x: within(x), y: within(y) };
    this.#pad.extend(this.#at);
  }

  #leave() {
    this.#held.clear();
    this.#pad.end();
    this.#said.textContent = "";
    this.#show(false);
  }

  /** @param {boolean} visible */
  #show(visible) {
    const { style, classList } = this.#cursor;
    this.#cursor.hidden = !visible;
    classList.toggle("down", this.#pad.ink.drawing);
    style.left = `${(100 * this.#at.x) / SIDE}%`;
    style.top = `${(100 * this.#at.y) / SIDE}%`;
    style.width = `${(100 * this.#pad.brush.width) / SIDE}%`;
  }
}
