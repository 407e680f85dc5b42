// @ts-check
/**
 * The visitor's own classes and their examples, which the browser keeps (IndexedDB). The page adds
 * and removes them, the worker reads them.
 */

import { SITE } from "./fetch.js";

/**
 * @typedef {"signs" | "pictures" | "sounds"} Kind
 * @typedef {{number: number, kind: Kind, name: string, removed?: boolean}} Class  removed: until
 *   the visitor can no longer undo that
 *
 * @typedef {object} Example
 * @property {number} number
 * @property {number} label    number of its class
 * @property {Blob | Uint8Array<ArrayBuffer>} content  of pictures, an image file; of signs, 28 * 28
 *   bytes, 0 for paper; of sounds, the bytes of 16,000 int16 samples
 * @property {Uint8Array<ArrayBuffer>} [computed]  what py/tallow_page/train/own.py made of it
 */

/** The site's network whose features pictures become. */
export const NETWORK = "efficientnet_lite0";

/** An origin may have several sites, at other paths. */
const NAME = `tallow:train:1:${SITE.href}`;

/** @type {Promise<IDBDatabase> | null} */
let opening = null;

/** Examples that wait to be written. @type {{example: object, resolve: (key: any) => void, reject: (why: unknown) => void}[]} */
let waiting = [];

/** Whether `write` is running. */
let writing = false;

/** @returns {Promise<IDBDatabase>} */
function database() {
  opening ??= open();
  opening.catch(() => (opening = null));
  return opening;
}

async function open() {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => {
    const { result } = request;
    const key = { keyPath: "number", autoIncrement: true };
    result.createObjectStore("classes", key);
    result.createObjectStore("examples", key).createIndex("label", "label");
    result.createObjectStore("texts");
  };
  const found = await resultOf(request);
  found.onversionchange = () => {
    found.close();
    opening = null;
  };
  return found;
}

/**
 * @template T
 * @param {IDBTransactionMode} mode
 * @param {(stores: Record<"classes" | "examples" | "texts", IDBObjectStore>) => IDBRequest<T>} use
 *   the result of its last request
 * @returns {Promise<T>}  once it is written
 * @throws {DOMException}  QuotaExceededError if nothing more fits
 */
async function transact(mode, use) {
  const transaction = (await database()).transaction(["classes", "examples", "texts"], mode);
  const store = (/** @type {string} */ name) => transaction.objectStore(name);
  const stores = {
    classes: store("classes"),
    examples: store("examples"),
    texts: store("texts"),
  };
  /** @type {IDBRequest<T>} */
  let request;
  try {
    request = use(stores);
  } catch (error) {
    transaction.abort(); // all of it is written, or nothing
    throw error;
  }
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = () => reject(transaction.error ?? request.error);
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

/** In the order in which they were added. @param {Kind} kind @returns {Promise<Class[]>} */
export async function classesOf(kind) {
  /** @type {Class[]} */
  const all = await transact("readonly", ({ classes }) => classes.getAll());
  return all.filter((each) => each.kind === kind && !each.removed);
}

/** @param {Kind} kind @param {string} name @returns {Promise<Class>} */
export async function addClass(kind, name) {
  const number = await transact("readwrite", ({ classes }) => classes.add({ kind, name }));
  return { number: /** @type {number} */ (number), kind, name };
}

/** Change a class. @param {Class} changed */
export async function putClass(changed) {
  await transact("readwrite", ({ classes }) => classes.put(changed));
}

/** Delete the removed classes, with all of their examples. */
export async function purge() {
  /** @type {Class[]} */
  const all = await transact("readonly", ({ classes }) => classes.getAll());
  for (const { number } of all.filter(({ removed }) => removed)) {
    await transact("readwrite", ({ classes, examples }) => {
      const cursor = examples.index("label").openKeyCursor(number);
      cursor.onsuccess = () => {
        if (!cursor.result) return;
        examples.delete(cursor.result.primaryKey);
        cursor.result.continue();
      };
      return classes.delete(number);
    });
  }
}

/** The numbers of a class's examples, the oldest first. @param {number} label */
export async function numbersOf(label) {
  const keys = await transact("readonly", ({ examples }) =>
    examples.index("label").getAllKeys(label),
  );
  return /** @type {number[]} */ (keys);
}

/**
 * @param {number} label
 * @param {Example["content"]} content
 * @returns {Promise<number>}  its number
 * @throws {DOMException}  QuotaExceededError if nothing more fits
 */
export function addExample(label, content) {
  const added = new Promise((resolve, reject) =>
    waiting.push({ example: { label, content }, resolve, reject }),
  );
  if (!writing) void write();
  return /** @type {Promise<number>} */ (added);
}

/** Write the examples that wait, in one transaction, and those that come meanwhile in the next. */
async function write() {
  writing = true;
  while (waiting.length) {
    const some = waiting;
    waiting = [];
    /** @type {IDBRequest<IDBValidKey>[]} */
    let requests = [];
    try {
      await transact("readwrite", ({ examples }) => {
        requests = some.map(({ example }) => examples.add(example));
        return requests[0];
      });
      for (const [at, { resolve }] of some.entries()) resolve(requests[at].result);
    } catch (error) {
      for (const { reject } of some) reject(error);
    }
  }
  writing = false;
}

/** @param {number} number @returns {Promise<Example | undefined>} */
export function exampleOf(number) {
  return transact("readonly", ({ examples }) => examples.get(number));
}

/** Keep what was computed of an example, unless it was removed. @param {number} number @param {Uint8Array<ArrayBuffer>} computed */
export async function keepComputed(number, computed) {
  await transact("readwrite", ({ examples }) => {
    const request = examples.get(number);
    request.addEventListener("success", () => {
      if (request.result) examples.put({ ...request.result, computed });
    });
    return request;
  });
}

/** Put an example back, or change its class. @param {Example} example */
export async function putExample(example) {
  await transact("readwrite", ({ examples }) => examples.put(example));
}

/** @param {number} number */
export async function removeExample(number) {
  await transact("readwrite", ({ examples }) => examples.delete(number));
}

/** The text to learn from. @returns {Promise<{name: string, text: string} | undefined>} */
export const keptText = () => transact("readonly", ({ texts }) => texts.get("text"));

/** @param {string} name @param {string} text */
export async function keepText(name, text) {
  await transact("readwrite", ({ texts }) => texts.put({ name, text }, "text"));
}

/**
 * How many more bytes the browser keeps for this site.
 * @returns {Promise<number>}  Infinity if it does not tell
 */
export async function room() {
  const { quota, usage } = (await navigator.storage?.estimate?.().catch(() => null)) ?? {};
  return quota === undefined ? Infinity : Math.max(0, quota - (usage ?? 0));
}
