// @ts-check
/**
 * Tuning records (py/tallow/runtime/tuning.py), kept in IndexedDB by a scope and the adapter's name. The
 * scope is the address of the site whose records these are: another site of the same origin may be of
 * another version.
 */

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

/**
 * @param {string} scope
 * @param {string} adapter
 */
const keyOf = (scope, adapter) => `${scope} ${adapter}`;

/**
 * The record of an adapter, null if there is none; rejects with its reason if the browser
 * refuses storage.
 * @param {string} scope
 * @param {string} adapter
 * @returns {Promise<string | null>}
 */
export async function readTuning(scope, adapter) {
  const database = await open();
  try {
    const store = database.transaction(STORE).objectStore(STORE);
    const own = await done(store.get(keyOf(scope, adapter)));
    // Of a version that named no site.
    return own ?? (await done(store.get(adapter))) ?? null;
  } finally {
    database.close();
  }
}

/**
 * Keep the record of an adapter; rejects with its reason if the browser
 * refuses storage.
 * @param {string} scope
 * @param {string} adapter
 * @param {string} record
 * @returns {Promise<void>}
 */
export async function writeTuning(scope, adapter, record) {
  const database = await open();
  try {
    const store = database.transaction(STORE, "readwrite").objectStore(STORE);
    await done(store.put(record, keyOf(scope, adapter)));
  } finally {
    database.close();
  }
}
