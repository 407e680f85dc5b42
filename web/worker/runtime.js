// @ts-check
/**
 * The files that Python is started from: what the build tells of them, and how they come. What the
 * service worker has kept it has checked; everything else is checked here.
 */

import { base64 } from "../shared/bytes.js";
import { SITE } from "../shared/fetch.js";
import told from "../runtime/runtime.js";
import { download } from "./downloads.js";

/**
 * @typedef {{bytes: number, sha256: string}} Known  a file, before it is fetched
 * @typedef {Known & {file: string}} Package
 * @typedef {object} Runtime
 * @property {{folder: string, files: Record<string, Known>}} pyodide
 * @property {object} lock  what Pyodide knows of packages
 * @property {Package & {fill: number}} snapshot
 * @property {{snapshot: Package, libraries: (Package & Library)[]}} numpy  over that
 * @property {string} version  of the Tallow in it
 * @property {Record<string, Package>} packages
 * @typedef {import("./libraries.js").Library} Library
 */

/** What there is below runtime/ (`_put_runtime` in py/tallow_build/dist.py). */
export const runtime = /** @type {Runtime} */ (told);

/** Whether the service worker has kept these files, if the browser did not drop some since. */
let expected = false;

/** The page has a service worker. */
export function expectKept() {
  expected = true;
}

/** What tells this build of Python and Tallow from others. */
export const BUILD = JSON.stringify(told);

/** Python has another one stand in for it while it starts (python.js). */
const request = globalThis.fetch;

/** @param {string} name  of a file of Pyodide's @returns {string}  its path, relative to the site */
export const pathOf = (name) => `runtime/${runtime.pyodide.folder}/${name}`;

/** @param {string} name  of a file of Pyodide's */
export const addressOf = (name) => new URL(pathOf(name), SITE).href;

/** @param {Package} part @returns {Promise<Uint8Array<ArrayBuffer>>} */
export function downloadPart({ file, bytes, sha256 }) {
  const path = `runtime/${file}`;
  const content = readKept(path, bytes).then((kept) => kept ?? download(path, { bytes, sha256 }));
  content.catch(() => {}); // awaited by whoever needs it
  return content;
}

/**
 * A file that the service worker has kept: without the way through it, and without another look at
 * each byte.
 * @param {string} path  relative to the site
 * @param {number} bytes
 * @returns {Promise<Uint8Array<ArrayBuffer> | null>}  null where it has not
 */
async function readKept(path, bytes) {
  try {
    const kept = await findKept(new URL(path, SITE).href);
    const content = new Uint8Array(/** @type {ArrayBuffer} */ (await kept?.arrayBuffer()));
    return content.length === bytes ? content : null;
  } catch {
    return null; // no storage, or evicted, or damaged: it is downloaded as on a first visit
  }
}

/** @param {string} address */
function findKept(address) {
  return caches.match(address, { ignoreVary: true });
}

/**
 * A wasm file is compiled while it arrives, and nothing of it runs before it was checked.
 * @param {string} path  relative to the site
 * @param {Known} known
 * @returns {Promise<WebAssembly.Module>}
 */
export async function compileWasm(path, { bytes, sha256 }) {
  const kept = await compileKept(path, sha256);
  if (kept) return kept;
  /** @type {Promise<WebAssembly.Module> | undefined} */
  let compiling;
  const content = await download(path, { bytes, sha256 }, (response) => {
    compiling = WebAssembly.compileStreaming(response);
    compiling.catch(() => {}); // awaited below, unless the download fails first
  });
  // A server may not know the type of the file.
  return (compiling ?? Promise.reject()).catch(() => WebAssembly.compile(content));
}

/**
 * Compile a file that the service worker has kept.
 * @param {string} path  relative to the site
 * @param {string} sha256
 * @returns {Promise<WebAssembly.Module | null>}  null where it has not, or has what is none
 */
async function compileKept(path, sha256) {
  const address = new URL(path, SITE).href;
  try {
    if (!expected && !(await findKept(address))) return null;
    const again = await compileAgain(address, sha256).catch(() => null);
    if (again) return again;
    if (!(await findKept(address))) return null; // what the service worker fetches is not checked
    return await WebAssembly.compileStreaming(request(address));
  } catch {
    return null; // no storage, or evicted, or damaged: it is downloaded as on a first visit
  }
}

/**
 * Compile a file of an earlier visit. V8 keeps the machine code that it made then with the answer in the
 * browser's own cache, and finds it with that one alone.
 * @param {string} address
 * @param {string} sha256
 * @returns {Promise<WebAssembly.Module>}
 * @throws {TypeError}  if the browser has it no more
 */
function compileAgain(address, sha256) {
  const integrity = `sha256-${base64(sha256)}`;
  // The service worker lets such a request pass (py/tallow_build/service_worker.mjs).
  const local = request(address, { cache: "only-if-cached", mode: "same-origin", integrity });
  return WebAssembly.compileStreaming(local);
}
