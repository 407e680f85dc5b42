// @ts-check
/**
 * From an image file to the pixels that an image model wants: decoded upright, its middle square
 * on white, scaled so that the centre crop is the model's size.
 */

import { LocalizedError, words } from "../i18n/messages.js";
import { readHeader } from "./header.js";
import { scale, scaleAndCrop } from "./resample.js";
import { drawSvg, isSvg } from "./svg.js";

/**
 * Side that a large picture is first brought to by the browser, which is fast: four times what the
 * models look at, so that the careful scaling after it still decides how the pixels look.
 */
const STAGE = 1024;

/**
 * Most pixels of a picture that is decoded, which takes four bytes for each. Browsers refuse more at
 * limits of their own, or have the tab die of it.
 */
const LARGEST = 128e6;

/** Longest side of the picture that is shown. */
const SHOWN = 960;

/** @typedef {{size: number, crop: number}} Preprocess  of a model's card */

/** A file that is not a picture, in words that name it. */
export class PhotoError extends LocalizedError {
  name = "PhotoError";
}

/** A decoded picture: the square in its middle that models look at, and what is shown of it. */
export class Photo {
  #square;

  /**
   * @param {string} name
   * @param {ImageBitmap} bitmap
   * @param {boolean} whole  whether the picture itself is wanted, and not only its square
   */
  constructor(name, bitmap, whole) {
    const { width, height } = bitmap;
    const side = Math.min(width, height);
    this.name = name;
    this.width = width;
    this.height = height;
    const scale = Math.min(1, SHOWN / Math.max(width, height));
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
   * The pixels for a model.
   * @param {Preprocess} preprocess
   * @returns {Uint8ClampedArray<ArrayBuffer>}  RGBA, size * size * 4, opaque
   */
  pixels({ size, crop }) {
    const { width } = this.#square;
    const { data } = context(this.#square).getImageData(0, 0, width, width);
    return scaleAndCrop(data, width, Math.max(size, Math.round(size / crop)), size);
  }

  /**
   * The pixels for a model that takes pictures of any sides.
   * @param {number} width
   * @param {number} height
   * @param {boolean} whole  the whole picture, out of shape if need be, and not its middle
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

  /** Give the memory back at once; whoever goes through hundreds can't wait. */
  close() {
    for (const surface of [this.#square, this.picture]) surface.width = surface.height = 0;
  }
}

/**
 * Decode an image file, turned upright by its EXIF orientation.
 * @param {File} file
 * @param {boolean} [whole]  whether the picture itself is wanted, and not only its middle square
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
    if (!header || header.width * header.height <= LARGEST) {
      return await createImageBitmap(file, { imageOrientation: "from-image" });
    }
  } catch {
    if (header?.format === "HEIC") throw new PhotoError(words("heicPhoto", file.name));
    if (header) throw new PhotoError(words("damagedPhoto", file.name, header.format));
    throw new PhotoError(words("notPhoto", file.name, file.type));
  }
  const { width, height } = header;
  throw new PhotoError(words("largePhoto", file.name, width, height, LARGEST / 1e6));
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
  // The pixels are read back once, or never: keep them out of the GPU.
  const found = surface.getContext("2d", { willReadFrequently: true });
  if (!found) throw new PhotoError(words("noCanvas"));
  return found;
}

/**
 * Fill a canvas with a part of the picture, on white where that is transparent.
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
