// @ts-check
/**
 * What has been drawn: a list of strokes, painted on a canvas. A stroke is painted piece by piece
 * while it grows. Once it ends, and after undo and redo, the whole list is painted again, each
 * stroke in one go: its edge is smoother so, and undo brings back each pixel.
 */

import { FAINT } from "../../prepare/digit.js";
import { text } from "../../i18n/text.js";

/**
 * @typedef {import("../../prepare/split.js").Digit} Digit
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
  /** Each with the number of points that it was made of. @type {WeakMap<Stroke, {points: number, layer: Digit}>} */
  #layers = new WeakMap();
  /** Whether there is ink; null where that must be looked up. @type {boolean | null} */
  #inked = false;

  /** @param {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} brush  of a square canvas, which is nobody else's */
  constructor(brush) {
    this.#brush = brush;
    this.#side = brush.canvas.width;
    Object.assign(brush, { lineCap: "round", lineJoin: "round" });
  }

  /** Is there nothing to read? */
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

  /** Where the newest stroke has come to. @returns {Point | undefined} */
  get tip() {
    const last = this.#done.at(-1);
    return last === CLEARED ? undefined : last?.points.at(-1);
  }

  /** The ink of each stroke alone, as it was before the eraser; none of a single one. @returns {Digit[]} */
  get layers() {
    const strokes = this.#visible;
    return strokes.length < 2
      ? []
      : strokes.filter(({ erases }) => !erases).map((stroke) => this.#layer(stroke));
  }

  /** All ink as it is now, cut out: no other pixel is looked at, while the page starts as well. */
  read() {
    return cut(this.#brush, this.#place(this.#visible));
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

  /** The strokes since all was cleared. @returns {Stroke[]} */
  get #visible() {
    return /** @type {Stroke[]} */ (this.#done.slice(this.#done.lastIndexOf(CLEARED) + 1));
  }

  /** @param {Stroke} stroke @returns {Digit} */
  #layer(stroke) {
    const { points } = stroke;
    const known = this.#layers.get(stroke);
    if (known?.points === points.length) return known.layer;
    const place = this.#place([stroke]);
    const surface = new OffscreenCanvas(place.width, place.height);
    const context = surface.getContext("2d", { willReadFrequently: true });
    if (!context) throw new Error(text.noCanvas);
    context.translate(-place.left, -place.top);
    new Ink(context).#paint(stroke);
    const layer = { ...cut(context, { ...place, left: 0, top: 0 }), ...place };
    this.#layers.set(stroke, { points: points.length, layer });
    return layer;
  }

  /** What strokes can have inked, of the canvas; nothing where there are none. @param {Stroke[]} strokes */
  #place(strokes) {
    const within = (/** @type {number} */ place) => Math.min(Math.max(place, 0), this.#side - 1);
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

  /** A tap is a dot: a line without length would leave no ink. @param {Stroke} stroke */
  #dot(stroke) {
    const [{ x, y }] = stroke.points;
    this.#take(stroke);
    this.#brush.beginPath();
    this.#brush.arc(x, y, stroke.width / 2, 0, 2 * Math.PI);
    this.#brush.fill();
  }

  /** The piece of a stroke that its newest point adds. @param {Stroke} stroke */
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

  /** A whole stroke. @param {Stroke} stroke */
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
   * Curve through the middles between the points, bent towards the points: smooth at every joint.
   * @param {Point[]} points
   * @param {number} i  of the one that it leads towards
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
 * The ink in a part of a canvas: its values are 0 (paper) to 255 (ink).
 * @param {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} brush
 * @param {{left: number, right: number, top: number, width: number, height: number}} place
 * @returns {Digit}
 */
function cut(brush, place) {
  const { left, top, width, height } = place;
  const ink = new Uint8Array(width * height);
  if (!ink.length) return { ink, ...place };
  const { data } = brush.getImageData(left, top, width, height);
  for (let i = 0; i < ink.length; i++) ink[i] = data[4 * i + 3];
  return { ink, ...place };
}

/**
 * @param {Point} a
 * @param {Point} b
 * @returns {Point}
 */
function middle(a, b) {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}
