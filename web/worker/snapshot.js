// @ts-check
/**
 * Fills the memory of a new Python from snapshots made by the build: one of a Python that has
 * imported Tallow and, on top of that, one that has imported NumPy too
 * (py/tallow_build/page/snapshot/make.mjs describes the files).
 *
 * Pyodide can only copy its memory from an image of all of it. So it is given an empty image, and
 * this module fills its memory in place before Pyodide reads it.
 */

import { link } from "./libraries.js";

/** Words before the list of runs, which are stretches of words that the snapshot changes. */
const HEAD = 3;

/** Bytes reserved for Pyodide's header, whose size is not known yet: far more than it needs. */
const ROOM = 4096;

/** The word of Pyodide's header with its length; the image follows the header. */
const LENGTH = 1;

export class Snapshot {
  #fill;
  #files;
  #libraries;
  /** The memory of a new instance, before anything runs. @type {Uint8Array | undefined} */
  #fresh;

  /** The image that Pyodide restores: only its own header, once `restore` is done. */
  header = new Uint8Array(ROOM);

  /**
   * @param {number} fill  bytes of a new instance's memory after which there are only zeros
   * @param {Promise<Uint8Array<ArrayBuffer>>[]} files  snapshots, each based on the one before
   * @param {{code: Promise<WebAssembly.Module>, library: import("./libraries.js").Library}[]}
   *   libraries that the snapshot contains, in the order in which they were loaded
   */
  constructor(fill, files, libraries = []) {
    this.#fill = fill;
    this.#files = Promise.all(files);
    this.#libraries = libraries;
    /** Rejects if a file is unavailable. @type {Promise<unknown>} */
    this.complete = Promise.all([this.#files, ...libraries.map(({ code }) => code)]);
    this.complete.catch(() => {}); // awaited by restore()
  }

  /**
   * Remember the memory of a new instance, before anything runs in it.
   * @param {any} exports
   */
  begin({ memory }) {
    this.#fresh = new Uint8Array(memory.buffer.slice(0, this.#fill));
  }

  // Why: docs/decisions/start.md, "Memory is filled in place, before Pyodide looks"
  /**
   * Fill the memory after Pyodide's runtime has started and before Pyodide restores anything.
   * @param {any} emscripten  the module of Pyodide's glue
   */
  async restore(emscripten) {
    await this.complete;
    const files = (await this.#files).map(
      (file) => new Uint32Array(file.buffer, 0, file.length >> 2),
    );
    const fresh = this.#fresh;
    if (!fresh) throw new Error("begin() was not called with the new instance's memory.");
    const bytes = Math.max(...files.map(([, memoryBytes]) => memoryBytes));
    if (bytes > emscripten.HEAPU8.length) emscripten.growMemory(bytes);
    if (bytes > emscripten.HEAPU8.length) {
      throw new RangeError(`${bytes} bytes of memory are unavailable.`);
    }
    const memory = /** @type {Uint8Array} */ (emscripten.HEAPU8);
    const words = new Uint32Array(memory.buffer);
    const trampoline = trampolineOf(emscripten, words);
    const call = words[trampoline];
    // The code that has run since wrote below the heap's end; the libraries' data lie above it.
    memory.fill(0, fresh.length, words[emscripten._emscripten_get_sbrk_ptr() >> 2]);
    for (const { code, library } of this.#libraries) {
      memory.fill(0, ...link(emscripten, await code, library));
    }
    memory.set(fresh);
    this.#fresh = undefined;
    let end = fresh.length;
    for (const file of files) end = this.#apply(file, words, end);
    words[trampoline] = call;
  }

  /**
   * @param {Uint32Array<ArrayBuffer>} given  a snapshot
   * @param {Uint32Array} words  the memory
   * @param {number} end  bytes of the memory after which there are only zeros
   * @returns {number}  the new end
   */
  #apply(given, words, end) {
    const [headerBytes, memoryBytes, runs] = given;
    const list = given.subarray(HEAD, HEAD + 2 * runs);
    const header = new Uint32Array(this.header.buffer);
    let from = HEAD + list.length;
    header.set(given.subarray(from, (from += headerBytes >> 2)));
    header[LENGTH] = ROOM;
    for (let run = 0; run < list.length; run += 2) {
      const [first, count] = list.subarray(run, run + 2);
      const piece = given.subarray(from, (from += count));
      if (first >= end >> 2) words.set(piece, first);
      else for (let i = 0; i < count; i++) words[first + i] ^= piece[i];
    }
    return memoryBytes;
  }
}

/**
 * The word of memory that holds Python's trampoline: a function in the table that calls others
 * whatever their arguments. It depends on the browser; browsers without one do the same more
 * slowly.
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
