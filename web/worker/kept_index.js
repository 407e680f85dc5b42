// @ts-check
/**
 * The index of the Find view, which the browser keeps for later visits (IndexedDB): the passages of
 * each file, and pieces of their vectors, one after the other. What is new is appended. Each write
 * is one transaction, so what a closed tab has left is whole; all bytes have a hash besides.
 */

import { digest, hex } from "../shared/bytes.js";
import { SITE } from "../site/fetch.js";

/**
 * @typedef {Uint8Array<ArrayBuffer>} Bytes
 *
 * @typedef {object} Piece
 * @property {string} name   of the file
 * @property {string} key    tells the file from others of its name, which another tab may keep
 * @property {number} at     the passage to which the first vector belongs
 * @property {Bytes} vectors
 * @property {string} model  that made them
 * @property {number} width  of each vector
 *
 * @typedef {object} Kept
 * @property {string} key
 * @property {Bytes | null} passages  null if they are damaged
 * @property {Piece[]} pieces   in their order, up to the first that is damaged
 * @property {boolean} damaged  whether one is
 */

/** An origin may have several sites, at other paths. */
const NAME = `tallow:find:1:${SITE.href}`;

/** @typedef {Record<"files" | "vectors", IDBObjectStore>} Stores */

/** The names of all files. */
export async function names() {
  const [found] = await transact("readonly", ({ files }) => [files.getAllKeys()]);
  return /** @type {string[]} */ (found);
}

/** @param {string} name @returns {Promise<Kept>} */
export async function kept(name) {
  const [file, all] = await transact("readonly", ({ files, vectors }) => [
    files.get(name),
    vectors.getAll(from(name, 0)),
  ]);
  const { key, passages, sum } = file ?? {}; // another tab may have forgotten it
  const isWhole = async (/** @type {Piece & {sum: string}} */ piece) =>
    piece.key === key && (await isOf(piece.sum, piece.vectors));
  let count = 0;
  while (count < all.length && (await isWhole(all[count]))) count += 1;
  return {
    key,
    passages: (await isOf(sum, passages)) ? passages : null,
    pieces: all.slice(0, count),
    damaged: count < all.length,
  };
}

/**
 * Keep a piece of a file's vectors, instead of all that are kept from there on; and its passages,
 * unless they are kept.
 * @param {Piece & {passages?: Bytes}} part
 * @throws {DOMException}  if the browser keeps nothing, or no more
 */
export async function keep({ passages, ...piece }) {
  const { name, key, at } = piece;
  const sum = await sumOf(piece.vectors);
  const file = passages && { name, key, passages, sum: await sumOf(passages) };
  await transact("readwrite", ({ files, vectors }) => {
    if (file) files.put(file);
    vectors.delete(from(name, at));
    return piece.vectors.length ? [vectors.put({ ...piece, sum })] : [];
  });
}

/** Forget a file; "" means all of them. @param {string} name */
export async function forget(name) {
  await transact("readwrite", ({ files, vectors }) =>
    name ? [files.delete(name), vectors.delete(from(name, 0))] : [files.clear(), vectors.clear()],
  );
}

/** The pieces of a file from a passage on. @param {string} name @param {number} at */
const from = (name, at) => IDBKeyRange.bound([name, at], [name, Infinity]);

/** @param {string} sum @param {Bytes} bytes */
const isOf = async (sum, bytes) => bytes instanceof Uint8Array && sum === (await sumOf(bytes));

/** @param {Bytes} bytes */
const sumOf = async (bytes) => hex(await digest(bytes));

/** @type {Promise<IDBDatabase> | null} */
let opening = null;

async function open() {
  const request = indexedDB.open(NAME, 3);
  request.onupgradeneeded = () => {
    const { result } = request;
    for (const store of [...result.objectStoreNames]) result.deleteObjectStore(store);
    result.createObjectStore("files", { keyPath: "name" });
    result.createObjectStore("vectors", { keyPath: ["name", "at"] });
  };
  const database = await resultOf(request);
  database.onversionchange = () => {
    database.close();
    opening = null;
  };
  return database;
}

/**
 * @param {IDBTransactionMode} mode
 * @param {(stores: Stores) => IDBRequest[]} use
 * @returns {Promise<any[]>}  the requests' results, once all is written
 */
async function transact(mode, use) {
  opening ??= open();
  opening.catch(() => (opening = null));
  const transaction = (await opening).transaction(["files", "vectors"], mode);
  const requests = use({
    files: transaction.objectStore("files"),
    vectors: transaction.objectStore("vectors"),
  });
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(requests.map(({ result }) => result));
    transaction.onabort = () => reject(transaction.error ?? new DOMException("", "AbortError"));
  });
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function resultOf(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
