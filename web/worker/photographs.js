// @ts-check
/** The worker that decodes and scales photographs. prepare/photo.js is the page's end. */

import {
  Unreadable,
  decode,
  inputOf,
  middle,
  scaledTo,
  shrunk,
  squareOf,
} from "../prepare/decode.js";

/**
 * @typedef {import("../prepare/decode.js").Preprocess} Preprocess
 * @typedef {import("../prepare/decode.js").Square} Square
 */

/**
 * Each returns what it answers, and what of that is handed over.
 * @type {Record<string, (args: any) => [unknown, Transferable[]] | Promise<[unknown, Transferable[]]>>}
 */
const ACTIONS = {
  /** @param {{picture: File | ImageBitmap, preprocess: Preprocess | null}} args */
  async open({ picture, preprocess }) {
    const bitmap = picture instanceof Blob ? await decode(picture) : picture;
    const square = squareOf(bitmap);
    const input = preprocess && inputOf(square, preprocess);
    const handed = [bitmap, square.data.buffer, ...(input ? [input.buffer] : [])];
    return [{ bitmap, square, input }, handed];
  },

  /** @param {{square: Square, preprocess: Preprocess}} args */
  input({ square, preprocess }) {
    const input = inputOf(square, preprocess);
    return [input, [input.buffer]];
  },

  /** @param {{bitmap: ImageBitmap, longest: number, square: boolean}} args */
  shrink({ bitmap, longest, square }) {
    const { surface } = (square ? middle : shrunk)(bitmap, longest);
    const small = surface.transferToImageBitmap();
    bitmap.close();
    return [small, [small]];
  },

  /** @param {{bitmap: ImageBitmap, wanted: Parameters<typeof scaledTo>[1]}} args */
  scale({ bitmap, wanted }) {
    const pixels = scaledTo(bitmap, wanted);
    bitmap.close();
    return [pixels, [pixels.buffer]];
  },
};

addEventListener("message", async ({ data: { id, action, args } }) => {
  try {
    const [result, handed] = await ACTIONS[action](args);
    postMessage({ id, result }, { transfer: handed });
  } catch (error) {
    if (error instanceof Unreadable) {
      postMessage({ id, words: error.words });
      return;
    }
    console.error(error);
    postMessage({ id, failure: String(/** @type {Error} */ (error).message) });
  }
});

// What is used for the first time takes long, so that is done before there is a photograph.
{
  const surface = new OffscreenCanvas(1, 1);
  surface.getContext("2d");
  const bitmap = surface.transferToImageBitmap();
  inputOf(squareOf(bitmap), { size: 1, crop: 1 });
  bitmap.close();
}
