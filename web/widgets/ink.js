// @ts-check
/**
 * What has been drawn: a list of strokes, painted on a canvas as they come and replayed from the
 * list by undo and redo, which so bring back each pixel.
 */

import { FAINT } from "../prepare/digit.js";

/**
 * @typedef {{x: number, y: number}} Point  in the canvas's own pixels
 * @typedef {{width: number, erases: boolean}} Brush
 * @typedef {Brush & {points: Point[]}} Stroke
 */

/** Everything before it is gone, until it is undone. */
const CLEARED = Symbol("cleared");

/** @typedef {Stroke | typeof CLEARED} Act */

export class Ink {
  #brush;
  #side;
  /** @type {Act[]} */
  #done = [];
  /** The latest undone is the last. @type {Act[]} */
  #undone = [];
  /** The stroke that is being drawn; it is the last one done. @type {Stroke | null} */
  #open = null;
  /** Whether there is ink; null where that must be looked up. @type {boolean | null} */
  #inked = false;

  /** @param {CanvasRenderingContext2D} brush  of a square canvas, which is nobody else's */
  constructor(brush) {
    this.#brush = brush;
    this.#side = brush.canvas.width;
    Object.assign(brush, { lineCap: "round", lineJoin: "round" });
  }

  /** Is there nothing to read? */
  get empty() {
    this.#inked ??= this.read().some((value) => value >= FAINT);
    return !this.#inked;
  }

  get drawing() {
    return this.#open !== null;
  }

  get undoable() {
    return this.#done.length > 0;
  }

  get redoable() {
    return this.#undone.length > 0;
  }

  /** Where the newest stroke has come to. @returns {Point | undefined} */
  get tip() {
    const last = this.#done.at(-1);
    return last === CLEARED ? undefined : last?.points.at(-1);
  }

  /** The ink as it is now: side * side values, 0 (paper) to 255 (ink). */
  read() {
    const { data } = this.#brush.getImageData(0, 0, this.#side, this.#side);
    const ink = new Uint8Array(this.#side * this.#side);
    for (let i = 0; i < ink.length; i++) ink[i] = data[4 * i + 3];
    return ink;
  }

  /**
   * Begin a stroke; the one that is open ends.
   * @param {Brush} brush
   * @param {Point} point
   */
  begin(brush, point) {
    this.end();
    if (brush.erases && this.empty) return; // nothing would change, so there is nothing to undo
    this.#open = { ...brush, points: [point] };
    this.#done.push(this.#open);
    this.#undone = [];
    this.#dot(this.#open);
  }

  /** @param {Point} point */
  extend(point) {
    if (!this.#open) return;
    this.#open.points.push(point);
    this.#curve(this.#open, this.#open.points.length - 1);
  }

  end() {
    if (!this.#open) return;
    this.#tail(this.#open);
    this.#open = null;
  }

  clear() {
    this.end();
    if (this.empty) return;
    this.#done.push(CLEARED);
    this.#undone = [];
    this.#replay();
  }

  undo() {
    this.end();
    const act = this.#done.pop();
    if (!act) return;
    this.#undone.push(act);
    this.#replay();
  }

  redo() {
    this.end();
    const act = this.#undone.pop();
    if (!act) return;
    this.#done.push(act);
    this.#replay();
  }

  #replay() {
    this.#brush.clearRect(0, 0, this.#side, this.#side);
    const strokes = this.#done.slice(this.#done.lastIndexOf(CLEARED) + 1);
    for (const stroke of /** @type {Stroke[]} */ (strokes)) {
      this.#dot(stroke);
      for (let i = 1; i < stroke.points.length; i++) this.#curve(stroke, i);
      this.#tail(stroke);
    }
    this.#inked = strokes.length ? null : false;
  }

  /** A tap is a dot: a line without length would leave no ink. @param {Stroke} stroke */
  #dot(stroke) {
    const [{ x, y }] = stroke.points;
    this.#take(stroke);
    this.#brush.beginPath();
    this.#brush.arc(x, y, stroke.width / 2, 0, 2 * Math.PI);
    this.#brush.fill();
  }

  /**
   * Curve through the middles between the points, bent towards the points: smooth at every joint.
   * @param {Stroke} stroke
   * @param {number} i  of the point that is new
   */
  #curve(stroke, i) {
    const { points } = stroke;
    const from = i === 1 ? points[0] : middle(points[i - 2], points[i - 1]);
    this.#line(stroke, from, points[i - 1], middle(points[i - 1], points[i]));
  }

  /** From the last middle to the last point. @param {Stroke} stroke */
  #tail(stroke) {
    const [before, last] = stroke.points.slice(-2);
    if (last) this.#line(stroke, middle(before, last), last, last);
  }

  /**
   * @param {Stroke} stroke
   * @param {Point} from
   * @param {Point} bend
   * @param {Point} to
   */
  #line(stroke, from, bend, to) {
    this.#take(stroke);
    this.#brush.beginPath();
    this.#brush.moveTo(from.x, from.y);
    this.#brush.quadraticCurveTo(bend.x, bend.y, to.x, to.y);
    this.#brush.stroke();
  }

  /** @param {Brush} brush */
  #take({ width, erases }) {
    this.#brush.lineWidth = width;
    this.#brush.globalCompositeOperation = erases ? "destination-out" : "source-over";
    this.#inked = erases ? null : true;
  }
}

/**
 * @param {Point} a
 * @param {Point} b
 * @returns {Point}
 */
function middle(a, b) {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}
