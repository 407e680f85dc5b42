// @ts-check
/**
 * The drawing: a list of strokes, painted on a canvas. A growing stroke is painted piece by piece.
 * When it ends, and after undo and redo, all strokes are repainted, each in one go. That gives
 * smoother edges, and undo restores every pixel.
 */

import { FAINT } from "../../prepare/digit.js";
import { text } from "../../i18n/text.js";

/**
 * @typedef {import("../../prepare/split.js").Digit} Digit
 * @typedef {{x: number, y: number}} Point  in the canvas's own pixels
 * @typedef {{width: number, erases: boolean}} Brush
 * @typedef {Brush & {points: Point[]}} Stroke
 */

/** Hides all strokes before it, until it is undone. */
const CLEARED = Symbol("cleared");

/** @typedef {Stroke | typeof CLEARED} Act */

export class Ink {
  #brush;
  #side;
  /** @type {Act[]} */
  #done = [];
  /** The latest is last. @type {Act[]} */
  #undone = [];
  /** The stroke that is being drawn, which is the last of #done. @type {Stroke | null} */
  #open = null;
  /**
   * Cached layers, with the number of points they were made of.
   * @type {WeakMap<Stroke, {points: number, layer: Digit}>}
   */
  #layers = new WeakMap();
  /** Whether there is ink; null if unknown. @type {boolean | null} */
  #inked = false;

  /**
   * @param {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} brush  of a square canvas
   *   that nothing else uses
   */
  constructor(brush) {
    this.#brush = brush;
    this.#side = brush.canvas.width;
    Object.assign(brush, { lineCap: "round", lineJoin: "round" });
  }

  /** Whether there is nothing to read. */
  get empty() {
    this.#inked ??= this.read().ink.some((value) => value >= FAINT);
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

  /** The end of the newest stroke. @returns {Point | undefined} */
  get tip() {
    const last = this.#done.at(-1);
    return last === CLEARED ? undefined : last?.points.at(-1);
  }

  /** The ink of each stroke alone, before erasing; none if there is only one. @returns {Digit[]} */
  get layers() {
    const strokes = this.#visible;
    return strokes.length < 2
      ? []
      : strokes.filter(({ erases }) => !erases).map((stroke) => this.#layer(stroke));
  }

  /** All ink, cut out. Reading only these pixels saves time while the page starts. */
  read() {
    return cut(this.#brush, this.#bounds(this.#visible));
  }

  /**
   * Begin a stroke, and end the open one.
   * @param {Brush} brush
   * @param {Point} point
   */
  begin(brush, point) {
    this.end();
    if (brush.erases && this.empty) return; // there would be nothing to undo
    this.#open = { ...brush, points: [point] };
    this.#done.push(this.#open);
    this.#undone = [];
    this.#dot(this.#open);
  }

  /** @param {Point} point */
  extend(point) {
    if (!this.#open) return;
    this.#open.points.push(point);
    this.#grow(this.#open);
  }

  end() {
    if (!this.#open) return;
    this.#open = null;
    this.#repaint();
  }

  clear() {
    this.end();
    if (this.empty) return;
    this.#done.push(CLEARED);
    this.#undone = [];
    this.#repaint();
  }

  undo() {
    this.end();
    const act = this.#done.pop();
    if (!act) return;
    this.#undone.push(act);
    this.#repaint();
  }

  redo() {
    this.end();
    const act = this.#undone.pop();
    if (!act) return;
    this.#done.push(act);
    this.#repaint();
  }

  #repaint() {
    this.#brush.clearRect(0, 0, this.#side, this.#side);
    for (const stroke of this.#visible) this.#paint(stroke);
    this.#inked = this.#visible.length ? null : false;
  }

  /** The strokes since the last clearing. @returns {Stroke[]} */
  get #visible() {
    return /** @type {Stroke[]} */ (this.#done.slice(this.#done.lastIndexOf(CLEARED) + 1));
  }

  /** @param {Stroke} stroke @returns {Digit} */
  #layer(stroke) {
    const { points } = stroke;
    const known = this.#layers.get(stroke);
    if (known?.points === points.length) return known.layer;
    const bounds = this.#bounds([stroke]);
    const surface = new OffscreenCanvas(bounds.width, bounds.height);
    const context = surface.getContext("2d", { willReadFrequently: true });
    if (!context) throw new Error(text.noCanvas);
    context.translate(-bounds.left, -bounds.top);
    new Ink(context).#paint(stroke);
    const layer = { ...cut(context, { ...bounds, left: 0, top: 0 }), ...bounds };
    this.#layers.set(stroke, { points: points.length, layer });
    return layer;
  }

  /** The part of the canvas that these strokes cover. @param {Stroke[]} strokes */
  #bounds(strokes) {
    const within = (/** @type {number} */ value) => Math.min(Math.max(value, 0), this.#side - 1);
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const { points, width } of strokes) {
      for (const { x, y } of points) {
        left = Math.min(left, x - width / 2);
        top = Math.min(top, y - width / 2);
        right = Math.max(right, x + width / 2);
        bottom = Math.max(bottom, y + width / 2);
      }
    }
    if (right < left) return { left: 0, top: 0, right: 0, width: 0, height: 0 };
    [left, top] = [within(Math.floor(left) - 1), within(Math.floor(top) - 1)];
    [right, bottom] = [within(Math.ceil(right)) + 1, within(Math.ceil(bottom)) + 1];
    return { left, top, right, width: right - left, height: bottom - top };
  }

  /** Paint a dot, because a line of length 0 would leave no ink. @param {Stroke} stroke */
  #dot(stroke) {
    const [{ x, y }] = stroke.points;
    this.#take(stroke);
    this.#brush.beginPath();
    this.#brush.arc(x, y, stroke.width / 2, 0, 2 * Math.PI);
    this.#brush.fill();
  }

  /** Paint the piece of a stroke that its newest point adds. @param {Stroke} stroke */
  #grow(stroke) {
    const { points } = stroke;
    const newest = points.length - 1;
    const from = newest === 1 ? points[0] : middle(points[newest - 2], points[newest - 1]);
    this.#take(stroke);
    this.#brush.beginPath();
    this.#brush.moveTo(from.x, from.y);
    this.#curve(points, newest);
    this.#brush.stroke();
  }

  /** Paint a whole stroke. @param {Stroke} stroke */
  #paint(stroke) {
    const [first] = stroke.points;
    const last = stroke.points[stroke.points.length - 1];
    this.#dot(stroke);
    this.#brush.beginPath();
    this.#brush.moveTo(first.x, first.y);
    for (let i = 1; i < stroke.points.length; i++) this.#curve(stroke.points, i);
    this.#brush.lineTo(last.x, last.y);
    this.#brush.stroke();
  }

  /**
   * Add a curve through the midpoints, with the points as control points, so that all joints are
   * smooth.
   * @param {Point[]} points
   * @param {number} i  of the point that it leads towards
   */
  #curve(points, i) {
    const bend = points[i - 1];
    const to = middle(bend, points[i]);
    this.#brush.quadraticCurveTo(bend.x, bend.y, to.x, to.y);
  }

  /** @param {Brush} brush */
  #take({ width, erases }) {
    this.#brush.lineWidth = width;
    this.#brush.globalCompositeOperation = erases ? "destination-out" : "source-over";
    this.#inked = erases ? null : true;
  }
}

/**
 * The ink in a part of a canvas, as values from 0 (paper) to 255 (ink).
 * @param {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} brush
 * @param {{left: number, right: number, top: number, width: number, height: number}} bounds
 * @returns {Digit}
 */
function cut(brush, bounds) {
  const { left, top, width, height } = bounds;
  const ink = new Uint8Array(width * height);
  if (!ink.length) return { ink, ...bounds };
  const { data } = brush.getImageData(left, top, width, height);
  for (let i = 0; i < ink.length; i++) ink[i] = data[4 * i + 3];
  return { ink, ...bounds };
}

/**
 * @param {Point} a
 * @param {Point} b
 * @returns {Point}
 */
function middle(a, b) {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}
