// @ts-check
/**
 * A canvas to draw on with mouse, finger, pen or keyboard.
 *
 * Strokes are black on a transparent canvas; styles add the paper, and make the ink white in
 * dark mode.
 */

import { text } from "../../i18n/text.js";
import { Ink } from "./ink.js";

/** Side of the canvas in its own pixels; on the page its size depends on the room. */
export const SIDE = 560;

/** @typedef {import("./ink.js").Point} Point */

export class Pad {
  #canvas;
  #changed;
  /** The pointer that draws. Others, such as a second finger or a palm, are ignored. */
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
    // Raised after pointerup and pointercancel, and also if the pad is hidden during a stroke.
    canvas.addEventListener("lostpointercapture", (event) => this.#up(event));
  }

  /** @param {Point} point */
  begin(point) {
    this.ink.begin(this.brush, point);
    this.#changed();
  }

  /** Continue the stroke, if the pen is down. @param {Point} point */
  extend(point) {
    if (!this.ink.drawing) return;
    this.ink.extend(point);
    this.#changed();
  }

  end() {
    this.#pointer = null;
    if (!this.ink.drawing) return;
    this.ink.end();
    this.#changed();
  }

  /** @param {"undo" | "redo" | "clear"} what  ends a stroke that is being drawn */
  change(what) {
    this.#pointer = null;
    this.ink[what]();
    this.#changed();
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (event.button !== 0 || this.#pointer !== null) return;
    event.preventDefault(); // no text selection
    this.#canvas.focus({ preventScroll: true });
    this.#canvas.setPointerCapture(event.pointerId);
    this.#pointer = event.pointerId;
    this.begin(this.#point(event));
  }

  /** @param {PointerEvent} event */
  #move(event) {
    if (event.pointerId !== this.#pointer) return;
    // A fast pen reports more points than there are events.
    const events = event.getCoalescedEvents?.() ?? [];
    for (const each of events.length ? events : [event]) this.extend(this.#point(each));
  }

  /** @param {PointerEvent} event */
  #up(event) {
    if (event.pointerId === this.#pointer) this.end();
  }

  /**
   * @param {PointerEvent} event
   * @returns {Point}  in the canvas's own pixels
   */
  #point({ clientX, clientY }) {
    const { left, top, width, height } = this.#canvas.getBoundingClientRect();
    return { x: ((clientX - left) * SIDE) / width, y: ((clientY - top) * SIDE) / height };
  }
}
