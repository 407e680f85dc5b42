// @ts-check
/**
 * Photographs, as the page has them. A worker decodes and scales them (worker/photographs.js), so
 * that the page stays free meanwhile.
 */

import { RemoteError, Rpc } from "./rpc.js";
import { words } from "../i18n/messages.js";
import { PhotoError } from "../prepare/photo_error.js";
import { drawSvg, isSvg } from "../prepare/svg.js";

/**
 * @typedef {import("../prepare/decode.js").Preprocess} Preprocess
 * @typedef {import("../prepare/decode.js").Square} Square
 * @typedef {Uint8ClampedArray<ArrayBuffer>} Pixels  RGBA, opaque
 *
 * @typedef {object} Opened  what the worker makes of a file
 * @property {ImageBitmap} bitmap  the whole picture, upright
 * @property {Square} square
 * @property {Pixels | null} input  for the model that was named
 */

/** The longest side of the picture on the page. */
const MAX_SHOWN_SIDE = 960;

const WORKER = new URL("../worker/photographs.js", import.meta.url);

/** Seconds of silence after which the worker is stuck: longer than the largest picture takes. */
const PATIENCE = 120;

/** A decoded picture: the middle square, which models see, and the picture to show. */
export class Photo {
  #square;
  /** The picture, until it is shown or scaled. @type {ImageBitmap | null} */
  #bitmap;
  /** The latest input that was made of it. @type {{preprocess: Preprocess, pixels: Pixels} | null} */
  #input;

  /**
   * @param {string} name
   * @param {Opened} opened
   * @param {Preprocess | null} preprocess  of the input
   */
  constructor(name, { bitmap, square, input }, preprocess) {
    this.name = name;
    this.width = bitmap.width;
    this.height = bitmap.height;
    this.#bitmap = bitmap;
    this.#square = square;
    this.#input = input && preprocess && { preprocess, pixels: input };
  }

  /**
   * The input of a classifier.
   * @param {Preprocess} preprocess
   * @returns {Promise<Pixels>}  size * size * 4
   */
  async pixels({ size, crop }) {
    const known = this.#input;
    if (known?.preprocess.size === size && known.preprocess.crop === crop) return known.pixels;
    const preprocess = { size, crop };
    const pixels = await ask("input", { square: this.#square, preprocess });
    this.#input = { preprocess, pixels };
    return pixels;
  }

  /**
   * The input of a model that takes pictures of any size. It takes the picture.
   * @param {number} width
   * @param {number} height
   * @param {boolean} whole  true: stretch the whole picture; false: crop its middle
   * @returns {Promise<Pixels>}  width * height * 4
   */
  scaled(width, height, whole) {
    const bitmap = this.#take();
    const wanted = { longest: MAX_SHOWN_SIDE, width, height, whole };
    return ask("scale", { bitmap, wanted }, [bitmap]);
  }

  /** Draw the whole picture. It takes the picture. @param {HTMLCanvasElement} surface */
  async draw(surface) {
    const fits = Math.max(this.width, this.height) <= MAX_SHOWN_SIDE;
    draw(surface, fits ? this.#take() : await this.#smaller(MAX_SHOWN_SIDE, false));
  }

  /** Draw the square. It takes the picture. @param {HTMLCanvasElement} surface @param {number} side */
  async thumbnail(surface, side) {
    draw(surface, await this.#smaller(side, true), side, side);
  }

  /** Free the memory at once, which matters when there are hundreds of pictures. */
  close() {
    this.#bitmap?.close();
    this.#bitmap = null;
  }

  /** @param {number} longest @param {boolean} square @returns {Promise<ImageBitmap>} */
  #smaller(longest, square) {
    const bitmap = this.#take();
    return ask("shrink", { bitmap, longest, square }, [bitmap]);
  }

  #take() {
    const bitmap = this.#bitmap;
    if (!bitmap) throw new Error(`${this.name} was shown already`);
    this.#bitmap = null;
    return bitmap;
  }
}

/**
 * Decode an image file, turned upright by its EXIF orientation.
 * @param {File} file
 * @param {Preprocess | null} [preprocess]  of the model that will probably be asked
 * @returns {Promise<Photo>}
 * @throws {PhotoError}
 */
export async function readPhoto(file, preprocess = null) {
  if (file.size === 0) throw new PhotoError(words("emptyPhoto", file.name));
  // Workers can't draw SVG. If the page can't either, the worker tells what the file is.
  const drawing = isSvg(file) ? await drawSvg(file).catch(() => null) : null;
  const picture = drawing ?? file;
  return new Photo(
    file.name,
    await ask("open", { picture, preprocess }, drawing ? [drawing] : []),
    preprocess,
  );
}

/** @type {Rpc | null} */
let worker = null;

/** Start the worker, unless it runs: its first photograph then need not wait for that. */
export function startPhotographs() {
  if (worker) return worker;
  const started = new Rpc(WORKER, PATIENCE);
  started.on("close", () => {
    if (worker === started) worker = null; // the next photograph starts another
  });
  return (worker = started);
}

/**
 * @param {string} action  of worker/photographs.js
 * @param {Record<string, unknown>} args
 * @param {Transferable[]} [handed]
 * @returns {Promise<any>}
 * @throws {PhotoError}
 */
async function ask(action, args, handed = []) {
  try {
    return await startPhotographs().call(action, args, { transfer: handed });
  } catch (error) {
    const known = error instanceof RemoteError && error.type === "PhotoError";
    throw known ? new PhotoError(error.words) : error;
  }
}

/**
 * Show a picture on white.
 * @param {HTMLCanvasElement} surface  gets this size
 * @param {ImageBitmap} picture  closed afterwards
 */
function draw(surface, picture, width = picture.width, height = picture.height) {
  Object.assign(surface, { width, height });
  const brush = surface.getContext("2d");
  if (!brush) throw new PhotoError(words("noCanvas"));
  brush.fillStyle = "#fff";
  brush.fillRect(0, 0, width, height);
  brush.imageSmoothingQuality = "high";
  brush.drawImage(picture, 0, 0, width, height);
  picture.close();
}
