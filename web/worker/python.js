// @ts-check
/**
 * Python in this worker: Pyodide and what runtime/runtime.json names.
 *
 * A Python that has imported Tallow is restored from a memory snapshot, and NumPy with it where it is
 * wanted. Where that fails, for whatever reason, it is restored without NumPy, whose wheel is installed
 * then; and where that fails, Python is started and imports Tallow: all within the same call.
 *
 * Pyodide fetches its files through the global fetch, without progress, and it waits for ever when
 * its wasm file can't be had or compiled. So every file is downloaded here, in parallel and checked;
 * Pyodide's own requests are answered with those bytes; a failure rejects the start.
 */

import { SITE, fetchJson } from "../fetch.js";
import { Said, words, wordsOf } from "../said.js";
import { download } from "./downloads.js";
import { emit } from "./serve.js";
import { Snapshot } from "./snapshot.js";
import { stage } from "./stage.js";

/**
 * @typedef {{bytes: number, sha256: string}} Known  a file, before it is fetched
 * @typedef {Known & {file: string}} Package
 * @typedef {object} Runtime
 * @property {{folder: string, files: Record<string, Known>}} pyodide
 * @property {Package & {fill: number}} snapshot
 * @property {{snapshot: Package, libraries: (Package & Library)[]}} numpy  over that
 * @property {string} version  of the Tallow in it
 * @property {Record<string, Package>} packages
 * @typedef {import("./libraries.js").Library} Library
 * @typedef {any} Pyodide
 *
 * @typedef {(settings: object) => Promise<any>} Create  Emscripten's module
 * @typedef {{loadPyodide: (options: object) => Promise<Pyodide>, create: Create}} Glue  Pyodide's two modules
 *
 * @typedef {object} Parts  of every way to start
 * @property {Runtime} runtime
 * @property {Promise<Glue>} glue
 * @property {Promise<WebAssembly.Module>} wasm
 */

// Pyodide's glue is imported as modules; these are the files that it fetches.
const WASM = "pyodide.asm.wasm";
const STANDARD = "python_stdlib.zip";
const LOCK = "pyodide-lock.json";

/** In place of the standard library: nothing is asked for under this name. */
const NO_LIBRARY = "none.zip";

/** How long an import waits for the server. */
const PATIENCE_MS = 30_000;

/**
 * Bytes that answer a request of Pyodide's, by full address.
 * @type {Map<string, Promise<Uint8Array<ArrayBuffer>>>}
 */
const ready = new Map();

const networkFetch = globalThis.fetch;

/** @type {typeof fetch} */
const fetchOrReady = async (input, init) => {
  const url = input instanceof Request ? input.url : String(input);
  const bytes = ready.get(url);
  if (!bytes) return networkFetch(input, init);
  ready.delete(url); // each is asked for once; don't hold megabytes after that
  // What can't be had makes startPython() fail; Pyodide itself would not be heard, so it waits.
  const body = await bytes.catch(() => new Promise(() => {}));
  return new Response(body);
};

/** A started Python. */
export class Python {
  #runtime;
  #restored;
  /** @type {Promise<void> | undefined} */
  #numpy;

  /**
   * @param {Pyodide} pyodide
   * @param {Runtime} runtime
   * @param {boolean} restored  with NumPy
   */
  constructor(pyodide, runtime, restored) {
    this.pyodide = pyodide;
    this.#runtime = runtime;
    this.#restored = restored;
  }

  /** Whether NumPy is importable. */
  get hasNumpy() {
    return this.#restored || "numpy" in this.pyodide.loadedPackages;
  }

  /** Make NumPy importable: once, and only for those who need it. */
  async loadNumpy() {
    if (this.hasNumpy) return;
    const { bytes } = this.#runtime.packages.numpy;
    this.#numpy ??= stage("numpy", { bytes }, () => this.#installNumpy());
    try {
      await this.#numpy;
    } catch (error) {
      this.#numpy = undefined;
      throw error;
    }
  }

  async #installNumpy() {
    await fetchNumpy(this.#runtime);
    /** @type {string[]} */
    const complaints = [];
    await this.pyodide.loadPackage("numpy", {
      messageCallback: () => {},
      errorCallback: (/** @type {string} */ words) => complaints.push(words),
    });
    if (!this.hasNumpy) {
      throw new Said(words("numpyFailed", complaints.join(" ")));
    }
  }
}

/**
 * Download what is needed and start Python.
 * @param {{numpy: boolean, plain?: boolean}} wanted  with NumPy, or without; plain: without the
 *   memory snapshot
 * @returns {Promise<Python>}
 */
export async function startPython({ numpy, plain = false }) {
  if (typeof WebAssembly === "undefined") throw new Said(words("noWebAssembly"));
  const runtime = /** @type {Runtime} */ (await fetchJson("runtime/runtime.json"));
  const code = runtime.pyodide.files[WASM];
  const parts = {
    runtime,
    glue: importGlue(runtime),
    wasm: compileWasm(pathOf(runtime, WASM), code),
  };
  for (const each of [parts.glue, parts.wasm]) each.catch(() => {}); // awaited by every way
  const python = await (plain ? load(parts) : restoreOrLoad(parts, numpy));
  // After such an error (no memory, a fault in its own code) Python answers nothing any more.
  python.pyodide._api.on_fatal = (/** @type {Error} */ { message }) => emit("fatal", { message });
  if (numpy) await python.loadNumpy();
  return python;
}

/**
 * @param {Parts} parts
 * @param {boolean} numpy
 */
async function restoreOrLoad(parts, numpy) {
  const base = downloadPart(parts.runtime.snapshot);
  for (const withNumpy of numpy ? [true, false] : [false]) {
    try {
      return await restore(parts, base, withNumpy);
    } catch (error) {
      // Without these there is no Python at all.
      await Promise.all([parts.glue.catch(notStarted), parts.wasm]);
      console.warn(error);
    }
  }
  return load(parts);
}

/** @param {Package} part */
function downloadPart({ file, bytes, sha256 }) {
  const path = `runtime/${file}`;
  const content = readKept(path, bytes).then((kept) => kept ?? download(path, { bytes, sha256 }));
  content.catch(() => {}); // awaited by whoever needs it
  return content;
}

/**
 * A file that the service worker has kept, and checked: without the way through it, and without
 * another look at each byte.
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
 * @param {Runtime} runtime
 * @param {string} name  of a file of Pyodide's
 * @returns {string}  its path, relative to the site
 */
const pathOf = ({ pyodide }, name) => `runtime/${pyodide.folder}/${name}`;

/**
 * @param {Runtime} runtime
 * @param {string} name  of a file of Pyodide's
 */
const addressOf = (runtime, name) => new URL(pathOf(runtime, name), SITE).href;

/**
 * Pyodide's two modules, of which it would import the second later.
 * @param {Runtime} runtime
 * @returns {Promise<Glue>}
 */
async function importGlue(runtime) {
  const inner = import(addressOf(runtime, "pyodide.asm.mjs"));
  inner.catch(() => {}); // awaited below, unless the other one fails first
  const { loadPyodide } = await import(addressOf(runtime, "pyodide.mjs"));
  return { loadPyodide, create: (await inner).default };
}

/**
 * Python with Tallow, and with NumPy or without, from the memory snapshot.
 * @param {Parts} parts
 * @param {Promise<Uint8Array<ArrayBuffer>>} base
 * @param {boolean} withNumpy
 */
function restore(parts, base, withNumpy) {
  const { runtime } = parts;
  const { numpy } = runtime;
  const { [WASM]: code, [STANDARD]: standard } = runtime.pyodide.files;
  const more = withNumpy ? [numpy.snapshot, ...numpy.libraries] : [];
  const bytes = [code, runtime.snapshot, ...more].reduce((sum, is) => sum + is.bytes, 0);
  return stage(withNumpy ? "numpySnapshot" : "snapshot", { bytes }, async () => {
    const files = withNumpy ? [base, downloadPart(numpy.snapshot)] : [base];
    const libraries = (withNumpy ? numpy.libraries : []).map((told) => ({
      code: compileWasm(`runtime/${told.file}`, told),
      told,
    }));
    const snapshot = new Snapshot(runtime.snapshot.fill, files, libraries);
    const pyodide = await start(parts, [snapshot.complete, keepLock(runtime)], snapshot);
    const restored = pyodide.pyimport("restored");
    const version = restored.awake(() => fetchNow(pathOf(runtime, STANDARD)), standard.sha256);
    if (withNumpy) {
      const { file, sha256 } = runtime.packages.numpy;
      restored.awake_with_numpy(() => fetchNow(`runtime/${file}`), sha256);
    }
    restored.destroy();
    if (version !== runtime.version) throw new Said(words("otherSnapshot", version));
    return new Python(pyodide, runtime, withNumpy);
  });
}

/**
 * Python, which then imports Tallow.
 * @param {Parts} parts
 */
async function load(parts) {
  const { runtime } = parts;
  const { files } = runtime.pyodide;
  const wheels = Object.entries(runtime.packages).filter(([name]) => name !== "numpy");
  const archives = Promise.all(wheels.map(([, is]) => downloadPart(is)));
  const standard = keep(pathOf(runtime, STANDARD), files[STANDARD]);
  const downloads = [archives, standard, keepLock(runtime)];
  const bytes = files[WASM].bytes + files[STANDARD].bytes;
  const pyodide = await stage("python", { bytes }, () => start(parts, downloads));
  await stage("tallow", { bytes: wheels.reduce((sum, [, is]) => sum + is.bytes, 0) }, async () => {
    for (const wheel of await archives) pyodide.unpackArchive(wheel, "wheel");
    pyodide.pyimport("tallow").destroy();
  });
  return new Python(pyodide, runtime, false);
}

/**
 * A wasm file is compiled while it arrives, and nothing of it runs before it was checked.
 * @param {string} path  relative to the site
 * @param {Known} known
 * @returns {Promise<WebAssembly.Module>}
 */
async function compileWasm(path, { bytes, sha256 }) {
  const kept = await compileKept(new URL(path, SITE).href);
  if (kept) return kept;
  /** @type {Promise<WebAssembly.Module> | undefined} */
  let compiling;
  const content = await download(path, { bytes, sha256 }, (response) => {
    compiling = WebAssembly.compileStreaming(response);
    compiling.catch(() => {}); // awaited below, unless the download fails first
  });
  try {
    // A server may not know the type of the file.
    return await (compiling ?? Promise.reject()).catch(() => WebAssembly.compile(content));
  } catch (error) {
    return notStarted(error);
  }
}

/**
 * Compile a file that the service worker has kept, and checked. V8 keeps the machine code with such a
 * response from one visit to the next, if nobody else reads it (docs/performance.md).
 * @param {string} address
 * @returns {Promise<WebAssembly.Module | null>}  null where it has not, or has what is none
 */
async function compileKept(address) {
  try {
    if (!(await findKept(address))) return null;
    return await WebAssembly.compileStreaming(networkFetch(address));
  } catch {
    return null; // no storage, or evicted, or damaged: it is downloaded as on a first visit
  }
}

/**
 * @param {Parts} parts
 * @param {Promise<unknown>[]} downloads  of what it needs; one that fails makes this fail
 * @param {Snapshot} [snapshot]
 * @returns {Promise<Pyodide>}
 */
async function start({ runtime, glue, wasm }, downloads, snapshot) {
  withhold(addressOf(runtime, NO_LIBRARY));
  withhold(addressOf(runtime, WASM)); // it is compiled already, or soon
  globalThis.fetch = fetchOrReady;
  const instantiate = WebAssembly.instantiateStreaming;
  /** @type {PromiseWithResolvers<never>} */
  const failing = Promise.withResolvers();
  failing.promise.catch(() => {}); // nobody may be there any more to hear it
  WebAssembly.instantiateStreaming = async (_, imports) => {
    try {
      const module = await wasm;
      const instance = await WebAssembly.instantiate(module, imports);
      snapshot?.begin(instance.exports);
      return { module, instance };
    } catch (error) {
      failing.reject(error);
      throw error;
    }
  };
  for (const each of [wasm, ...downloads]) each.catch(failing.reject);
  try {
    const { loadPyodide, create } = await Promise.race([glue, failing.promise]);
    const wheel = new URL(`runtime/${runtime.packages.numpy.file}`, SITE);
    const options = {
      indexURL: addressOf(runtime, ""),
      packageBaseUrl: new URL("./", wheel).href, // of the one package that Pyodide asks for
      createPyodideModule: create,
    };
    if (snapshot) {
      Object.assign(options, {
        _loadSnapshot: snapshot.header,
        // Files are not in a snapshot. The library is fetched when something imports more of it.
        stdLibURL: addressOf(runtime, NO_LIBRARY),
        createPyodideModule: async (/** @type {object} */ settings) => {
          const emscripten = await create(settings);
          await snapshot.restore(emscripten);
          return emscripten;
        },
      });
    }
    return await Promise.race([loadPyodide(options), failing.promise]);
  } catch (error) {
    return notStarted(error);
  } finally {
    WebAssembly.instantiateStreaming = instantiate;
  }
}

/**
 * @param {unknown} error
 * @returns {never}
 */
function notStarted(error) {
  if (error instanceof Said) throw error;
  throw new Said(words("pythonFailed", wordsOf(error)));
}

/**
 * A file that something imports, now, while Python waits.
 * @param {string} path  relative to the site
 * @returns {Uint8Array}
 * @throws {Error}
 */
function fetchNow(path) {
  const request = new XMLHttpRequest();
  request.open("GET", new URL(path, SITE), false);
  request.responseType = "arraybuffer";
  request.timeout = PATIENCE_MS;
  request.send();
  if (request.status !== 200) throw new Error(`the server answered ${request.status}`);
  return new Uint8Array(request.response);
}

/** @param {Runtime} runtime */
function fetchNumpy({ packages: { numpy } }) {
  return keep(`runtime/${numpy.file}`, numpy);
}

/** @param {Runtime} runtime */
function keepLock(runtime) {
  return keep(pathOf(runtime, LOCK), runtime.pyodide.files[LOCK]);
}

/**
 * Download a file and keep it for Pyodide's own request.
 * @param {string} path  relative to the site
 * @param {Known} expected
 */
function keep(path, expected) {
  const url = new URL(path, SITE).href;
  const bytes = ready.get(url) ?? download(path, expected);
  ready.set(url, bytes);
  bytes.catch(() => ready.delete(url)); // so that the next try asks the server again
  return bytes;
}

/**
 * Have Pyodide's next request of one of its files answered with nothing: it does not need it.
 * @param {string} address
 */
function withhold(address) {
  ready.set(address, Promise.resolve(new Uint8Array()));
}
