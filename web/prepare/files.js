// @ts-check
/** Gets the files of a drop or a paste: all of them with their folders, or only the pictures. */

import { words } from "../i18n/messages.js";
import { PhotoError } from "./photo_error.js";

/**
 * @typedef {object} Given  one of the visitor's files
 * @property {File} file
 * @property {string} path  its name, after the folders that were given with it
 * @property {boolean} alone  whether it was given without a folder
 */

/** @param {File} file  that was chosen, alone or in a folder @returns {Given} */
export function givenAs(file) {
  const path = file.webkitRelativePath;
  return { file, path: path || file.name, alone: !path };
}

/** Names of pictures, for systems that do not know their type. */
const PICTURE = /\.(avif|bmp|gif|hei[cf]|jpe?g|png|svg|webp)$/i;

/**
 * @param {DataTransfer} transfer  of the current event; it is empty afterwards
 * @returns {Promise<File[]>}
 * @throws {PhotoError}  if there is no file, or the folders contain no picture
 */
export async function filesOf(transfer) {
  /** @type {File[]} */
  const files = [];
  /** @type {string[]} */
  const folders = [];
  for (const one of itemsOf(transfer)) {
    if (one instanceof File) files.push(one);
    else {
      folders.push(one.name);
      for await (const { file } of inside(one)) {
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
 * All files, including those in folders.
 * @param {DataTransfer} transfer  of the current event; it is empty afterwards
 * @returns {Promise<Given[]>}
 */
export async function everyFile(transfer) {
  /** @type {Given[]} */
  const files = [];
  for (const one of itemsOf(transfer)) {
    if (one instanceof File) files.push(givenAs(one));
    else for await (const given of inside(one)) files.push(given);
  }
  return files;
}

/** @param {DataTransfer} transfer @returns {(File | FileSystemEntry)[]}  an entry is a folder */
function itemsOf(transfer) {
  return [...transfer.items]
    .filter(({ kind }) => kind === "file")
    .map((item) => {
      const entry = item.webkitGetAsEntry?.();
      return entry?.isDirectory ? entry : item.getAsFile();
    })
    .filter((item) => item !== null);
}

/**
 * All files in a folder and its subfolders, sorted by name.
 * @param {FileSystemEntry} entry
 * @returns {AsyncGenerator<Given>}
 */
async function* inside(entry) {
  if (entry.isFile) {
    const reader = /** @type {FileSystemFileEntry} */ (entry);
    /** @type {File} */
    const file = await new Promise((resolve, reject) => reader.file(resolve, reject));
    yield { file, path: entry.fullPath.replace(/^\//, ""), alone: false };
    return;
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  /** @type {FileSystemEntry[]} */
  const entries = [];
  for (;;) {
    // The entries come in batches, of a hundred in Chromium; the last batch is empty.
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!part.length) break;
    entries.push(...part);
  }
  entries.sort((one, other) => one.name.localeCompare(other.name, "en", { numeric: true }));
  for (const one of entries) yield* inside(one);
}
