// @ts-check
/**
 * Fetch files of this site by their path: bytes with progress and a checksum, or JSON.
 *
 * Every failure (missing file, server error, cut-off or stalled transfer, wrong checksum) becomes a
 * FetchError whose message names the file and says what to do. A stalled one is tried once more.
 * Works in the page and in a worker.
 */

import { Said, words } from "./said.js";

/** The folder that index.html lies in, whatever path the site is hosted under. */
export const SITE = new URL("./", import.meta.url);

/** A server that sends nothing for this long is given up on. */
const SILENCE_MS = 30_000;

/** A file of this site that could not be had. */
export class FetchError extends Said {
  name = "FetchError";
}

/** A server that said nothing for too long. */
class SilenceError extends FetchError {}

/**
 * @typedef {object} Expected
 * @property {number} [bytes]   size of the whole file, where known
 * @property {string} [sha256]  lower-case hex digest of the whole file, where known
 * @property {(bytes: number) => void} [onBytes]  called with the size of each piece that arrives,
 *   and with a negative one when what has arrived is given up
 */

/**
 * Start to fetch a file: resolves with its stream once the server has said yes.
 * @param {string} path  relative to the site
 * @param {AbortSignal} signal
 * @returns {Promise<ReadableStream<Uint8Array>>}
 * @throws {FetchError}
 */
async function openStream(path, signal) {
  let response;
  try {
    // no-cache: ask whether our copy is still good, so that files of two builds never mix.
    const asked = fetch(new URL(path, SITE), { cache: "no-cache", signal });
    response = await withinSilence(path, asked);
  } catch (error) {
    if (error instanceof FetchError) throw error;
    throw new FetchError(words("unreachable", path));
  }
  if (response.status === 404) {
    throw new FetchError(words("missing", path));
  }
  if (!response.ok || !response.body) {
    throw new FetchError(words("refused", path, response.status));
  }
  return response.body;
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
  try {
    return await fetchOnce(path, expected);
  } catch (error) {
    // A connection can die without a word while the server is well.
    if (error instanceof SilenceError) return fetchOnce(path, expected);
    throw error;
  }
}

/**
 * @param {string} path
 * @param {Expected} expected
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function fetchOnce(path, { bytes: size, sha256, onBytes }) {
  const connection = new AbortController();
  const pieces = [];
  let done = 0;
  try {
    const reader = (await openStream(path, connection.signal)).getReader();
    for (;;) {
      const piece = await withinSilence(path, reader.read());
      if (piece.done) break;
      pieces.push(piece.value);
      done += piece.value.length;
      onBytes?.(piece.value.length);
    }
  } catch (error) {
    connection.abort();
    onBytes?.(-done);
    if (error instanceof FetchError) throw error;
    throw new FetchError(words("cutOff", path, done));
  }
  if (size !== undefined && done !== size) {
    throw new FetchError(words("wrongSize", path, done, size));
  }
  const whole = new Uint8Array(done);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  if (sha256 !== undefined) await checkDigest(path, whole, sha256);
  return whole;
}

/**
 * @param {string} path
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {string} sha256
 */
async function checkDigest(path, bytes, sha256) {
  // Browsers offer crypto.subtle on https and localhost only; elsewhere the size check has to do.
  if (!globalThis.crypto?.subtle) return;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const found = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
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
