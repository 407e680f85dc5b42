// @ts-check
/**
 * A large file of this site that is used while it arrives: in pieces, each checked by its SHA-256
 * before anybody sees it. One that is damaged is fetched again, and a connection that breaks is taken
 * up at that byte, even of a file that came compressed: whatever is put together wrong shows.
 */

import { BrokenError, FetchError, ask, checkDigest, eachChunk, overConnections } from "./fetch.js";
import { words } from "../i18n/messages.js";

/** @typedef {[number, string]} Piece  where it ends, and its SHA-256; it begins where the last ends */

/** A file on its way. */
export class StreamedFile {
  #path;
  #pieces;
  #onBytes;
  /** Bytes that have arrived. */
  #done = 0;
  /** Whether a piece was damaged, so that the browser's own copy is not to be trusted. */
  #damaged = false;
  #stopped = new AbortController();
  /** Why it can't be had. @type {unknown} */
  failure = undefined;

  /**
   * @param {string} path  relative to the site
   * @param {Piece[]} pieces  at least one
   * @param {(bytes: number) => void} onBytes  called with the size of what arrives, and with a
   *   negative one when it is given up
   */
  constructor(path, pieces, onBytes) {
    this.#path = path;
    this.#onBytes = onBytes;
    this.#pieces = pieces.map(
      ([end, sha256], at) => new Held(at ? pieces[at - 1][0] : 0, end, sha256),
    );
    /** Its bytes. */
    this.size = /** @type {Piece} */ (pieces.at(-1))[0];
    /** Resolves once all has arrived, or nobody wants it. @type {Promise<void>} */
    this.whole = this.#arrive();
    this.whole.catch(() => {}); // who waits for a part hears of it
  }

  /**
   * Some bytes of it, which lie in one piece.
   * @param {number} offset
   * @param {number} length
   */
  part(offset, length) {
    const piece = this.#pieces.find(({ end }) => offset < end);
    if (!piece || offset < piece.begin || offset + length > piece.end) {
      throw new RangeError(`${this.#path}: ${length} bytes at ${offset} lie in no one piece`);
    }
    piece.parts += 1;
    return new Part(piece, offset - piece.begin, length);
  }

  /** Nobody wants the rest of it. */
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
    let skipped = rest ? 0 : from; // of what is here, and comes again
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
      const mine = bytes.subarray(0, piece.end - this.#done);
      bytes = bytes.subarray(mine.length);
      piece.content.set(mine, this.#done - piece.begin);
      this.#done += mine.length;
      this.#onBytes(mine.length);
      if (this.#done === piece.end) await this.#check(piece);
    }
  }

  /** @param {Held} piece  all of which has arrived */
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
    piece.here();
  }
}

/** A piece, as far as it is here. */
class Held {
  /** @type {Uint8Array<ArrayBuffer> | undefined} */
  #content = undefined;
  #released = false;
  /** Those of whom something is expected. */
  parts = 0;
  arrived = false;
  here = () => {};
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
    /** Resolves once it is here and right. @type {Promise<void>} */
    this.ready = new Promise((resolve, reject) => {
      this.here = () => {
        this.arrived = true;
        resolve();
      };
      this.fail = reject;
    });
    this.ready.catch(() => {}); // perhaps nobody waits
  }

  /** Its bytes; memory is taken when the first of them arrives. */
  get content() {
    if (this.#released) throw new Error(`Bytes ${this.begin} to ${this.end} were taken before.`);
    this.#content ??= new Uint8Array(this.end - this.begin);
    return this.#content;
  }

  /** One of its parts was taken: with the last one, the memory is free. */
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
   * @param {Held} piece
   * @param {number} offset  in the piece
   * @param {number} length
   */
  constructor(piece, offset, length) {
    this.#piece = piece;
    this.#offset = offset;
    this.#length = length;
  }

  /** Resolves once they are there. @returns {Promise<void>} */
  ready() {
    return this.#piece.ready;
  }

  /** Whether they are there. */
  get here() {
    return this.#piece.arrived;
  }

  /** Those that are there. */
  bytes() {
    return this.#piece.content.subarray(this.#offset, this.#offset + this.#length);
  }

  /** The same, for the last time. */
  take() {
    const bytes = this.bytes();
    this.#piece.release();
    return bytes;
  }
}
