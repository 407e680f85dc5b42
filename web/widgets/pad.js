// @ts-check
/**
 * A canvas to draw on with mouse, finger or pen: smooth round strokes, and the ink to be read.
 *
 * Strokes are black on nothing; style.css paints the paper, and turns the ink white in the dark.
 */

import { text } from "../text.js";
import { Ink } from "./ink.js";

/** Side of the canvas in its own pixels; on the page it is as large as there is room. */
export const SIDE = 560;

/** @typedef {import("./ink.js").Point} Point */

export class Pad {
  #canvas;
  #changed;
  /** The pointer that draws. A second one, another finger or a palm, draws nothing. */
  #pointer = /** @type {number | null} */ (null);

  /** @type {import("./ink.js").Brush} */
  brush = { width: 40, erases: false };

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {() => void} changed  called after each change of the ink
   */
  constructor(canvas, changed) {
    canvas.width = canvas.height = SIDE;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    if (!context) throw new Error(text.noCanvas);
    this.ink = new Ink(context);
    this.#canvas = canvas;
    this.#changed = changed;
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    // Follows pointerup and pointercancel, and comes too where the pad is hidden under the pen.
    canvas.addEventListener("lostpointercapture", (event) => this.#up(event));
  }

  /** @param {"undo" | "redo" | "clear"} what */
  change(what) {
    this.#pointer = null; // a stroke that is being drawn ends here
    this.ink[what]();
    this.#changed();
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (event.button !== 0 || this.#pointer !== null) return;
    event.preventDefault(); // no text selection
    this.#canvas.setPointerCapture(event.pointerId);
    this.#pointer = event.pointerId;
    this.ink.begin(this.brush, this.#place(event));
    this.#changed();
  }

  /** @param {PointerEvent} event */
  #move(event) {
    if (event.pointerId !== this.#pointer) return;
    // A fast pen reports more places than there are events.
    const events = event.getCoalescedEvents?.() ?? [];
    for (const each of events.length ? events : [event]) this.ink.extend(this.#place(each));
    this.#changed();
  }

  /** @param {PointerEvent} event */
  #up(event) {
    if (event.pointerId !== this.#pointer) return;
    this.#pointer = null;
    this.ink.end();
    this.#changed();
  }

  /**
   * @param {PointerEvent} event
   * @returns {Point}  in the canvas's own pixels
   */
  #place({ clientX, clientY }) {
    const { left, top, width, height } = this.#canvas.getBoundingClientRect();
    return { x: ((clientX - left) * SIDE) / width, y: ((clientY - top) * SIDE) / height };
  }
}
