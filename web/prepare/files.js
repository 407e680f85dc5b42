// @ts-check
/**
 * The files of a drop or a paste: each with the folders that it lies in, or the pictures alone.
 */

import { words } from "../i18n/messages.js";
import { PhotoError } from "./photo.js";

/**
 * @typedef {object} Given  a file of the visitor's
 * @property {File} file
 * @property {string} path  its name, behind the folders that were given with it
 * @property {boolean} alone  whether it came by itself, in no folder
 */

/** @param {File} file  that was chosen, by itself or in a folder @returns {Given} */
export function givenAs(file) {
  const path = file.webkitRelativePath;
  return { file, path: path || file.name, alone: !path };
}

/** Pictures by their name, for systems that know no type for them. */
const PICTURE = /\.(avif|bmp|gif|hei[cf]|jpe?g|png|svg|webp)$/i;

/**
 * @param {DataTransfer} transfer  of the event that is being handled: it is empty afterwards
 * @returns {Promise<File[]>}
 * @throws {PhotoError}  if there is no file, or no picture in the folders
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
 * Every file, those in folders too.
 * @param {DataTransfer} transfer  of the event that is being handled: it is empty afterwards
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
 * Every file in a folder and its folders, by name.
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
    // A folder is told in parts, of a hundred in Chromium; the last part is empty.
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!part.length) break;
    entries.push(...part);
  }
  entries.sort((one, other) => one.name.localeCompare(other.name, "en", { numeric: true }));
  for (const one of entries) yield* inside(one);
}
