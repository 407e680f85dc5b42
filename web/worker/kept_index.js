// @ts-check
/**
 * The index of the Find view, which the browser keeps for later visits (IndexedDB): a record for
 * each file, with its passages and their vectors. Records are written as a whole, and the vectors
 * have a hash.
 */

import { digest, hex } from "../shared/bytes.js";
import { SITE } from "../site/fetch.js";

/**
 * @typedef {object} Kept
 * @property {string} name      of the file
 * @property {string} passages  as JSON
 * @property {Uint8Array<ArrayBuffer>} vectors
 * @property {string} model     that made the vectors
 * @property {number} width     of each vector
 */

/** An origin may have several sites, at other paths. */
const NAME = `tallow:find:1:${SITE.href}`;

const STORE = "files";

/**
 * Everything that was kept. Vectors that were damaged are left out.
 * @returns {Promise<{files: Kept[], damaged: number}>}
 */
export async function all() {
  /** @type {(Kept & {sum: string})[]} */
  const records = await transact("readonly", (store) => store.getAll());
  let damaged = 0;
  const files = records.map(async ({ sum, ...file }) => {
    if (file.vectors instanceof Uint8Array && sum === (await sumOf(file))) return file;
    damaged += 1;
    return { ...file, vectors: new Uint8Array(0) };
  });
  return { files: await Promise.all(files), damaged };
}

/** Keep a file instead of the one of its name. @param {Kept} file @throws {DOMException} */
export async function keep(file) {
  const record = { ...file, sum: await sumOf(file) };
  await transact("readwrite", (store) => store.put(record));
}

/** Forget a file; "" means all of them. @param {string} name */
export async function forget(name) {
  await transact("readwrite", (store) => (name ? store.delete(name) : store.clear()));
}

/** @param {Kept} file */
const sumOf = async ({ vectors }) => hex(await digest(vectors));

/**
 * @template T
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest<T>} use
 * @returns {Promise<T>}  once it is written
 */
async function transact(mode, use) {
  const opening = indexedDB.open(NAME, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: "name" });
  const database = await resultOf(opening);
  try {
    const transaction = database.transaction(STORE, mode);
    const request = use(transaction.objectStore(STORE));
    return await new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error ?? request.error);
    });
  } finally {
    database.close();
  }
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
