// @ts-check
/**
 * Starts Python in this worker: Pyodide with the packages that runtime.js lists.
 *
 * Python is restored from a memory snapshot taken after it imported Tallow, and NumPy if needed. If
 * that fails for any reason, it is restored without NumPy, whose wheel is then installed. If that
 * fails too, Python is started normally and imports Tallow. All of this happens within one call.
 *
 * Pyodide fetches its files through the global fetch, without progress, and hangs if its wasm file
 * can't be fetched or compiled. So this module downloads and checks every file, in parallel, and
 * answers Pyodide's own requests with those bytes. A failure rejects the start.
 */

import { SITE } from "../site/fetch.js";
import { LocalizedError, words, wordsOf } from "../i18n/messages.js";
import { download } from "./downloads.js";
import { addressOf, compileWasm, downloadPart, pathOf, runtime } from "./runtime.js";
import { emit } from "./serve.js";
import { Snapshot } from "./snapshot.js";
import { stage } from "./stage.js";

/**
 * @typedef {import("./runtime.js").Known} Known
 * @typedef {any} Pyodide
 *
 * @typedef {(settings: object) => Promise<any>} Create  Emscripten's module
 * @typedef {{loadPyodide: (options: object) => Promise<Pyodide>, create: Create}} Glue  Pyodide's
 *   two modules
 *
 * @typedef {object} Parts  what every way to start needs
 * @property {Promise<Glue>} glue
 * @property {Promise<WebAssembly.Module>} wasm
 */

// Files that Pyodide fetches; its glue is imported as modules.
const WASM = "pyodide.asm.wasm";
const STANDARD = "python_stdlib.zip";

/** A name that replaces the standard library's, so that Pyodide does not fetch it. */
const NO_LIBRARY = "none.zip";

/** How long a synchronous import waits for the server. */
const PATIENCE_MS = 30_000;

/**
 * Bytes that answer Pyodide's requests, by URL.
 * @type {Map<string, Promise<Uint8Array<ArrayBuffer>>>}
 */
const ready = new Map();

const networkFetch = globalThis.fetch;

/** @type {typeof fetch} */
const fetchOrReady = async (input, init) => {
  const url = input instanceof Request ? input.url : String(input);
  const bytes = ready.get(url);
  if (!bytes) return networkFetch(input, init);
  ready.delete(url); // each is requested once; don't hold megabytes after that
  // A failed download rejects startPython(). Pyodide would not report it, so it just waits.
  const body = await bytes.catch(() => new Promise(() => {}));
  return new Response(body);
};

/** A started Python. */
export class Python {
  #restored;
  /** @type {Promise<void> | undefined} */
  #numpy;

  /**
   * @param {Pyodide} pyodide
   * @param {boolean} restored  whether NumPy came with the snapshot
   */
  constructor(pyodide, restored) {
    this.pyodide = pyodide;
    this.#restored = restored;
  }

  /** Whether NumPy is importable. */
  get hasNumpy() {
    return this.#restored || "numpy" in this.pyodide.loadedPackages;
  }

  /** Make NumPy importable. */
  async loadNumpy() {
    if (this.hasNumpy) return;
    const { bytes } = runtime.packages.numpy;
    this.#numpy ??= stage("numpy", { bytes }, () => this.#installNumpy());
    try {
      await this.#numpy;
    } catch (error) {
      this.#numpy = undefined;
      throw error;
    }
  }

  async #installNumpy() {
    await fetchNumpy();
    /** @type {string[]} */
    const errors = [];
    await this.pyodide.loadPackage("numpy", {
      messageCallback: () => {},
      errorCallback: (/** @type {string} */ message) => errors.push(message),
    });
    if (!this.hasNumpy) {
      throw new LocalizedError(words("numpyFailed", errors.join(" ")));
    }
  }
}

/**
 * Download everything needed and start Python.
 * @param {{numpy: boolean, plain?: boolean}} wanted  numpy: with NumPy; plain: without the memory
 *   snapshot
 * @returns {Promise<Python>}
 */
export async function startPython({ numpy, plain = false }) {
  if (typeof WebAssembly === "undefined") throw new LocalizedError(words("noWebAssembly"));
  const parts = {
    glue: importGlue(),
    wasm: compileWasm(pathOf(WASM), runtime.pyodide.files[WASM]),
  };
  for (const each of [parts.glue, parts.wasm]) each.catch(() => {}); // awaited later
  const python = await (plain ? load(parts) : restoreOrLoad(parts, numpy));
  // After such an error (out of memory, a fault in its own code) Python no longer works.
  python.pyodide._api.on_fatal = (/** @type {Error} */ { message }) => emit("fatal", { message });
  if (numpy) await python.loadNumpy();
  return python;
}

/**
 * @param {Parts} parts
 * @param {boolean} numpy
 */
async function restoreOrLoad(parts, numpy) {
  const base = downloadPart(runtime.snapshot);
  for (const withNumpy of numpy ? [true, false] : [false]) {
    try {
      return await restore(parts, base, withNumpy);
    } catch (error) {
      // Without these, no other way works either.
      await Promise.all([parts.glue, parts.wasm]).catch(notStarted);
      console.warn(error);
    }
  }
  return load(parts);
}

/**
 * Import both of Pyodide's modules in parallel; Pyodide itself would import the second one later.
 * @returns {Promise<Glue>}
 */
async function importGlue() {
  const inner = importPart("pyodide.asm.mjs");
  inner.catch(() => {}); // awaited below, unless the other one fails first
  const { loadPyodide } = await importPart("pyodide.mjs");
  return { loadPyodide, create: (await inner).default };
}

/**
 * Import a module of Pyodide. If it can't be loaded, browsers throw a TypeError, which looks like a
 * bug; this throws a message for the visitor instead.
 * @param {string} name
 * @returns {Promise<any>}
 */
async function importPart(name) {
  try {
    return await import(addressOf(name));
  } catch (error) {
    console.warn(error);
    throw new LocalizedError(words("notImported", pathOf(name)));
  }
}

/**
 * Restore Python from the memory snapshot.
 * @param {Parts} parts
 * @param {Promise<Uint8Array<ArrayBuffer>>} base
 * @param {boolean} withNumpy
 */
function restore(parts, base, withNumpy) {
  const { numpy } = runtime;
  const { [WASM]: code, [STANDARD]: standard } = runtime.pyodide.files;
  const more = withNumpy ? [numpy.snapshot, ...numpy.libraries] : [];
  const bytes = [code, runtime.snapshot, ...more].reduce((sum, file) => sum + file.bytes, 0);
  return stage(withNumpy ? "numpySnapshot" : "snapshot", { bytes }, async () => {
    const files = withNumpy ? [base, downloadPart(numpy.snapshot)] : [base];
    const libraries = (withNumpy ? numpy.libraries : []).map((library) => ({
      code: compileWasm(`runtime/${library.file}`, library),
      library,
    }));
    const snapshot = new Snapshot(runtime.snapshot.fill, files, libraries);
    const pyodide = await start(parts, [snapshot.complete], snapshot);
    const restored = pyodide.pyimport("restored");
    const version = restored.awake(() => fetchNow(pathOf(STANDARD)), standard.sha256);
    const own = ["tallow", "page", "templates"];
    for (const name of withNumpy ? [...own, "numpy"] : own) {
      const { file, sha256 } = runtime.packages[name];
      restored.awake_with_wheel(name, () => fetchNow(`runtime/${file}`), sha256);
    }
    restored.destroy();
    if (version !== runtime.version) throw new LocalizedError(words("otherSnapshot", version));
    return new Python(pyodide, withNumpy);
  });
}

/**
 * Start Python, then import Tallow.
 * @param {Parts} parts
 */
async function load(parts) {
  const { files } = runtime.pyodide;
  const wheels = Object.entries(runtime.packages).filter(([name]) => name !== "numpy");
  const archives = Promise.all(wheels.map(([, wheel]) => downloadPart(wheel)));
  const standard = keep(pathOf(STANDARD), files[STANDARD]);
  const downloads = [archives, standard];
  const bytes = files[WASM].bytes + files[STANDARD].bytes;
  const pyodide = await stage("python", { bytes }, () => start(parts, downloads));
  const wheelBytes = wheels.reduce((sum, [, wheel]) => sum + wheel.bytes, 0);
  await stage("tallow", { bytes: wheelBytes }, async () => {
    for (const archive of await archives) pyodide.unpackArchive(archive, "wheel");
    pyodide.pyimport("tallow").destroy();
  });
  return new Python(pyodide, false);
}

/**
 * @param {Parts} parts
 * @param {Promise<unknown>[]} downloads  that it needs; if one fails, this fails
 * @param {Snapshot} [snapshot]
 * @returns {Promise<Pyodide>}
 */
async function start({ glue, wasm }, downloads, snapshot) {
  answerEmpty(addressOf(NO_LIBRARY));
  answerEmpty(addressOf(WASM)); // compiled separately
  globalThis.fetch = fetchOrReady;
  const { instantiateStreaming: instantiate } = WebAssembly;
  /** @type {PromiseWithResolvers<never>} */
  const failing = Promise.withResolvers();
  failing.promise.catch(() => {}); // it may reject after the race below
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
      indexURL: addressOf(""),
      lockFileContents: runtime.lock, // for NumPy, the only package that Pyodide loads itself
      packageBaseUrl: new URL("./", wheel).href,
      createPyodideModule: create,
    };
    if (snapshot) {
      Object.assign(options, {
        _loadSnapshot: snapshot.header,
        // The standard library is fetched when something imports a module not in the snapshot.
        stdLibURL: addressOf(NO_LIBRARY),
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
  if (error instanceof LocalizedError) throw error;
  throw new LocalizedError(words("pythonFailed", wordsOf(error)));
}

/**
 * Fetch a file synchronously, while Python waits in an import.
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

function fetchNumpy() {
  const { numpy } = runtime.packages;
  return keep(`runtime/${numpy.file}`, numpy);
}

/**
 * Download a file, to answer Pyodide's own request with it.
 * @param {string} path  relative to the site
 * @param {Known} expected
 */
function keep(path, expected) {
  const url = new URL(path, SITE).href;
  const bytes = ready.get(url) ?? download(path, expected);
  ready.set(url, bytes);
  bytes.catch(() => ready.delete(url)); // so that the next try downloads it again
  return bytes;
}

/**
 * Answer Pyodide's next request for this file with an empty body. Pyodide does not need the file.
 * @param {string} address
 */
function answerEmpty(address) {
  ready.set(address, Promise.resolve(new Uint8Array()));
}
