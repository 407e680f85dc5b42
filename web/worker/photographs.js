// @ts-check
/** The worker that decodes and scales photographs. prepare/photo.js is the page's end. */

import { decode, inputOf, middle, scaledTo, shrunk, squareOf } from "../prepare/decode.js";
import { Handed, serve } from "./serve.js";

/**
 * @typedef {import("../prepare/decode.js").Preprocess} Preprocess
 * @typedef {import("../prepare/decode.js").Square} Square
 */

serve({
  /** @param {{picture: File | ImageBitmap, preprocess: Preprocess | null}} args */
  async open({ picture, preprocess }) {
    const bitmap = picture instanceof Blob ? await decode(picture) : picture;
    const square = squareOf(bitmap);
    const input = preprocess && inputOf(square, preprocess);
    const handed = [bitmap, square.data.buffer, ...(input ? [input.buffer] : [])];
    return new Handed({ bitmap, square, input }, handed);
  },

  /** @param {{square: Square, preprocess: Preprocess}} args */
  input({ square, preprocess }) {
    const input = inputOf(square, preprocess);
    return new Handed(input, [input.buffer]);
  },

  /** @param {{bitmap: ImageBitmap, longest: number, square: boolean}} args */
  shrink({ bitmap, longest, square }) {
    const { surface } = (square ? middle : shrunk)(bitmap, longest);
    const small = surface.transferToImageBitmap();
    bitmap.close();
    return new Handed(small, [small]);
  },

  /** @param {{bitmap: ImageBitmap, wanted: Parameters<typeof scaledTo>[1]}} args */
  scale({ bitmap, wanted }) {
    const pixels = scaledTo(bitmap, wanted);
    bitmap.close();
    return new Handed(pixels, [pixels.buffer]);
  },
});

// What is used for the first time takes long, so that is done before there is a photograph. If it
// fails, the photograph's answer says why.
try {
  const surface = new OffscreenCanvas(1, 1);
  surface.getContext("2d");
  const bitmap = surface.transferToImageBitmap();
  inputOf(squareOf(bitmap), { size: 1, crop: 1 });
  bitmap.close();
} catch {
  // as above
}
