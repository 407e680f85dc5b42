// @ts-check
/**
 * Compiled plans with their weights, saved in the browser's cache storage for later visits. Each
 * plan is one entry. Its key is a hash of everything that the plan depends on.
 *
 * An entry consists of parts: first a text (py/tallow/compile/plan_serialization.py), then some
 * weights each. A part begins with its length and its SHA-256, so damage is detected when it is
 * read. A second entry notes when the first was last used.
 *
 * Entries are written and deleted as a whole. If tabs write or delete the same entry at the same
 * time, at worst it is not found.
 */

import { digest, hex, joined } from "../../shared/bytes.js";
import { SITE } from "../../site/fetch.js";
import { LocalizedError, words } from "../../i18n/messages.js";
import { reportStage } from "../stage.js";

/**
 * @typedef {object} Key
 * @property {string} build  of Tallow; plans of other builds can't be used
 * @property {string} hash   of the build and everything else that the plan depends on
 *
 * @typedef {object} SavedPlan  a saved plan
 * @property {string} text
 * @property {{plan: import("../../gpu/program.js").Plan, weights: [number, string, number[], number][],
 *   facts: object}} record  the parsed text
 * @property {SavedWeights} weights
 * @property {number} bytes
 */

/**
 * Named after the version of the format and the site: an origin may have several sites, at other
 * paths.
 */
const CACHE = `tallow:plans:3:${SITE.href}`;

/** The name of such a cache, of any version; the group is its site. */
const NAME = /^tallow:plans:\d+:(.*)$/;

/** Caches of older versions, which all sites of an origin shared. */
const SHARED = /^tallow-plans-\d+$/;

const PLANS = new URL("plans/", SITE).href;

/** The rest of the URL of an entry, or of the note of its last use. */
const ENTRY = /^[0-9a-f]{64}\/[0-9a-f]{64}(\?used)?$/;

/** Limits for all plans together: bytes, and a share of the browser's quota. */
const MAX_BYTES = 200e6;
const MAX_SHARE = 0.25;

/**
 * A part ends after this many bytes of weights. Smaller parts would mean waiting for more hashes.
 */
const PART_BYTES = 1 << 20;

/** Bytes at the beginning of a part: its length as a 32-bit word, and its SHA-256. */
const HEAD = 4 + 32;

/** A saved plan was changed or cut short. */
class DamagedError extends LocalizedError {
  name = "DamagedError";

  constructor() {
    super(words("planDamaged"));
  }
}

/** Whether the page was informed that nothing can be saved. */
let reported = false;

/** Whether the browser can save plans for this site. If not, the boot log says so once. */
export function storable() {
  if (globalThis.caches && globalThis.crypto?.subtle) return true;
  const why = words(globalThis.isSecureContext ? "noStorage" : "insecure");
  if (!reported) reportStage("storage", { why }, "failed", performance.now());
  reported = true;
  return false;
}

/**
 * The key of a plan; null if the browser can't save it.
 * @param {string} build     identifies this build of Tallow
 * @param {...unknown} about  everything else that the plan depends on
 * @returns {Promise<Key | null>}
 */
export async function keyOf(build, ...about) {
  if (!storable()) return null;
  const encode = (/** @type {unknown} */ value) => new TextEncoder().encode(JSON.stringify(value));
  const [buildHash, hash] = await Promise.all([
    digest(encode(build)),
    digest(encode([build, ...about])),
  ]);
  return { build: hex(buildHash), hash: hex(hash) };
}

// Why: docs/decisions/without-python.md, "Whether Python may wait is decided by the name of a
// cache"
/** Whether any plan may have been saved. */
export async function anySaved() {
  try {
    return await caches.has(CACHE);
  } catch {
    return false; // no storage here
  }
}

/**
 * Find a saved plan. Its weights are read and checked afterwards.
 * @param {Key} key
 * @returns {Promise<SavedPlan | null>}
 * @throws {Error}  of any kind, if it can't be read
 */
export async function find(key) {
  const cache = await caches.open(CACHE);
  const response = await cache.match(address(key));
  if (!response) return null;
  if (!response.body) throw new DamagedError();
  const parts = new Parts(response.body.getReader());
  const text = new TextDecoder().decode(await parts.next());
  const record = JSON.parse(text);
  const sizes = record.weights.map((/** @type {any[]} */ weight) => weight[3]);
  const bytes = sizes.reduce((/** @type {number} */ sum, /** @type {number} */ n) => sum + n, 0);
  // Not awaited: at worst, the entry seems older than it is and is deleted too early.
  noteUse(cache, key, text.length + bytes).catch(() => {});
  return { text, record, weights: new SavedWeights(parts, sizes), bytes: text.length + bytes };
}

/**
 * Save a plan. It replaces an older one with the same key, and deletes the least recently used
 * plans if there is not enough room.
 * @param {Key} key
 * @param {string} text
 * @param {number[]} sizes  of the weights
 * @param {(index: number) => Uint8Array<ArrayBuffer>} weight  copies a weight
 * @returns {Promise<boolean>}  false if it is too large
 * @throws {Error}  of any kind if the browser refuses; then nothing was saved
 */
export async function save(key, text, sizes, weight) {
  const cache = await caches.open(CACHE);
  const bytes = sizes.reduce((sum, size) => sum + size, text.length);
  if (!(await makeRoom(cache, key, bytes))) return false;
  const parts = contents(text, sizes, weight);
  /** @type {{error: unknown} | null} */
  let failed = null;
  const body = new ReadableStream(
    {
      pull: async (stream) => {
        try {
          const { done, value: part } = parts.next();
          if (done) return stream.close();
          const head = new Uint8Array(HEAD);
          new DataView(head.buffer).setUint32(0, part.length);
          head.set(await digest(part), 4);
          stream.enqueue(head);
          return stream.enqueue(part);
        } catch (error) {
          // The stream ends early instead of failing: Firefox reports the failure of a stream
          // as uncaught, although `put` fails too and is caught.
          failed = { error };
          return stream.close();
        }
      },
    },
    { highWaterMark: 0 },
  );
  await noteUse(cache, key, bytes);
  await cache.put(address(key), new Response(body));
  if (failed === null) return true;
  await forget(key);
  throw /** @type {{error: unknown}} */ (failed).error;
}

/**
 * The contents of an entry's parts.
 * @param {string} text
 * @param {number[]} sizes
 * @param {(index: number) => Uint8Array<ArrayBuffer>} weight
 * @returns {Generator<Uint8Array<ArrayBuffer>, void>}
 */
function* contents(text, sizes, weight) {
  yield new TextEncoder().encode(text);
  for (let index = 0; index < sizes.length;) {
    const end = endOfPart(sizes, index);
    /** @type {Uint8Array[]} */
    const weights = [];
    let bytes = 0;
    for (; index < end; index++) {
      if (!sizes[index]) continue; // it is in the visitor's own file
      weights.push(weight(index));
      bytes += sizes[index];
    }
    yield joined(weights, bytes);
  }
}

/**
 * @param {number[]} sizes
 * @param {number} begin  the index of the first weight of a part
 * @returns {number}  the index of the first weight of the next part
 */
function endOfPart(sizes, begin) {
  let end = begin;
  for (let bytes = 0; end < sizes.length && bytes < PART_BYTES; end++) bytes += sizes[end];
  return end;
}

/**
 * Delete a saved plan.
 * @param {Key} key
 */
export async function forget(key) {
  const cache = await caches.open(CACHE);
  await cache.delete(address(key));
  await cache.delete(useOf(address(key)));
}

/**
 * Whether an error can come from a damaged or outdated plan. If the device was lost or has too little
 * memory, the plan is not to blame: it serves the next try.
 * @param {unknown} error
 */
export const mayBePlansFault = (error) =>
  !["DeviceLostError", "OutOfMemoryError"].includes(/** @type {Error} */ (error).name);

/** The weights of an entry, by index. */
export class SavedWeights {
  #parts;
  #sizes;
  #read = 0;
  /** @type {Map<number, Uint8Array>} */
  #held = new Map();

  /**
   * @param {Parts} parts
   * @param {number[]} sizes
   */
  constructor(parts, sizes) {
    this.#parts = parts;
    this.#sizes = sizes;
  }

  get count() {
    return this.#sizes.length;
  }

  /** Bytes of each weight. */
  get sizes() {
    return this.#sizes;
  }

  /**
   * Resolves once this weight was read. One call at a time.
   * @param {number} index
   * @throws {Error}  if it is damaged or was deleted
   */
  async ready(index) {
    while (this.#read <= index) {
      const end = endOfPart(this.#sizes, this.#read);
      const part = await this.#parts.next();
      let offset = 0;
      for (; this.#read < end; this.#read++) {
        const next = offset + this.#sizes[this.#read];
        this.#held.set(this.#read, part.subarray(offset, next));
        offset = next;
      }
      if (part.length !== offset) throw new DamagedError();
    }
  }

  /**
   * Hand over a weight that is ready, and free it.
   * @param {number} index
   * @param {(bytes: Uint8Array) => void} use
   */
  lend(index, use) {
    use(/** @type {Uint8Array} */ (this.#held.get(index)));
    this.#held.delete(index);
  }
}

/** The parts of an entry, one after the other. */
class Parts {
  #reader;
  /** Bytes read after the last part. */
  #rest = new Uint8Array();

  /** @param {ReadableStreamDefaultReader<Uint8Array>} reader */
  constructor(reader) {
    this.#reader = reader;
  }

  /** @returns {Promise<Uint8Array<ArrayBuffer>>} */
  async next() {
    const head = await this.#take(HEAD);
    const part = await this.#take(new DataView(head.buffer).getUint32(0));
    if (hex(await digest(part)) !== hex(head.subarray(4))) throw new DamagedError();
    return part;
  }

  /** @param {number} length  may be wrong in a damaged entry, so no memory is reserved for it */
  async #take(length) {
    /** @type {Uint8Array[]} */
    const pieces = [];
    for (let missing = length; missing > 0;) {
      if (!this.#rest.length) {
        const { done, value } = await this.#reader.read();
        if (done) throw new DamagedError();
        this.#rest = /** @type {Uint8Array<ArrayBuffer>} */ (value);
      }
      const piece = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(piece.length);
      pieces.push(piece);
      missing -= piece.length;
    }
    return joined(pieces, length);
  }
}

/**
 * Delete plans of other builds and, if there is not enough room, the least recently used ones.
 * @param {Cache} cache
 * @param {Key} key
 * @param {number} bytes  of the new entry
 * @returns {Promise<boolean>}  whether there is room
 */
async function makeRoom(cache, key, bytes) {
  await dropOldFormats();
  const { quota = Infinity } = (await navigator.storage?.estimate?.()) ?? {};
  const limit = Math.min(MAX_BYTES, MAX_SHARE * quota);
  if (bytes > limit) return false;
  const own = address(key);
  const urls = (await cache.keys()).map(({ url }) => url);
  /** @type {{url: string, bytes: number, used: number}[]} */
  const others = [];
  for (const url of urls.filter((each) => !each.includes("?") && each !== own)) {
    const use = await cache.match(useOf(url));
    const known = await use?.json().catch(() => null);
    others.push({ url, bytes: known?.bytes ?? 0, used: known?.used ?? 0 });
  }
  others.sort((one, other) => one.used - other.used);
  let total = others.reduce((sum, entry) => sum + entry.bytes, bytes);
  for (const entry of others) {
    if (total <= limit && entry.url.startsWith(folder(key))) continue;
    total -= entry.bytes;
    await cache.delete(entry.url);
    await cache.delete(useOf(entry.url));
  }
  return true;
}

/** Delete what earlier versions of this site saved in other formats. */
async function dropOldFormats() {
  for (const name of await caches.keys()) {
    if (SHARED.test(name)) await dropFromShared(name);
    else if (name !== CACHE && NAME.exec(name)?.[1] === SITE.href) await caches.delete(name);
  }
}

/** Delete this site's entries. @param {string} name  of a cache that other sites may use too */
async function dropFromShared(name) {
  const cache = await caches.open(name);
  const all = await cache.keys();
  const own = all.filter(({ url }) => url.startsWith(PLANS) && ENTRY.test(url.slice(PLANS.length)));
  await Promise.all(own.map((entry) => cache.delete(entry)));
  if (own.length === all.length) await caches.delete(name);
}

/**
 * @param {Cache} cache
 * @param {Key} key
 * @param {number} bytes
 */
function noteUse(cache, key, bytes) {
  const note = JSON.stringify({ bytes, used: Date.now() });
  return cache.put(useOf(address(key)), new Response(note));
}

/** @param {Key} key */
const folder = ({ build }) => `${PLANS}${build}/`;

/** @param {Key} key */
const address = (key) => `${folder(key)}${key.hash}`;

/** @param {string} url  of an entry */
const useOf = (url) => `${url}?used`;
