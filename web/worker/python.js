// @ts-check
/**
 * Python in this worker: Pyodide with the wheels that runtime/runtime.json names.
 *
 * Pyodide fetches its files through the global fetch, without progress, and it waits for ever when
 * its wasm file can't be had or compiled. So every file is downloaded here, in parallel and checked;
 * Pyodide's own requests are answered with those bytes; a failure rejects the start.
 */

import { SITE, fetchJson } from "../fetch.js";
import { Said, words, wordsOf } from "../said.js";
import { download } from "./downloads.js";
import { emit } from "./serve.js";
import { stage } from "./stage.js";

/**
 * @typedef {{bytes: number, sha256: string}} Known  a file, before it is fetched
 * @typedef {Known & {file: string}} Package
 * @typedef {{pyodide: {files: Record<string, Known>}, packages: Record<string, Package>}} Runtime
 * @typedef {any} Pyodide
 */

const HOME = new URL("runtime/pyodide/", SITE);
const WHEELS = new URL("runtime/wheels/", SITE);

/** Pyodide's glue is imported as modules; these are the files that it fetches. */
const FETCHED = ["pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"];

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
  const type = url.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
  return new Response(body, { headers: { "Content-Type": type } });
};

/** A started Python. */
export class Python {
  #runtime;
  /** @type {Promise<void> | undefined} */
  #numpy;

  /**
   * @param {Pyodide} pyodide
   * @param {Runtime} runtime
   */
  constructor(pyodide, runtime) {
    this.pyodide = pyodide;
    this.#runtime = runtime;
  }

  /** Make NumPy importable: once, and only for those who need it. */
  async loadNumpy() {
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
    if (!("numpy" in this.pyodide.loadedPackages)) {
      throw new Said(words("numpyFailed", complaints.join(" ")));
    }
  }
}

/**
 * Download everything and start Python.
 * @param {{numpy: boolean}} wanted  with NumPy, or without
 * @returns {Promise<Python>}
 */
export async function startPython({ numpy }) {
  if (typeof WebAssembly === "undefined") throw new Said(words("noWebAssembly"));
  const glue = import(new URL("pyodide.mjs", HOME).href);
  glue.catch(() => {}); // awaited below, unless runtime.json fails first
  const runtime = /** @type {Runtime} */ (await fetchJson("runtime/runtime.json"));
  const files = runtime.pyodide.files;
  const wheels = Object.entries(runtime.packages).filter(([name]) => name !== "numpy");
  const archives = Promise.all(
    wheels.map(([, { file, ...is }]) => download(`runtime/${file}`, is)),
  );
  const downloads = Promise.all([
    archives,
    ...FETCHED.map((name) => keep(`runtime/pyodide/${name}`, files[name])),
    ...(numpy ? [fetchNumpy(runtime)] : []),
  ]);
  downloads.then(() => emit("progress", { stage: "python" })).catch(() => {});

  const bytes = FETCHED.reduce((sum, name) => sum + files[name].bytes, 0);
  const pyodide = await stage("python", { bytes }, () => orFailure(downloads, start(glue)));
  await stage("tallow", { bytes: wheels.reduce((sum, [, is]) => sum + is.bytes, 0) }, async () => {
    for (const wheel of await archives) pyodide.unpackArchive(wheel, "wheel");
    pyodide.pyimport("tallow").destroy();
  });
  const python = new Python(pyodide, runtime);
  if (numpy) await python.loadNumpy();
  return python;
}

/**
 * @param {Promise<{loadPyodide: (options: object) => Promise<Pyodide>}>} glue
 * @returns {Promise<Pyodide>}
 */
async function start(glue) {
  globalThis.fetch = fetchOrReady;
  const compiling = Promise.withResolvers();
  const compile = WebAssembly.instantiateStreaming;
  WebAssembly.instantiateStreaming = (...args) => {
    const compiled = compile(...args);
    compiled.catch(compiling.reject);
    return compiled;
  };
  try {
    const { loadPyodide } = await glue;
    const started = loadPyodide({ indexURL: HOME.href, packageBaseUrl: WHEELS.href });
    const pyodide = await Promise.race([started, compiling.promise]);
    // After such an error (no memory, a fault in its own code) Python answers nothing any more.
    pyodide._api.on_fatal = (/** @type {Error} */ { message }) => emit("fatal", { message });
    return pyodide;
  } catch (error) {
    throw new Said(words("pythonFailed", wordsOf(error)));
  } finally {
    WebAssembly.instantiateStreaming = compile;
  }
}

/**
 * The second promise, unless the first is rejected before it settles.
 * @template T
 * @param {Promise<unknown>} work
 * @param {Promise<T>} result
 * @returns {Promise<T>}
 */
function orFailure(work, result) {
  return new Promise((resolve, reject) => {
    work.catch(reject);
    result.then(resolve, reject);
  });
}

/**
 * @param {Runtime} runtime
 */
function fetchNumpy({ packages: { numpy } }) {
  return keep(`runtime/${numpy.file}`, numpy);
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
