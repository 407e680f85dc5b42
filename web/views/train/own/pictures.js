// @ts-check
/**
 * The visitor's pictures: found in files, folders and zips, decoded by the photographs' worker and
 * kept as small image files, as the network for photographs sees them.
 */

import { readPhoto } from "../../../engine/photo.js";

/** @typedef {import("../../../engine/engine.js").Engine} Engine */
/** @typedef {import("../../../prepare/files.js").Given} Given */
/** @typedef {{file: File, label: string}} Found  label: the folder's name; "" if there is none */

const PICTURE = /\.(jpe?g|png|webp|gif|bmp|avif|svg|heic|heif|tiff?)$/i;
const ZIP = /\.zip$/i;

/** Bytes that are kept of a picture, its features among them, at most. */
export const PICTURE_BYTES = 60_000;

/** @param {string} path  of a file within folders */
const folderOf = (path) => path.split("/").at(-2) ?? "";

/** Files that systems add to folders. @param {string} path */
const isHidden = (path) => path.split("/").some((part) => /^(\.|__MACOSX$|Thumbs\.db$)/.test(part));

/** @param {File} file */
const isZip = ({ name, type }) => ZIP.test(name) || type === "application/zip";

/**
 * The visitor's pictures, one after the other.
 * @param {Given[]} given
 * @param {Engine} engine
 * @returns {AsyncGenerator<Found>}
 * @throws {Error}  for a zip that is damaged
 */
export async function* found(given, engine) {
  for (const { file, path, alone } of given) {
    if (isHidden(path)) continue;
    if (isZip(file)) yield* zipped(file, engine);
    else yield { file, label: alone ? "" : folderOf(path) };
  }
}

/**
 * The pictures in a zip, which the worker's Python reads.
 * @param {File} file
 * @param {Engine} engine
 * @returns {AsyncGenerator<Found>}
 */
async function* zipped(file, engine) {
  const { name } = file;
  /** @type {string[]} */
  const paths = await engine.ask("train.zip", { file });
  for (const [number, path] of paths.entries()) {
    if (isHidden(path) || !PICTURE.test(path)) continue;
    const content = await engine.ask("train.unzip", { name, number });
    yield { file: new File([content], path), label: folderOf(path) };
  }
}

/**
 * A picture as the network sees it, as a small image file.
 * @param {File} file
 * @param {{size: number, crop: number}} preprocess  of the network's card
 * @returns {Promise<Blob>}
 * @throws {import("../../../prepare/photo_error.js").PhotoError}  for what is no picture
 */
export async function seen(file, preprocess) {
  const photo = await readPhoto(file, preprocess);
  photo.close();
  const { size } = preprocess;
  const surface = new OffscreenCanvas(size, size);
  const brush = surface.getContext("2d", { willReadFrequently: true });
  brush?.putImageData(new ImageData(await photo.pixels(preprocess), size, size), 0, 0);
  return surface.convertToBlob({ type: "image/jpeg", quality: 0.92 });
}
