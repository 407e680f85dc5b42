// @ts-check
/**
 * A canvas to draw on with mouse, finger or pen: smooth round strokes, and the ink to be read.
 *
 * Strokes are black on nothing; style.css paints the paper, and turns the ink white in the dark.
 */

import { text } from "../text.js";

/** Side of the canvas in its own pixels; on the page it is as large as there is room. */
const SIDE = 560;

/** Width of the brush: on a digit of usual size, about that of MNIST's own strokes. */
const BRUSH = 40;

/** @typedef {{x: number, y: number}} Point */

export class Pad {
  #canvas;
  #brush;
  #changed;
  /** Where each pointer that is down was last. @type {Map<number, {from: Point, middle: Point}>} */
  #strokes = new Map();

  /** Is there no ink? */
  empty = true;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {() => void} changed  called after each change of the ink
   */
  constructor(canvas, changed) {
    canvas.width = canvas.height = SIDE;
    const brush = canvas.getContext("2d", { willReadFrequently: true });
    if (!brush) throw new Error(text.noCanvas);
    this.#canvas = canvas;
    this.#brush = brush;
    this.#changed = changed;
    Object.assign(brush, { lineWidth: BRUSH, lineCap: "round", lineJoin: "round" });
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#up(event));
    canvas.addEventListener("pointercancel", (event) => this.#up(event));
  }

  /**
   * The ink as it is now.
   * @returns {{ink: Uint8Array, side: number}}  side * side values, 0 (paper) to 255 (ink)
   */
  read() {
    const { data } = this.#brush.getImageData(0, 0, SIDE, SIDE);
    const ink = new Uint8Array(SIDE * SIDE);
    for (let i = 0; i < ink.length; i++) ink[i] = data[4 * i + 3];
    return { ink, side: SIDE };
  }

  clear() {
    this.#brush.clearRect(0, 0, SIDE, SIDE);
    this.#strokes.clear();
    this.empty = true;
    this.#changed();
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (event.button !== 0) return;
    event.preventDefault(); // no text selection
    this.#canvas.setPointerCapture(event.pointerId);
    const point = this.#place(event);
    this.#strokes.set(event.pointerId, { from: point, middle: point });
    this.#dot(point);
    this.#inked();
  }

  /** @param {PointerEvent} event */
  #move(event) {
    if (!this.#strokes.has(event.pointerId)) return;
    // A fast pen reports more places than there are events.
    const events = event.getCoalescedEvents?.() ?? [];
    for (const each of events.length ? events : [event])
      this.#extend(event.pointerId, this.#place(each));
    this.#inked();
  }

  /** @param {PointerEvent} event */
  #up(event) {
    const stroke = this.#strokes.get(event.pointerId);
    if (!stroke) return;
    this.#line(stroke.middle, stroke.from, stroke.from);
    this.#strokes.delete(event.pointerId);
    this.#inked();
  }

  /**
   * Curve through the middles between the places, bent towards the places: smooth at every joint.
   * @param {number} pointer
   * @param {Point} to
   */
  #extend(pointer, to) {
    const stroke = this.#strokes.get(pointer);
    if (!stroke) return;
    const middle = { x: (stroke.from.x + to.x) / 2, y: (stroke.from.y + to.y) / 2 };
    this.#line(stroke.middle, stroke.from, middle);
    this.#strokes.set(pointer, { from: to, middle });
  }

  /** A tap is a dot: a line without length would leave no ink. @param {Point} at */
  #dot({ x, y }) {
    this.#brush.beginPath();
    this.#brush.arc(x, y, BRUSH / 2, 0, 2 * Math.PI);
    this.#brush.fill();
  }

  /**
   * @param {Point} from
   * @param {Point} bend
   * @param {Point} to
   */
  #line(from, bend, to) {
    this.#brush.beginPath();
    this.#brush.moveTo(from.x, from.y);
    this.#brush.quadraticCurveTo(bend.x, bend.y, to.x, to.y);
    this.#brush.stroke();
  }

  #inked() {
    this.empty = false;
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
