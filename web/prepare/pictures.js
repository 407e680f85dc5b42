// @ts-check
/** Converts pictures to tensors and tensors to pictures. */

import { sizeOf } from "./elements.js";

/**
 * @typedef {"NCHW" | "NHWC"} Layout  any number of axes may come before it
 * @typedef {object} Form  of a picture in a tensor
 * @property {Layout} layout
 * @property {number} channels  1, 3 or 4
 * @property {number} height
 * @property {number} width
 */

const CHANNELS = [1, 3, 4];

/** Weights of red, green and blue in the luma (ITU-R BT.601). */
const LUMA = [0.299, 0.587, 0.114];

/**
 * The layouts in which a tensor of this shape could hold a picture, the likeliest first.
 * @param {readonly (number | string)[]} shape  names stand for any length
 * @returns {Layout[]}
 */
export function layoutsOf(shape) {
  if (shape.length < 2) return [];
  if (shape.length === 2) return ["NCHW"];
  /** @type {Layout[]} */
  const found = [];
  if (CHANNELS.includes(/** @type {number} */ (shape.at(-3)))) found.push("NCHW");
  if (CHANNELS.includes(/** @type {number} */ (shape.at(-1)))) found.push("NHWC");
  return found;
}

/**
 * @param {readonly number[]} shape
 * @param {Layout} layout
 * @returns {Form}
 */
export function formOf(shape, layout) {
  if (shape.length === 2) return { layout, channels: 1, height: shape[0], width: shape[1] };
  const [first, second, third] = shape.slice(-3);
  return layout === "NCHW"
    ? { layout, channels: first, height: second, width: third }
    : { layout, channels: third, height: first, width: second };
}

/**
 * Convert a picture to numbers.
 * @param {Uint8ClampedArray} rgba
 * @param {Form} form
 * @param {object} rules
 * @param {number[]} rules.mean   of each channel, or one for all; subtracted first
 * @param {number[]} rules.scale  likewise; multiplied afterwards
 * @param {boolean} rules.bgr     whether blue comes first
 * @returns {Float64Array}
 */
export function toTensor(rgba, { layout, channels, height, width }, { mean, scale, bgr }) {
  const values = new Float64Array(channels * height * width);
  const pixels = height * width;
  for (let channel = 0; channel < channels; channel++) {
    const from = channel < 3 && bgr ? 2 - channel : channel;
    const [less, times] = [mean, scale].map((each) => each[each.length > 1 ? channel : 0]);
    for (let i = 0; i < pixels; i++) {
      const pixel = i * 4;
      const value =
        channels === 1
          ? LUMA.reduce((sum, share, c) => sum + share * rgba[pixel + c], 0)
          : rgba[pixel + from];
      const to = layout === "NCHW" ? channel * pixels + i : i * channels + channel;
      values[to] = (value - less) * times;
    }
  }
  return values;
}

/** The limits for the sides of a tensor that is shown as a picture. */
const MIN_SIDE = 4;
const MAX_SIDE = 4096;

/**
 * The best way to show an output as a picture; null if its shape does not allow it.
 * @param {readonly number[]} shape
 * @returns {Form | null}
 */
export function shownForm(shape) {
  const fits = (/** @type {Form} */ { height, width }) =>
    Math.min(height, width) >= MIN_SIDE && Math.max(height, width) <= MAX_SIDE;
  for (const layout of layoutsOf(shape)) {
    const form = formOf(shape, layout);
    if (fits(form)) return form;
  }
  if (shape.length < 3) return null;
  // Show feature maps one at a time.
  const form = { ...formOf(shape, "NCHW"), channels: 1 };
  return fits(form) ? form : null;
}

/**
 * Convert the first picture of a tensor. Its least finite value becomes black, its greatest white;
 * NaN and -inf become black, inf white.
 * @param {import("./elements.js").Values} values
 * @param {Form} form
 * @param {boolean} unscaled  for values of 0 to 255
 * @returns {ImageData}
 */
export function toPicture(values, { layout, channels, height, width }, unscaled) {
  const pixels = height * width;
  const count = sizeOf([channels, pixels]);
  let [least, most] = [Infinity, -Infinity];
  for (let i = 0; i < count; i++) {
    const value = Number(values[i]);
    if (!Number.isFinite(value)) continue;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  if (unscaled) [least, most] = [0, 255];
  const times = most > least ? 255 / (most - least) : 0;
  const image = new ImageData(width, height);
  for (let i = 0; i < pixels; i++) {
    for (let c = 0; c < 4; c++) {
      const channel = channels === 1 ? 0 : c;
      const index = layout === "NCHW" ? channel * pixels + i : i * channels + channel;
      const opaque = c === 3 && channels < 4;
      const value = Number(values[index]);
      const light = Number.isFinite(value) ? (value - least) * times : value;
      image.data[i * 4 + c] = opaque ? 255 : light;
    }
  }
  return image;
}
