// @ts-check
/**
 * A large file of this site that is used while it arrives, in pieces. Each piece is checked by its
 * SHA-256 before it is used, and fetched again if it is damaged. Broken downloads are always
 * resumed, even compressed ones, because the checks detect pieces that were joined wrongly.
 */

import { BrokenError, FetchError, ask, checkDigest, eachChunk, overConnections } from "./fetch.js";
import { words } from "../i18n/messages.js";

/** @typedef {[number, string]} Piece  its end in the file, and its SHA-256; pieces are adjacent */

/** A file that is being downloaded. */
export class StreamedFile {
  #path;
  #pieces;
  #onBytes;
  /** Bytes that have arrived. */
  #done = 0;
  /** Whether a piece was damaged; then the browser's HTTP cache is bypassed. */
  #damaged = false;
  #stopped = new AbortController();
  /** Why the download failed. @type {unknown} */
  failure = undefined;

  /**
   * @param {string} path  relative to the site
   * @param {Piece[]} pieces  at least one
   * @param {(bytes: number) => void} onBytes  called with the size of each chunk that arrives, and
   *   with a negative size when bytes are discarded
   */
  constructor(path, pieces, onBytes) {
    this.#path = path;
    this.#onBytes = onBytes;
    this.#pieces = pieces.map(
      ([end, sha256], i) => new PieceBuffer(i ? pieces[i - 1][0] : 0, end, sha256),
    );
    /** The size of the file in bytes. */
    this.size = /** @type {Piece} */ (pieces.at(-1))[0];
    /** Resolves once everything has arrived, or after stop(). @type {Promise<void>} */
    this.whole = this.#arrive();
    this.whole.catch(() => {}); // the parts reject too
  }

  /**
   * Some bytes of the file, within one piece.
   * @param {number} offset
   * @param {number} length
   */
  part(offset, length) {
    const piece = this.#pieces.find(({ end }) => offset < end);
    if (!piece || offset < piece.begin || offset + length > piece.end) {
      throw new RangeError(`${this.#path}: ${length} bytes at ${offset} are not within one piece`);
    }
    piece.parts += 1;
    return new Part(piece, offset - piece.begin, length);
  }

  /** End the download. */
  stop() {
    this.#stopped.abort();
  }

  async #arrive() {
    try {
      await overConnections(
        (connection) => this.#read(connection),
        () => this.#done,
      );
      const { aborted, reason } = this.#stopped.signal;
      if (aborted) {
        this.#onBytes(this.size - this.#done);
        for (const piece of this.#pieces) piece.fail(reason);
      } else if (this.#done !== this.size) {
        throw new FetchError(words("wrongSize", this.#path, this.#done, this.size));
      }
    } catch (error) {
      this.failure = error;
      this.#onBytes(-this.#done);
      for (const piece of this.#pieces) piece.fail(error);
      throw error;
    }
  }

  /** @param {AbortSignal} connection */
  async #read(connection) {
    const path = this.#path;
    const from = this.#done;
    if (from === this.size || this.#stopped.signal.aborted) return;
    /** @type {Record<string, string>} */
    const headers = from ? { Range: `bytes=${from}-` } : {};
    const signal = AbortSignal.any([connection, this.#stopped.signal]);
    const cache = this.#damaged ? "reload" : undefined;
    const response = await ask(path, headers, signal, cache);
    const range = /^bytes (\d+)-/.exec(response.headers.get("Content-Range") ?? "");
    const rest = response.status === 206 && range?.[1] === String(from);
    let skipped = rest ? 0 : from; // bytes that are already here and come again
    await eachChunk(path, response.body, from - skipped, (chunk) => {
      const known = Math.min(skipped, chunk.length);
      skipped -= known;
      return this.#take(chunk.subarray(known));
    });
  }

  /** @param {Uint8Array} bytes */
  async #take(bytes) {
    while (bytes.length) {
      const piece = this.#pieces.find(({ end }) => this.#done < end);
      if (!piece) {
        throw new FetchError(words("wrongSize", this.#path, this.#done + bytes.length, this.size));
      }
      const part = bytes.subarray(0, piece.end - this.#done);
      bytes = bytes.subarray(part.length);
      piece.content.set(part, this.#done - piece.begin);
      this.#done += part.length;
      this.#onBytes(part.length);
      if (this.#done === piece.end) await this.#check(piece);
    }
  }

  /** @param {PieceBuffer} piece  that has arrived completely */
  async #check(piece) {
    try {
      await checkDigest(this.#path, piece.content, piece.sha256);
    } catch (error) {
      if (this.#damaged) throw error;
      this.#damaged = true;
      this.#done = piece.begin;
      this.#onBytes(piece.begin - piece.end);
      throw new BrokenError(/** @type {FetchError} */ (error).words);
    }
    piece.arrive();
  }
}

/** The bytes of a piece, as far as they have arrived. */
class PieceBuffer {
  /** @type {Uint8Array<ArrayBuffer> | undefined} */
  #content = undefined;
  #released = false;
  /** How many parts of it are still in use. */
  parts = 0;
  arrived = false;
  arrive = () => {};
  /** @type {(error: unknown) => void} */
  fail = () => {};

  /**
   * @param {number} begin
   * @param {number} end
   * @param {string} sha256
   */
  constructor(begin, end, sha256) {
    this.begin = begin;
    this.end = end;
    this.sha256 = sha256;
    /** Resolves once it has arrived and was checked. @type {Promise<void>} */
    this.ready = new Promise((resolve, reject) => {
      this.arrive = () => {
        this.arrived = true;
        resolve();
      };
      this.fail = reject;
    });
    this.ready.catch(() => {}); // it may not be awaited
  }

  /** Its bytes. Memory is allocated when the first of them arrives. */
  get content() {
    if (this.#released) throw new Error(`Bytes ${this.begin} to ${this.end} have been released.`);
    this.#content ??= new Uint8Array(this.end - this.begin);
    return this.#content;
  }

  /** Called when a part was taken. The last part frees the memory. */
  release() {
    this.parts -= 1;
    if (this.parts) return;
    this.#content = undefined;
    this.#released = true;
  }
}

/** Some bytes of a file. */
export class Part {
  #piece;
  #offset;
  #length;

  /**
   * @param {PieceBuffer} piece
   * @param {number} offset  in the piece
   * @param {number} length
   */
  constructor(piece, offset, length) {
    this.#piece = piece;
    this.#offset = offset;
    this.#length = length;
  }

  /** Resolves once the bytes have arrived. @returns {Promise<void>} */
  ready() {
    return this.#piece.ready;
  }

  /** Whether the bytes have arrived. */
  get here() {
    return this.#piece.arrived;
  }

  bytes() {
    return this.#piece.content.subarray(this.#offset, this.#offset + this.#length);
  }

  /** Get the bytes for the last time, so that their memory can be freed. */
  take() {
    const bytes = this.bytes();
    this.#piece.release();
    return bytes;
  }
}
