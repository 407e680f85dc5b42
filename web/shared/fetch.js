// @ts-check
/**
 * Fetch files of this site by their path: bytes with progress and a checksum, or JSON.
 *
 * Every failure (missing file, server error, cut-off or stalled transfer, wrong checksum) becomes a
 * FetchError whose message names the file and says what to do. A connection that breaks is taken up
 * again at the byte where it broke, if the server can, else the file is begun anew; a stalled one once.
 * Works in the page and in a worker.
 */

import { digest, hex, joined } from "./bytes.js";
import { HASHED } from "./names.js";
import { LocalizedError, words } from "../i18n/messages.js";

/** The folder that index.html lies in, whatever path the site is hosted under. */
export const SITE = new URL("../", import.meta.url);

/**
 * Of any other file the server is asked whether our copy is still good.
 * @param {string} path
 * @returns {RequestCache}
 */
const cacheFor = (path) => (HASHED.test(path) ? "default" : "no-cache");

/** @param {string} path @returns {string}  as a person would name it */
export const withoutHash = (path) => path.replace(HASHED, (match) => match.slice(-1));

/** The browser's own: the worker has another stand in for it while Pyodide starts (worker/python.js). */
const request = globalThis.fetch;

/** A server that sends nothing for this long is given up on. */
const SILENCE_MS = 30_000;

/** Milliseconds before each try after a connection that broke and had brought little. */
const PAUSES_MS = [0, 300, 1200];

/** Bytes after which a connection counts as one that works, so that it may break as often again. */
const WORTH = 64 << 10;

/** A file of this site that could not be had. */
export class FetchError extends LocalizedError {
  name = "FetchError";
}

/** A server that said nothing for too long. */
class SilenceError extends FetchError {}

/** A connection that could not be made, or broke. */
export class BrokenError extends FetchError {}

/**
 * @typedef {object} Expected
 * @property {number} [bytes]   size of the whole file, where known
 * @property {string} [sha256]  lower-case hex digest of the whole file, where known
 * @property {(bytes: number) => void} [onBytes]  called with the size of each piece that arrives,
 *   and with a negative one when what has arrived is given up
 * @property {(response: Response) => void} [onResponse]  called with a copy of the answer as it
 *   begins, for who can use it while it arrives
 */

/**
 * Ask for a file, or for the rest of it: resolves once the server has said yes.
 * @param {string} path  relative to the site
 * @param {Record<string, string>} headers
 * @param {AbortSignal} signal
 * @param {RequestCache} [cache]
 * @returns {Promise<Response & {body: ReadableStream<Uint8Array>}>}
 * @throws {FetchError}
 */
export async function ask(path, headers, signal, cache = cacheFor(path)) {
  let response;
  try {
    const asked = request(new URL(path, SITE), { cache, headers, signal });
    response = await withinSilence(path, asked);
  } catch (error) {
    if (error instanceof FetchError) throw error;
    throw new BrokenError(words("unreachable", path));
  }
  if (response.status === 404) {
    throw new FetchError(words("missing", path));
  }
  if (!response.ok || !response.body) {
    throw new FetchError(words("refused", path, response.status));
  }
  return /** @type {Response & {body: ReadableStream<Uint8Array>}} */ (response);
}

/**
 * @template T
 * @param {string} path
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
function withinSilence(path, promise) {
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  const silence = new Promise((_, reject) => {
    const fail = () => reject(new SilenceError(words("silent", path, SILENCE_MS / 1000)));
    timer = setTimeout(fail, SILENCE_MS);
  });
  return Promise.race([promise, /** @type {Promise<never>} */ (silence)]).finally(() =>
    clearTimeout(timer),
  );
}

/**
 * The bytes of a file, checked against what is known of it.
 * @param {string} path  relative to the site
 * @param {Expected} [expected]
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 * @throws {FetchError}
 */
export async function fetchBytes(path, expected = {}) {
  const transfer = new Transfer(path, expected);
  try {
    return await transfer.bytes();
  } catch (error) {
    // Of two contents that a server gave by and by, another one may be meant: all of it, once.
    if (transfer.resumed && !(error instanceof BrokenError)) {
      return new Transfer(path, expected).bytes();
    }
    throw error;
  }
}

/**
 * Read over as many connections as it takes, until the server says that this was all.
 * @param {(signal: AbortSignal) => Promise<void>} read  over one of them, what is missing
 * @param {() => number} done  bytes that have arrived
 * @throws {FetchError}
 */
export async function overConnections(read, done) {
  let tries = 0;
  let silences = 0;
  let furthest = 0;
  for (;;) {
    const connection = new AbortController();
    try {
      await read(connection.signal);
      return;
    } catch (error) {
      connection.abort();
      if (done() >= furthest + WORTH) {
        furthest = done();
        tries = 0;
      }
      if (error instanceof SilenceError) {
        // A connection can die without a word while the server is well.
        if (silences++) throw error;
      } else if (!(error instanceof BrokenError) || tries === PAUSES_MS.length) {
        throw error;
      } else {
        const pause = PAUSES_MS[tries++];
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }
}

/**
 * @param {string} path
 * @param {ReadableStream<Uint8Array>} body
 * @param {number} at  where in the file it begins
 * @param {(chunk: Uint8Array) => Promise<void> | void} take
 * @throws {FetchError}
 */
export async function eachChunk(path, body, at, take) {
  const reader = body.getReader();
  for (;;) {
    let chunk;
    try {
      chunk = await withinSilence(path, reader.read());
    } catch (error) {
      if (error instanceof FetchError) throw error;
      throw new BrokenError(words("cutOff", path, at));
    }
    if (chunk.done) return;
    at += chunk.value.length;
    await take(chunk.value);
  }
}

/** A file on its way, over as many connections as it takes. */
class Transfer {
  #path;
  #expected;
  /** What has arrived: in its place if the size is known, else piece by piece. */
  #whole;
  /** @type {Uint8Array[]} */
  #pieces = [];
  #done = 0;
  /** What the server calls this content, if the rest of it can be asked for. @type {string | null} */
  #tag = null;
  /** Whether what has arrived came over more than one connection. */
  resumed = false;

  /**
   * @param {string} path
   * @param {Expected} expected
   */
  constructor(path, expected) {
    this.#path = path;
    this.#expected = expected;
    this.#whole = expected.bytes === undefined ? null : new Uint8Array(expected.bytes);
  }

  /** @returns {Promise<Uint8Array<ArrayBuffer>>} */
  async bytes() {
    const { bytes: size, sha256 } = this.#expected;
    try {
      await this.#arrive();
      if (size !== undefined && this.#done !== size) {
        throw new FetchError(words("wrongSize", this.#path, this.#done, size));
      }
    } catch (error) {
      this.#startOver();
      throw error;
    }
    const whole = this.#whole ?? joined(this.#pieces, this.#done);
    if (sha256 !== undefined) await checkDigest(this.#path, whole, sha256);
    return whole;
  }

  /** Until the server says that this was all. */
  async #arrive() {
    await overConnections(
      (signal) => this.#read(signal),
      () => this.#done,
    );
  }

  /** @param {AbortSignal} signal */
  async #read(signal) {
    const path = this.#path;
    if (!this.#tag) this.#startOver();
    const from = this.#done;
    const wished = from > 0 && this.#tag;
    const headers = wished ? { Range: `bytes=${from}-`, "If-Range": wished } : {};
    const response = await ask(path, /** @type {Record<string, string>} */ (headers), signal);
    const begins = /^bytes (\d+)-/.exec(response.headers.get("Content-Range") ?? "")?.[1];
    if (response.status === 206 && begins === String(from)) this.resumed = true;
    else {
      this.#startOver(); // all of it, in other words or another content
      this.#expected.onResponse?.(response.clone());
    }
    this.#tag = tagOf(response);
    await eachChunk(path, response.body, this.#done, (chunk) => this.#take(chunk));
  }

  /** @param {Uint8Array} piece */
  #take(piece) {
    const at = this.#done;
    this.#done += piece.length;
    this.#expected.onBytes?.(piece.length);
    if (!this.#whole) this.#pieces.push(piece);
    else if (this.#done <= this.#whole.length) this.#whole.set(piece, at);
  }

  /** What has arrived is given up. */
  #startOver() {
    if (this.#done) this.#expected.onBytes?.(-this.#done);
    this.#pieces = [];
    this.#done = 0;
    this.#tag = null;
    this.resumed = false;
  }
}

/**
 * @param {Response} response
 * @returns {string | null}  by which the rest can be asked for: of a content that is sent as it is,
 *   since parts of a compressed one are counted in other bytes
 */
function tagOf({ headers }) {
  const tag = headers.get("ETag");
  const ranges = headers.get("Accept-Ranges") !== "none";
  return tag && !tag.startsWith("W/") && ranges && !headers.get("Content-Encoding") ? tag : null;
}

/**
 * @param {string} path
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {string} sha256
 * @throws {FetchError}
 */
export async function checkDigest(path, bytes, sha256) {
  // Browsers offer crypto.subtle on https and localhost only; elsewhere the size check has to do.
  if (!globalThis.crypto?.subtle) return;
  const found = hex(await digest(bytes));
  if (found !== sha256) {
    throw new FetchError(words("wrongSum", path, found, sha256));
  }
}

/**
 * A JSON file, parsed.
 * @param {string} path  relative to the site
 * @returns {Promise<any>}
 * @throws {FetchError}
 */
export async function fetchJson(path) {
  const content = new TextDecoder().decode(await fetchBytes(path));
  try {
    return JSON.parse(content);
  } catch {
    throw new FetchError(words("notJson", path));
  }
}
