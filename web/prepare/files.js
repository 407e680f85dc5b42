// @ts-check
/**
 * The files of a drop or a paste; of a folder, the pictures in it and in its folders.
 */

import { words } from "../said.js";
import { PhotoError } from "./photo.js";

/** Pictures by their name, for systems that know no type for them. */
const PICTURE = /\.(avif|bmp|gif|hei[cf]|jpe?g|png|svg|webp)$/i;

/**
 * @param {DataTransfer} transfer  of the event that is being handled: it is empty afterwards
 * @returns {Promise<File[]>}
 * @throws {PhotoError}  if there is no file, or no picture in the folders
 */
export async function filesOf(transfer) {
  const given = [...transfer.items]
    .filter(({ kind }) => kind === "file")
    .map((item) => {
      const entry = item.webkitGetAsEntry?.();
      return entry?.isDirectory ? entry : item.getAsFile();
    });
  /** @type {File[]} */
  const files = [];
  /** @type {string[]} */
  const folders = [];
  for (const one of given) {
    if (one instanceof File) files.push(one);
    else if (one) {
      folders.push(one.name);
      for await (const file of inside(one)) {
        if (file.type.startsWith("image/") || PICTURE.test(file.name)) files.push(file);
      }
    }
  }
  if (!files.length) {
    throw new PhotoError(
      folders.length ? words("noPictures", folders.join(", ")) : words("noFile"),
    );
  }
  return files;
}

/**
 * Every file in a folder and its folders, by name.
 * @param {FileSystemEntry} entry
 * @returns {AsyncGenerator<File>}
 */
async function* inside(entry) {
  if (entry.isFile) {
    const file = /** @type {FileSystemFileEntry} */ (entry);
    yield await new Promise((resolve, reject) => file.file(resolve, reject));
    return;
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  /** @type {FileSystemEntry[]} */
  const entries = [];
  for (;;) {
    // A folder is told in parts, of a hundred in Chromium; the last part is empty.
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!part.length) break;
    entries.push(...part);
  }
  entries.sort((one, other) => one.name.localeCompare(other.name, "en", { numeric: true }));
  for (const one of entries) yield* inside(one);
}
