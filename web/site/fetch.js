// @ts-check
/**
 * Fetches files of this site by path: bytes with progress and a checksum, or JSON. Works in the
 * page and in a worker.
 *
 * Every failure (missing file, server error, interrupted or stalled transfer, wrong checksum)
 * becomes a FetchError whose message names the file and says what to do. After a broken connection
 * the download resumes where it stopped if the server supports that, otherwise from the start. A
 * stalled connection is retried once.
 */

import { digest, hex, joined } from "../shared/bytes.js";
import { HASHED } from "../shared/names.js";
import { LocalizedError, words } from "../i18n/messages.js";

/** The folder of index.html, under whatever path the site is hosted. */
export const SITE = new URL("../", import.meta.url);

/** The folder of the visitor's own models: files of the browser's cache, not of the server. */
const KEPT = "models/own/";

/**
 * Revalidate files without a hash in their name.
 * @param {string} path
 * @returns {RequestCache}
 */
const cacheFor = (path) => (HASHED.test(path) ? "default" : "no-cache");

/** @param {string} path @returns {string}  as a person would name it */
export const withoutHash = (path) => path.replace(HASHED, (match) => match.slice(-1));

/** The browser's own fetch, which worker/python.js replaces while Pyodide starts. */
const request = globalThis.fetch;

/** A connection times out when the server sends nothing for this long. */
const SILENCE_MS = 30_000;

/** Pauses before the retries after broken connections. */
const PAUSES_MS = [0, 300, 1200];

/** After this many new bytes the count of retries starts again. */
const PROGRESS_BYTES = 64 << 10;

/** A file of this site could not be fetched. */
export class FetchError extends LocalizedError {
  name = "FetchError";
}

/** The server sent nothing for too long. */
class SilenceError extends FetchError {}

/** The connection failed or broke. */
export class BrokenError extends FetchError {}

/**
 * @typedef {object} Expected
 * @property {number} [bytes]   size of the whole file, if known
 * @property {string} [sha256]  lower-case hex digest of the whole file, if known
 * @property {(bytes: number) => void} [onBytes]  called with the size of each chunk that arrives,
 *   and with a negative size when bytes are discarded
 * @property {(response: Response) => void} [onResponse]  called with a copy of the response when it
 *   begins, to use it while it arrives
 */

/** @param {string} path  in KEPT @returns {Promise<Response | undefined>} */
export const keptFile = async (path) => caches.match(new URL(path, SITE));

/**
 * Request a file, or the rest of it. Resolves when a successful response begins.
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
    const asked = () => request(new URL(path, SITE), { cache, headers, signal });
    response =
      (path.startsWith(KEPT) && (await keptFile(path))) || (await withinSilence(path, asked()));
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
 * Fetch a file, and check its size and hash if known.
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
    // The file may have changed between two connections: fetch all of it once more.
    if (transfer.resumed && !(error instanceof BrokenError)) {
      return new Transfer(path, expected).bytes();
    }
    throw error;
  }
}

/**
 * Read over as many connections as needed, until a response has ended.
 * @param {(signal: AbortSignal) => Promise<void>} read  reads the missing bytes over one connection
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
      if (done() >= furthest + PROGRESS_BYTES) {
        furthest = done();
        tries = 0;
      }
      if (error instanceof SilenceError) {
        // A connection can die silently while the server is fine.
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
 * @param {number} at  the offset of the body in the file
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

/** The download of a file, over as many connections as needed. */
class Transfer {
  #path;
  #expected;
  /** What has arrived, if the size is known in advance; otherwise see #pieces. */
  #whole;
  /** @type {Uint8Array[]} */
  #pieces = [];
  #done = 0;
  /** The ETag of this content, if downloads can be resumed. @type {string | null} */
  #tag = null;
  /** Whether the content came over more than one connection. */
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
    const tag = from > 0 && this.#tag;
    const headers = tag ? { Range: `bytes=${from}-`, "If-Range": tag } : {};
    const response = await ask(path, /** @type {Record<string, string>} */ (headers), signal);
    const begins = /^bytes (\d+)-/.exec(response.headers.get("Content-Range") ?? "")?.[1];
    if (response.status === 206 && begins === String(from)) this.resumed = true;
    else {
      this.#startOver(); // the server sends all of it
      this.#expected.onResponse?.(response.clone());
    }
    this.#tag = tagOf(response);
    await eachChunk(path, response.body, this.#done, (chunk) => this.#take(chunk));
  }

  /** @param {Uint8Array} piece */
  #take(piece) {
    const offset = this.#done;
    this.#done += piece.length;
    this.#expected.onBytes?.(piece.length);
    if (!this.#whole) this.#pieces.push(piece);
    else if (this.#done <= this.#whole.length) this.#whole.set(piece, offset);
  }

  /** Discard what has arrived. */
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
 * @returns {string | null}  the ETag, if the download can be resumed. A compressed response can't,
 *   because ranges count compressed bytes.
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
  // Browsers have crypto.subtle only on https and localhost; elsewhere the size check must do.
  if (!globalThis.crypto?.subtle) return;
  const found = hex(await digest(bytes));
  if (found !== sha256) {
    throw new FetchError(words("wrongSum", path, found, sha256));
  }
}

/**
 * Fetch and parse a JSON file.
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
