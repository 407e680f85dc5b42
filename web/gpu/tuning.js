// @ts-check
/**
 * Stores tuning records (py/tallow/devices/webgpu/tuning.py) in IndexedDB, one for each scope and adapter.
 * The scope is the address of a site, because the sites of an origin may have different versions of
 * Tallow.
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
    // Some browsers give no error or an empty message, others "The operation is insecure."
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
 * Read the record of an adapter. Rejects with the browser's reason if it refuses storage.
 * @param {string} scope
 * @param {string} adapter
 * @returns {Promise<string | null>}  null if there is none
 */
export async function readTuning(scope, adapter) {
  const database = await open();
  try {
    const store = database.transaction(STORE).objectStore(STORE);
    const record = await done(store.get(keyOf(scope, adapter)));
    // Earlier versions stored records without a scope.
    return record ?? (await done(store.get(adapter))) ?? null;
  } finally {
    database.close();
  }
}

/**
 * Store the record of an adapter. Rejects with the browser's reason if it refuses storage.
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
