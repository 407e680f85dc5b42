// @ts-check
/**
 * The memory snapshot that the build makes of a Python which has imported Tallow
 * (py/tallow_build/snapshot/make.mjs, which tells what the file looks like).
 */

/** Words before the list of runs. */
const HEAD = 3;

/** A page of WebAssembly's memory. */
const PAGE = 65_536;

export class Snapshot {
  #given;

  /** @param {Uint8Array<ArrayBuffer>} file  as fetched */
  constructor(file) {
    this.#given = new Uint32Array(file.buffer, 0, file.byteLength >> 2);
    const [headerBytes, memoryBytes] = this.#given;
    /** What Pyodide restores, once it is filled. */
    this.image = new Uint8Array(headerBytes + memoryBytes);
  }

  /**
   * Fill the image: the file holds in what it differs from the memory of a new instance. That is
   * enlarged where it is smaller.
   * @param {WebAssembly.Memory} memory
   */
  fill(memory) {
    const given = this.#given;
    const [headerBytes, memoryBytes, runs] = given;
    const missing = memoryBytes - memory.buffer.byteLength;
    if (missing > 0) memory.grow(missing / PAGE);
    this.image.set(new Uint8Array(memory.buffer, 0, memoryBytes), headerBytes);
    const list = given.subarray(HEAD, HEAD + 2 * runs);
    const header = new Uint32Array(this.image.buffer, 0, headerBytes >> 2);
    let from = HEAD + list.length;
    header.set(given.subarray(from, (from += header.length)));
    const words = new Uint32Array(this.image.buffer, headerBytes);
    for (let run = 0; run < list.length; run += 2) {
      const end = list[run] + list[run + 1];
      for (let at = list[run]; at < end; at++) words[at] ^= given[from++];
    }
  }
}
