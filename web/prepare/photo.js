// @ts-check
/**
 * Turns an image file into the input of a model: decoded upright, cropped to its middle square on
 * white, and scaled so that the centre crop has the model's size.
 */

import { LocalizedError, words } from "../i18n/messages.js";
import { readHeader } from "./header.js";
import { scale, scaleAndCrop } from "./resample.js";
import { drawSvg, isSvg } from "./svg.js";

/**
 * The browser first scales a large picture to this side, which is fast. It is four times the
 * models' size, so the careful scaling afterwards determines the result.
 */
const STAGE = 1024;

/**
 * The largest picture that is decoded, in pixels of four bytes. Beyond limits of their own,
 * browsers refuse to decode a picture, or the tab crashes.
 */
const MAX_PIXELS = 128e6;

/** The longest side of the picture on the page. */
const MAX_SHOWN_SIDE = 960;

/** @typedef {{size: number, crop: number}} Preprocess  of a model's card */

/** A file can't be opened as a picture; the message names it. */
export class PhotoError extends LocalizedError {
  name = "PhotoError";
}

/** A decoded picture: the middle square, which models see, and the picture to show. */
export class Photo {
  #square;

  /**
   * @param {string} name
   * @param {ImageBitmap} bitmap
   * @param {boolean} whole  whether the whole picture is needed too, not only its square
   */
  constructor(name, bitmap, whole) {
    const { width, height } = bitmap;
    const side = Math.min(width, height);
    this.name = name;
    this.width = width;
    this.height = height;
    const scale = Math.min(1, MAX_SHOWN_SIDE / Math.max(width, height));
    /** The whole picture, upright. */
    this.picture = whole
      ? canvas(Math.max(1, width * scale), Math.max(1, height * scale))
      : canvas(0, 0);
    if (whole) paint(this.picture, bitmap, 0, 0, width, height);
    const stage = Math.min(side, STAGE);
    this.#square = canvas(stage, stage);
    paint(
      this.#square,
      bitmap,
      Math.floor((width - side) / 2),
      Math.floor((height - side) / 2),
      side,
      side,
    );
  }

  /**
   * The input of a classifier.
   * @param {Preprocess} preprocess
   * @returns {Uint8ClampedArray<ArrayBuffer>}  RGBA, size * size * 4, opaque
   */
  pixels({ size, crop }) {
    const { width } = this.#square;
    const { data } = context(this.#square).getImageData(0, 0, width, width);
    return scaleAndCrop(data, width, Math.max(size, Math.round(size / crop)), size);
  }

  /**
   * The input of a model that takes pictures of any size.
   * @param {number} width
   * @param {number} height
   * @param {boolean} whole  true: stretch the whole picture; false: crop its middle
   * @returns {Uint8ClampedArray<ArrayBuffer>}  RGBA, width * height * 4, opaque
   */
  scaled(width, height, whole) {
    const { width: across, height: down } = this.picture;
    const part = Math.min(across / width, down / height);
    const w = whole ? across : Math.max(1, Math.round(part * width));
    const h = whole ? down : Math.max(1, Math.round(part * height));
    const [left, top] = [Math.floor((across - w) / 2), Math.floor((down - h) / 2)];
    return scale(context(this.picture).getImageData(left, top, w, h), width, height);
  }

  /** Draw the square, small. @param {HTMLCanvasElement} surface */
  thumbnail(surface) {
    const { width } = this.#square;
    paint(surface, this.#square, 0, 0, width, width);
  }

  /** Free the memory at once, which matters when there are hundreds of pictures. */
  close() {
    for (const surface of [this.#square, this.picture]) surface.width = surface.height = 0;
  }
}

/**
 * Decode an image file, turned upright by its EXIF orientation.
 * @param {File} file
 * @param {boolean} [whole]  whether the whole picture is needed too, not only its middle square
 * @returns {Promise<Photo>}
 * @throws {PhotoError}
 */
export async function readPhoto(file, whole = true) {
  if (file.size === 0) throw new PhotoError(words("emptyPhoto", file.name));
  const bitmap = await decode(file);
  try {
    return new Photo(file.name, bitmap, whole);
  } finally {
    bitmap.close();
  }
}

/**
 * @param {File} file
 * @returns {Promise<ImageBitmap>}
 * @throws {PhotoError}
 */
async function decode(file) {
  /** @type {import("./header.js").Header | null} */
  let header = null;
  try {
    header = await readHeader(file);
    if (!header && isSvg(file)) return await drawSvg(file);
    if (!header || header.width * header.height <= MAX_PIXELS) {
      return await createImageBitmap(file, { imageOrientation: "from-image" });
    }
  } catch {
    if (header?.format === "HEIC") throw new PhotoError(words("heicPhoto", file.name));
    if (header) throw new PhotoError(words("damagedPhoto", file.name, header.format));
    throw new PhotoError(words("notPhoto", file.name, file.type));
  }
  const { width, height } = header;
  throw new PhotoError(words("largePhoto", file.name, width, height, MAX_PIXELS / 1e6));
}

/**
 * @param {number} width
 * @param {number} height
 */
function canvas(width, height) {
  return Object.assign(document.createElement("canvas"), { width, height });
}

/**
 * @param {HTMLCanvasElement} surface
 * @returns {CanvasRenderingContext2D}
 */
function context(surface) {
  // The pixels are read back, so keep them out of the GPU.
  const found = surface.getContext("2d", { willReadFrequently: true });
  if (!found) throw new PhotoError(words("noCanvas"));
  return found;
}

/**
 * Fill a canvas with a part of the picture, on white.
 * @param {HTMLCanvasElement} surface
 * @param {ImageBitmap | HTMLCanvasElement} bitmap
 * @param {number} left
 * @param {number} top
 * @param {number} width
 * @param {number} height
 */
function paint(surface, bitmap, left, top, width, height) {
  const brush = context(surface);
  brush.fillStyle = "#fff";
  brush.fillRect(0, 0, surface.width, surface.height);
  brush.imageSmoothingQuality = "high";
  brush.drawImage(bitmap, left, top, width, height, 0, 0, surface.width, surface.height);
}
