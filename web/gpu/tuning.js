// @ts-check
/**
 * Tuning records (py/tallow/tuning.py), kept in IndexedDB by the adapter's name: those of this site,
 * since another one of the same origin may be of another version.
 */

import { SITE } from "../shared/fetch.js";

const DATABASE = "tallow";
const STORE = "tuning";

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** @returns {Promise<IDBDatabase>} */
async function open() {
  try {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    return await done(request);
  } catch (error) {
    // What browsers say of it ranges from nothing at all to "The operation is insecure."
    const { message, name } = /** @type {Error} */ (error ?? new Error());
    throw new Error(message || name);
  }
}

/** @param {string} adapter */
const keyOf = (adapter) => `${SITE.href} ${adapter}`;

/**
 * The record of an adapter, null if there is none; rejects with its reason if the browser
 * refuses storage.
 * @param {string} adapter
 * @returns {Promise<string | null>}
 */
export async function readTuning(adapter) {
  const database = await open();
  try {
    const store = database.transaction(STORE).objectStore(STORE);
    const own = await done(store.get(keyOf(adapter)));
    // Of a version that named no site.
    return own ?? (await done(store.get(adapter))) ?? null;
  } finally {
    database.close();
  }
}

/**
 * Keep the record of an adapter; rejects with its reason if the browser
 * refuses storage.
 * @param {string} adapter
 * @param {string} record
 * @returns {Promise<void>}
 */
export async function writeTuning(adapter, record) {
  const database = await open();
  try {
    const store = database.transaction(STORE, "readwrite").objectStore(STORE);
    await done(store.put(record, keyOf(adapter)));
  } finally {
    database.close();
  }
}
