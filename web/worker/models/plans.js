// @ts-check
/**
 * Plans that were compiled on an earlier visit, with their weights: kept in the browser's cache
 * storage, an entry a plan, and found again by all that they depend on.
 *
 * An entry is a text (py/tallow/compile/plan_serialization.py) and the weights, in parts: the text, then some weights
 * each, behind their length and their SHA-256, so that what was damaged is found when it is read.
 * Beside it lies when it was last used.
 * Entries come and go as wholes: tabs that write the same one, or drop it while it is read, make each
 * other no more than miss it.
 */

import { digest, hex, joined } from "../../shared/bytes.js";
import { SITE } from "../../shared/fetch.js";
import { LocalizedError, words } from "../../i18n/messages.js";
import { tell } from "../stage.js";

/**
 * @typedef {object} Key
 * @property {string} build  of Tallow; what another has kept is of no use
 * @property {string} hash   of the build and all else that the plan depends on
 *
 * @typedef {object} Kept
 * @property {string} text
 * @property {{plan: import("../../gpu/program.js").Plan, weights: [number, string, number[], number][],
 *   facts: object}} told  what the text says
 * @property {KeptWeights} weights
 * @property {number} bytes
 */

/** Of this form of entries, and of this site: its origin may have others, at other paths. */
const CACHE = `tallow:plans:3:${SITE.href}`;

/** The name of such a cache: of whichever form, and its site. */
const NAME = /^tallow:plans:\d+:(.*)$/;

/** Caches of older forms, which all sites of an origin shared. */
const SHARED = /^tallow-plans-\d+$/;

const PLANS = new URL("plans/", SITE).href;

/** What follows there, in the address of an entry and of its use. */
const ENTRY = /^[0-9a-f]{64}\/[0-9a-f]{64}(\?used)?$/;

/** Bytes that all plans may take: so many, and such a share of what the browser grants. */
const MOST = 200e6;
const SHARE = 0.25;

/** Bytes of weights from which on a part is complete: for each one, its hash is waited for. */
const ENOUGH = 1 << 20;

/** Of a part: its length, a word, and its SHA-256. */
const HEAD = 4 + 32;

/** What was kept is not what lies there now. */
class DamagedError extends LocalizedError {
  name = "DamagedError";

  constructor() {
    super(words("planDamaged"));
  }
}

/** Whether it was told that nothing can be kept. */
let told = false;

/** Whether the browser keeps anything for this address; if not, the boot log says so, once. */
export function storable() {
  if (globalThis.caches && globalThis.crypto?.subtle) return true;
  const why = words(globalThis.isSecureContext ? "noStorage" : "insecure");
  if (!told) tell("storage", { why }, "failed", performance.now());
  told = true;
  return false;
}

/**
 * The key of a plan; null where the browser keeps nothing for this address.
 * @param {string} build     what identifies Tallow itself
 * @param {...unknown} about  all else that the plan depends on
 * @returns {Promise<Key | null>}
 */
export async function keyOf(build, ...about) {
  if (!storable()) return null;
  const encode = (/** @type {unknown} */ value) => new TextEncoder().encode(JSON.stringify(value));
  const [of, hash] = await Promise.all([digest(encode(build)), digest(encode([build, ...about]))]);
  return { build: hex(of), hash: hex(hash) };
}

/** Whether anything is kept that may be found. */
export async function any() {
  try {
    return await caches.has(CACHE);
  } catch {
    return false; // no storage here
  }
}

/**
 * What is kept under this key. Its weights are still being read, and are checked as they come.
 * @param {Key} key
 * @returns {Promise<Kept | null>}
 * @throws {Error}  of any kind: then there is nothing either
 */
export async function find(key) {
  const cache = await caches.open(CACHE);
  const response = await cache.match(address(key));
  if (!response) return null;
  if (!response.body) throw new DamagedError();
  const parts = new Parts(response.body.getReader());
  const text = new TextDecoder().decode(await parts.next());
  const told = JSON.parse(text);
  const sizes = told.weights.map((/** @type {any[]} */ weight) => weight[3]);
  const bytes = sizes.reduce((/** @type {number} */ sum, /** @type {number} */ n) => sum + n, 0);
  // Nobody waits for this; an entry that seems older than it is goes too early at worst.
  noteUse(cache, key, text.length + bytes).catch(() => {});
  return { text, told, weights: new KeptWeights(parts, sizes), bytes: text.length + bytes };
}

/**
 * Keep a plan in the place of what was under its key; the least recently used ones go for it.
 * @param {Key} key
 * @param {string} text
 * @param {number[]} sizes  of the weights
 * @param {(place: number) => Uint8Array<ArrayBuffer>} weight  copies one
 * @returns {Promise<boolean>}  false if it is too large to be kept
 * @throws {Error}  of any kind where the browser refuses; then nothing was kept
 */
export async function keep(key, text, sizes, weight) {
  const cache = await caches.open(CACHE);
  const bytes = sizes.reduce((sum, size) => sum + size, text.length);
  if (!(await makeRoom(cache, key, bytes))) return false;
  const parts = contents(text, sizes, weight);
  const body = new ReadableStream(
    {
      pull: async (stream) => {
        const { done, value: part } = parts.next();
        if (done) return stream.close();
        const head = new Uint8Array(HEAD);
        new DataView(head.buffer).setUint32(0, part.length);
        head.set(await digest(part), 4);
        stream.enqueue(head);
        return stream.enqueue(part);
      },
    },
    { highWaterMark: 0 },
  );
  await noteUse(cache, key, bytes);
  await cache.put(address(key), new Response(body));
  return true;
}

/**
 * What lies in the parts of an entry.
 * @param {string} text
 * @param {number[]} sizes
 * @param {(place: number) => Uint8Array<ArrayBuffer>} weight
 * @returns {Generator<Uint8Array<ArrayBuffer>, void>}
 */
function* contents(text, sizes, weight) {
  yield new TextEncoder().encode(text);
  for (let place = 0; place < sizes.length;) {
    const end = endOfPart(sizes, place);
    /** @type {Uint8Array[]} */
    const some = [];
    let bytes = 0;
    for (; place < end; place++) {
      if (!sizes[place]) continue; // whoever has it restored has it elsewhere
      some.push(weight(place));
      bytes += sizes[place];
    }
    yield joined(some, bytes);
  }
}

/**
 * @param {number[]} sizes
 * @param {number} begin  the place of the first weight in a part
 * @returns {number}  the first that is in the next one
 */
function endOfPart(sizes, begin) {
  let end = begin;
  for (let bytes = 0; end < sizes.length && bytes < ENOUGH; end++) bytes += sizes[end];
  return end;
}

/**
 * Drop what is kept under this key.
 * @param {Key} key
 */
export async function forget(key) {
  const cache = await caches.open(CACHE);
  await cache.delete(address(key));
  await cache.delete(useOf(address(key)));
}

/** The weights of an entry, in the order of their places. */
export class KeptWeights {
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

  /** Bytes of each. */
  get sizes() {
    return this.#sizes;
  }

  /**
   * Resolves once this one is there; one call at a time.
   * @param {number} place
   * @throws {Error}  if it is damaged, or not there any more
   */
  async ready(place) {
    while (this.#read <= place) {
      const end = endOfPart(this.#sizes, this.#read);
      const part = await this.#parts.next();
      let at = 0;
      for (; this.#read < end; this.#read++) {
        const next = at + this.#sizes[this.#read];
        this.#held.set(this.#read, part.subarray(at, next));
        at = next;
      }
      if (part.length !== at) throw new DamagedError();
    }
  }

  /**
   * Gives one that is ready, and lets go of it.
   * @param {number} place
   * @param {(bytes: Uint8Array) => void} use
   */
  lend(place, use) {
    use(/** @type {Uint8Array} */ (this.#held.get(place)));
    this.#held.delete(place);
  }
}

/** The parts of an entry, one after the other. */
class Parts {
  #reader;
  /** What was read beyond the last part. */
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

  /** @param {number} length  which a damaged entry may have wrong: nothing is reserved for it */
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
 * Drop what is of no use any more and, the least recently used first, what there is no room for.
 * @param {Cache} cache
 * @param {Key} key
 * @param {number} bytes  of the new entry
 * @returns {Promise<boolean>}  whether there is room
 */
async function makeRoom(cache, key, bytes) {
  await dropOtherForms();
  const { quota = Infinity } = (await navigator.storage?.estimate?.()) ?? {};
  const most = Math.min(MOST, SHARE * quota);
  if (bytes > most) return false;
  const mine = address(key);
  const urls = (await cache.keys()).map(({ url }) => url);
  /** @type {{url: string, bytes: number, used: number}[]} */
  const others = [];
  for (const url of urls.filter((each) => !each.includes("?") && each !== mine)) {
    const use = await cache.match(useOf(url));
    const known = await use?.json().catch(() => null);
    others.push({ url, bytes: known?.bytes ?? 0, used: known?.used ?? 0 });
  }
  others.sort((one, other) => one.used - other.used);
  let total = others.reduce((sum, entry) => sum + entry.bytes, bytes);
  for (const entry of others) {
    if (total <= most && entry.url.startsWith(folder(key))) continue;
    total -= entry.bytes;
    await cache.delete(entry.url);
    await cache.delete(useOf(entry.url));
  }
  return true;
}

/** Drop what earlier versions of this site have kept in other forms. */
async function dropOtherForms() {
  for (const name of await caches.keys()) {
    if (SHARED.test(name)) await dropShare(name);
    else if (name !== CACHE && NAME.exec(name)?.[1] === SITE.href) await caches.delete(name);
  }
}

/** @param {string} name  of a cache that other sites may use too */
async function dropShare(name) {
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
