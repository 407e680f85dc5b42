// @ts-check
/**
 * The memory of a Python that the build has kept, put in the place of a new one's: of one that has
 * imported Tallow and, over it, of one that has imported NumPy too
 * (py/tallow_build/snapshot/make.mjs, which tells what the files look like).
 *
 * Pyodide would copy it from an image of the whole. It is told of an empty one, and its memory is
 * filled before it looks, in place.
 */

import { link } from "./libraries.js";

/** Words before the list of runs. */
const HEAD = 3;

/** Bytes for Pyodide's header, which it wants before anything is there: far more than it takes. */
const ROOM = 4096;

/** The word of Pyodide's header that tells its length: the image begins behind it. */
const LENGTH = 1;

export class Snapshot {
  #fill;
  #files;
  #libraries;
  /** What a new instance has, before anything runs. @type {Uint8Array | undefined} */
  #fresh;

  /** What Pyodide restores: nothing but its own header, once `restore` is done. */
  header = new Uint8Array(ROOM);

  /**
   * @param {number} fill  bytes of a new instance's memory up to where there are but zeros
   * @param {Promise<Uint8Array<ArrayBuffer>>[]} files  as fetched: each differs from the one before
   * @param {{code: Promise<WebAssembly.Module>, told: import("./libraries.js").Library}[]} libraries
   *   that are loaded in it, in the order in which they were
   */
  constructor(fill, files, libraries = []) {
    this.#fill = fill;
    this.#files = Promise.all(files);
    this.#libraries = libraries;
    /** Rejects when something that is needed can't be had. @type {Promise<unknown>} */
    this.complete = Promise.all([this.#files, ...libraries.map(({ code }) => code)]);
    this.complete.catch(() => {}); // awaited by restore()
  }

  /**
   * Remember the memory of an instance, before anything runs in it.
   * @param {any} exports
   */
  begin({ memory }) {
    this.#fresh = new Uint8Array(memory.buffer.slice(0, this.#fill));
  }

  /**
   * Fill the memory of a Pyodide whose runtime is up, before Pyodide itself restores anything.
   * @param {any} emscripten  the module of its glue
   */
  async restore(emscripten) {
    await this.complete;
    const files = (await this.#files).map(
      (file) => new Uint32Array(file.buffer, 0, file.length >> 2),
    );
    const fresh = this.#fresh;
    if (!fresh) throw new Error("The memory of a new instance was not seen.");
    const bytes = Math.max(...files.map(([, memoryBytes]) => memoryBytes));
    if (bytes > emscripten.HEAPU8.length) emscripten.growMemory(bytes);
    if (bytes > emscripten.HEAPU8.length) throw new RangeError(`${bytes} bytes are not to be had.`);
    const memory = /** @type {Uint8Array} */ (emscripten.HEAPU8);
    const words = new Uint32Array(memory.buffer);
    const trampoline = trampolineOf(emscripten, words);
    const call = words[trampoline];
    // What has run since has written below the heap's end; the libraries' own data lie above it.
    memory.fill(0, fresh.length, words[emscripten._emscripten_get_sbrk_ptr() >> 2]);
    for (const { code, told } of this.#libraries) {
      memory.fill(0, ...link(emscripten, await code, told));
    }
    memory.set(fresh);
    this.#fresh = undefined;
    let end = fresh.length;
    for (const file of files) end = this.#apply(file, words, end);
    words[trampoline] = call;
  }

  /**
   * @param {Uint32Array<ArrayBuffer>} given
   * @param {Uint32Array} words
   * @param {number} end  bytes up to where there may be more than zeros
   * @returns {number}  that of now
   */
  #apply(given, words, end) {
    const [headerBytes, memoryBytes, runs] = given;
    const list = given.subarray(HEAD, HEAD + 2 * runs);
    const header = new Uint32Array(this.header.buffer);
    let from = HEAD + list.length;
    header.set(given.subarray(from, (from += headerBytes >> 2)));
    header[LENGTH] = ROOM;
    for (let run = 0; run < list.length; run += 2) {
      const [at, count] = list.subarray(run, run + 2);
      const piece = given.subarray(from, (from += count));
      if (at >= end >> 2) words.set(piece, at);
      else for (let i = 0; i < count; i++) words[at + i] ^= piece[i];
    }
    return memoryBytes;
  }
}

/**
 * The word that tells Python of a function in the table which calls others whatever their arguments.
 * It is this browser's own; some can't have it, and do the same more slowly.
 * @param {any} emscripten
 * @param {Uint32Array} words
 * @returns {number}
 */
function trampolineOf(
  { __PyRuntime: runtime, __PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET: offset },
  words,
) {
  return (runtime + words[offset >> 2]) >> 2;
}
