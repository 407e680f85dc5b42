// @ts-check
/**
 * Decodes image files upright, crops them to their middle square on white, and scales them: what
 * worker/photographs.js does for photo.js.
 */

import { words } from "../i18n/messages.js";
import { PhotoError } from "./photo_error.js";
import { readHeader } from "./header.js";
import { scale, scaleAndCrop } from "./resample.js";

/**
 * @typedef {{size: number, crop: number}} Preprocess  of a model's card
 * @typedef {{data: Uint8ClampedArray<ArrayBuffer>, side: number}} Square  RGBA, opaque
 */

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

/**
 * @param {File} file
 * @returns {Promise<ImageBitmap>}  turned upright by its EXIF orientation
 * @throws {PhotoError}
 */
export async function decode(file) {
  /** @type {import("./header.js").Header | null} */
  let header = null;
  try {
    header = await readHeader(file);
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

/** The middle square of a picture. @param {ImageBitmap} bitmap @returns {Square} */
export function squareOf(bitmap) {
  const { surface, brush } = middle(bitmap, STAGE);
  const side = surface.width;
  return { data: brush.getImageData(0, 0, side, side).data, side };
}

/**
 * Paint the middle square of a picture.
 * @param {ImageBitmap} bitmap
 * @param {number} longest  its side at most
 */
export function middle(bitmap, longest) {
  const { width, height } = bitmap;
  const side = Math.min(width, height);
  const [left, top] = [Math.floor((width - side) / 2), Math.floor((height - side) / 2)];
  const stage = Math.min(side, longest);
  return painted(stage, stage, bitmap, left, top, side, side);
}

/**
 * The input of a classifier.
 * @param {Square} square
 * @param {Preprocess} preprocess
 * @returns {Uint8ClampedArray<ArrayBuffer>}  RGBA, size * size * 4, opaque
 */
export function inputOf({ data, side }, { size, crop }) {
  return scaleAndCrop(data, side, Math.max(size, Math.round(size / crop)), size);
}

/**
 * Paint a whole picture.
 * @param {ImageBitmap} bitmap
 * @param {number} longest  of its sides at most
 */
export function shrunk(bitmap, longest) {
  const { width, height } = bitmap;
  const by = Math.min(1, longest / Math.max(width, height));
  const [across, down] = [width, height].map((side) => Math.max(1, Math.floor(side * by)));
  return painted(across, down, bitmap, 0, 0, width, height);
}

/**
 * The input of a model that takes pictures of any size.
 * @param {ImageBitmap} bitmap
 * @param {object} wanted
 * @param {number} wanted.longest  side of the picture that is scaled, at most
 * @param {number} wanted.width
 * @param {number} wanted.height
 * @param {boolean} wanted.whole  true: stretch the whole picture; false: crop its middle
 * @returns {Uint8ClampedArray<ArrayBuffer>}  RGBA, width * height * 4, opaque
 */
export function scaledTo(bitmap, { longest, width, height, whole }) {
  const { surface, brush } = shrunk(bitmap, longest);
  const { width: across, height: down } = surface;
  const part = Math.min(across / width, down / height);
  const w = whole ? across : Math.max(1, Math.round(part * width));
  const h = whole ? down : Math.max(1, Math.round(part * height));
  const [left, top] = [Math.floor((across - w) / 2), Math.floor((down - h) / 2)];
  return scale(brush.getImageData(left, top, w, h), width, height);
}

/**
 * A part of a picture, on white.
 * @param {number} across
 * @param {number} down
 * @param {ImageBitmap} bitmap
 * @param {number} left
 * @param {number} top
 * @param {number} width
 * @param {number} height
 */
function painted(across, down, bitmap, left, top, width, height) {
  const surface = new OffscreenCanvas(across, down);
  // The pixels are read back, so keep them out of the GPU.
  const brush = surface.getContext("2d", { willReadFrequently: true });
  if (!brush) throw new PhotoError(words("noCanvas"));
  brush.fillStyle = "#fff";
  brush.fillRect(0, 0, across, down);
  brush.imageSmoothingQuality = "high";
  brush.drawImage(bitmap, left, top, width, height, 0, 0, across, down);
  return { surface, brush };
}
