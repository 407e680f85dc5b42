// @ts-check
/** Samples as small pictures: as Python packs them (`packed` of py/tallow_page/train/insight.py). */

import { make } from "../../../widgets/dom.js";

/** @typedef {{height: number, width: number, channels: number, pixels: Uint8Array}} Picture */

/** @param {Uint8Array} bytes @returns {Picture[]} */
export function unpacked(bytes) {
  const numbers = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = numbers.getUint32(0, true);
  let at = 4 + 12 * count;
  return Array.from({ length: count }, (_, i) => {
    const [height, width, channels] = [4, 8, 12].map((byte) =>
      numbers.getUint32(12 * i + byte, true),
    );
    const pixels = bytes.subarray(at, (at += height * width * channels));
    return { height, width, channels, pixels };
  });
}

/** Red, green, blue and opacity of each pixel. @param {Picture} picture */
export function rgba({ height, width, channels, pixels }) {
  const found = new Uint8ClampedArray(4 * height * width).fill(255);
  for (let at = 0; at < height * width; at++)
    for (let colour = 0; colour < 3; colour++)
      found[4 * at + colour] = pixels[channels === 1 ? at : channels * at + colour];
  return found;
}

/** @param {Picture} picture @param {string} label  "" where text beside it says what it is */
export function thumb(picture, label = "") {
  const { height, width } = picture;
  /** @type {Record<string, string>} */
  const about = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  const canvas = /** @type {HTMLCanvasElement} */ (
    make("canvas", { height: String(height), width: String(width), class: "thumb", ...about })
  );
  canvas.getContext("2d")?.putImageData(new ImageData(rgba(picture), width, height), 0, 0);
  return canvas;
}
