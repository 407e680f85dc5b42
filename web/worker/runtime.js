// @ts-check
/**
 * Loads the files that Python needs, as listed by the build. Files in the service worker's cache
 * were checked when they were cached; all others are checked here.
 */

import { base64 } from "../shared/bytes.js";
import { SITE } from "../site/fetch.js";
import listed from "../runtime/runtime.js";
import { download } from "./downloads.js";

/**
 * @typedef {{bytes: number, sha256: string}} Known  a file that was not fetched yet
 * @typedef {Known & {file: string}} Package
 * @typedef {object} Runtime
 * @property {{folder: string, files: Record<string, Known>}} pyodide
 * @property {object} lock  Pyodide's list of packages
 * @property {Package & {fill: number}} snapshot
 * @property {{snapshot: Package, libraries: (Package & Library)[]}} numpy  on top of that snapshot
 * @property {string} version  of Tallow in the snapshot
 * @property {Record<string, Package>} packages
 * @typedef {import("./libraries.js").Library} Library
 */

/** The files below runtime/ (`_put_runtime` in py/tallow_build/page/dist.py). */
export const runtime = /** @type {Runtime} */ (listed);

/** Whether the service worker has cached these files. The browser may have evicted some since. */
let cached = false;

/** The page has a service worker. */
export function expectCached() {
  cached = true;
}

/** Identifies this build of Python and Tallow. */
export const BUILD = JSON.stringify(listed);

/** The browser's own fetch, which python.js replaces while Pyodide starts. */
const request = globalThis.fetch;

/** @param {string} name  of a Pyodide file @returns {string}  its path, relative to the site */
export const pathOf = (name) => `runtime/${runtime.pyodide.folder}/${name}`;

/** @param {string} name  of a Pyodide file */
export const addressOf = (name) => new URL(pathOf(name), SITE).href;

/** @param {Package} part @returns {Promise<Uint8Array<ArrayBuffer>>} */
export function downloadPart({ file, bytes, sha256 }) {
  const path = `runtime/${file}`;
  const content = readCached(path, bytes).then(
    (found) => found ?? download(path, { bytes, sha256 }),
  );
  content.catch(() => {}); // awaited later
  return content;
}

/**
 * Read a file from the service worker's cache directly, without hashing it again.
 * @param {string} path  relative to the site
 * @param {number} bytes
 * @returns {Promise<Uint8Array<ArrayBuffer> | null>}  null if it is not cached
 */
async function readCached(path, bytes) {
  try {
    const found = await findCached(new URL(path, SITE).href);
    const content = new Uint8Array(/** @type {ArrayBuffer} */ (await found?.arrayBuffer()));
    return content.length === bytes ? content : null;
  } catch {
    return null; // no storage, or evicted, or damaged: download it as on a first visit
  }
}

/** @param {string} address */
function findCached(address) {
  return caches.match(address, { ignoreVary: true });
}

/**
 * Compile a wasm file while it downloads. It runs only after its checksum was verified.
 * @param {string} path  relative to the site
 * @param {Known} known
 * @returns {Promise<WebAssembly.Module>}
 */
export async function compileWasm(path, { bytes, sha256 }) {
  const found = await compileCached(path, sha256);
  if (found) return found;
  /** @type {Promise<WebAssembly.Module> | undefined} */
  let compiling;
  const content = await download(path, { bytes, sha256 }, (response) => {
    compiling = WebAssembly.compileStreaming(response);
    compiling.catch(() => {}); // awaited below, unless the download fails first
  });
  // Streaming fails if the server sends the wrong Content-Type.
  return (compiling ?? Promise.reject()).catch(() => WebAssembly.compile(content));
}

/**
 * Compile a file from the service worker's cache.
 * @param {string} path  relative to the site
 * @param {string} sha256
 * @returns {Promise<WebAssembly.Module | null>}  null if it is not cached, or not valid
 */
async function compileCached(path, sha256) {
  const address = new URL(path, SITE).href;
  try {
    if (!cached && !(await findCached(address))) return null;
    const again = await compileAgain(address, sha256).catch(() => null);
    if (again) return again;
    if (!(await findCached(address))) return null; // a fetched file would be unchecked
    return await WebAssembly.compileStreaming(request(address));
  } catch {
    return null; // no storage, or evicted, or damaged: download it as on a first visit
  }
}

/**
 * Compile a file from the browser's HTTP cache: V8 stores its machine code with that entry alone.
 * @param {string} address
 * @param {string} sha256
 * @returns {Promise<WebAssembly.Module>}
 * @throws {TypeError}  if the browser has evicted it
 */
function compileAgain(address, sha256) {
  const integrity = `sha256-${base64(sha256)}`;
  // The service worker does not intercept such requests (py/tallow_build/page/service_worker.mjs).
  const local = request(address, { cache: "only-if-cached", mode: "same-origin", integrity });
  return WebAssembly.compileStreaming(local);
}
