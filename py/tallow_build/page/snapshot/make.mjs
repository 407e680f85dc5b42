/**
 * Compiles the page's wheels to bytecode, and makes memory snapshots: of a Pyodide that has imported
 * Tallow, and of one that has imported NumPy after that. Whatever differs between two runs or
 * machines (clock, random numbers, settings) is held still, so that the same wheels give the same
 * files.
 *
 *     node make.mjs '{"folder": "", "leftOut": [""], "imported": [""], "numpy": ""}'
 *
 * leftOut: beginnings of the paths of modules that the page does without. imported: the wheels that
 * both snapshots have. numpy: NumPy's. Writes to `folder` all wheels, compiled; snapshot.bin;
 * numpy.bin, which is what NumPy changes in that; the shared libraries that it has loaded, as
 * NAME.wasm; and made.json, which tells of them (web/worker/libraries.js) and up to which byte the
 * memory of a new instance holds more than zeros. Of the snapshots web/worker/snapshot.js reads:
 *
 *     u32      bytes of Pyodide's own header
 *     u32      bytes of memory
 *     u32      n
 *     u32 2n   runs: the first word of each, how many there are
 *              the header, the words of all runs
 *
 * A word of a run is what the memory has there, XOR what is there otherwise: in a new instance of
 * pyodide.asm.wasm, or in the snapshot before.
 */

import crypto from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const EPOCH = Date.UTC(1980, 0, 1);

const SITE_PACKAGES = "/lib/python3.14/site-packages";

/** Bytes of a page of WebAssembly's memory. */
const PAGE = 65536;

/** Runs are of whole blocks, in words: shorter ones would be more to tell of than they spare. */
const BLOCK = 16;

/** Pyodide's own header: a magic number, its length, its text's length, nothing; then the text. */
const LENGTH = 1;

/** Slots of the table are reserved up to a multiple of so many, as many at least. */
const SLOTS = 16;

/** The handle of Pyodide's own code. */
const MAIN = "0";

/** Where Emscripten's struct of a library begins to tell of it, in words: memory, its size, slots. */
const MEMORY = 3;

globalThis.Date = class extends Date {
  /** @param {any[]} when */
  constructor(...when) {
    super(...(when.length ? when : [EPOCH]));
  }
  static now() {
    return EPOCH;
  }
};
performance.now = () => 0;
process.env.TZ = "UTC";
Object.defineProperty(process, "version", { value: "of any version" }); // for sys._emscripten_info
// @ts-ignore: newer versions of Node.js have it, and Pyodide would ask it for the language
delete globalThis.navigator;
// Python's run_sync tries to wait, as most browsers can; where one can't, that raises the same error.
Object.assign(WebAssembly, {
  Suspending: function (/** @type {Function} */ call) {
    return call;
  },
  promising: (/** @type {Function} */ call) => call,
});
crypto.randomFillSync = (/** @type {any} */ view) => view.fill(0);
syncBuiltinESMExports();

const HERE = new URL("./", import.meta.url);
const PYODIDE = new URL("../../../../node_modules/pyodide/", HERE);
const STANDARD = fileURLToPath(new URL("python_stdlib.zip", PYODIDE));
const { loadPyodide } = await import(new URL("pyodide.mjs", PYODIDE).href);

/** The memory of a new instance, before anything has run. @type {Uint32Array | undefined} */
let fresh;

/** Bytes of memory that the next instance must have: Pyodide does not grow it for a snapshot. */
let needed = 0;
const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (/** @type {[any, any]} */ ...args) => {
  const made = await instantiate(...args);
  const memory = (made.instance ?? made).exports.memory;
  if (memory) {
    fresh ??= new Uint32Array(memory.buffer.slice(0));
    memory.grow(Math.max(0, Math.ceil((needed - memory.buffer.byteLength) / PAGE)));
  }
  return made;
};

/**
 * Run a file that lies beside this one, as a module of its name.
 * @param {any} python
 * @param {string} name
 */
async function module(python, name) {
  const text = await readFile(new URL(`${name}.py`, HERE), "utf-8");
  const define = python.runPython(`
import sys, types
def define(name, text):
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(text, f"<{name}>", "exec", dont_inherit=True, optimize=2), module.__dict__)
    return module
define`);
  return define(name, text);
}

/**
 * Compile the wheels and the standard library.
 * @param {string} folder  where they are written to
 * @param {string[]} leftOut
 * @param {string[]} wheels
 */
async function compile(folder, leftOut, wheels) {
  // Columns would only be told beside the text of a line, which is not there.
  const python = await loadPyodide({ env: { PYTHONNODEBUGRANGES: "1" } });
  const { compiled } = await module(python, "bytecode");
  const archives = wheels.map((wheel) => [wheel, SITE_PACKAGES]);
  for (const [archive, location] of [...archives, [STANDARD, `/lib/python314.zip`]]) {
    const content = new Uint8Array(await readFile(archive));
    const made = compiled(python.toPy(content), location, python.toPy(leftOut));
    await writeFile(join(folder, basename(archive)), made.toJs());
  }
}

/**
 * How both Pythons are started.
 * @param {string} folder
 */
const settings = (folder) => ({
  _makeSnapshot: true,
  stdLibURL: join(folder, basename(STANDARD)),
  // What would else come from this machine.
  _sysExecutable: "./this.program",
  env: { HOME: "/home/pyodide", LANG: "C.UTF-8", PYTHONHASHSEED: "0" },
});

/**
 * Unpack a wheel that was compiled.
 * @param {any} python
 * @param {string} folder
 * @param {string} wheel
 * @param {string} [extractDir]
 */
async function unpack(python, folder, wheel, extractDir) {
  const content = new Uint8Array(await readFile(join(folder, basename(wheel))));
  python.unpackArchive(content, "wheel", { extractDir });
}

/**
 * Leave slots of the table free for what browsers, or other versions of Node.js, have there, so that
 * NumPy's functions come to where they can be everywhere.
 * @param {any} emscripten
 */
function reserve({ wasmTable }) {
  wasmTable.grow(Math.ceil(wasmTable.length / SLOTS + 1) * SLOTS - wasmTable.length);
}

/**
 * Pyodide's snapshot, without what differs between versions of Node.js: a pointer to a function in
 * the table that only newer ones have (web/worker/snapshot.js), and what calls have left on the stack.
 * @param {any} python
 * @returns {Uint8Array}
 */
function snapshotOf(python) {
  const emscripten = python._module;
  const { HEAP32, HEAPU8, __PyRuntime, __PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET: offset } = emscripten;
  HEAP32[(__PyRuntime + HEAP32[offset / 4]) / 4] = 0;
  HEAPU8.fill(0, emscripten._emscripten_stack_get_end(), emscripten.stackSave());
  return python.makeMemorySnapshot();
}

/**
 * Pyodide's snapshot of a Python that has imported what the compiled wheels hold.
 * @param {string} folder
 * @param {string[]} wheels
 * @returns {Promise<Uint8Array>}
 */
async function remember(folder, wheels) {
  const python = await loadPyodide(settings(folder));
  for (const wheel of wheels) await unpack(python, folder, wheel);
  await module(python, "restored");
  const asleep = await module(python, "asleep");
  asleep.imports();
  asleep.tidy();
  asleep.destroy();
  return snapshotOf(python);
}

/**
 * The snapshot of a Python that came from another one, and has imported NumPy since.
 * @param {string} folder
 * @param {Uint8Array} snapshot
 * @param {string} wheel
 * @returns {Promise<{snapshot: Uint8Array, libraries: object[]}>}
 */
async function rememberNumpy(folder, snapshot, wheel) {
  needed = snapshot.byteLength;
  const python = await loadPyodide({ ...settings(folder), _loadSnapshot: snapshot });
  await unpack(python, folder, wheel, SITE_PACKAGES);
  reserve(python._module);
  const asleep = python.pyimport("asleep");
  asleep.numpy();
  asleep.tidy();
  asleep.destroy();
  return { snapshot: snapshotOf(python), libraries: await libraries(python, folder) };
}

/**
 * The shared libraries that are loaded: writes them, and tells of them.
 * @param {any} python
 * @param {string} folder
 */
async function libraries({ FS, _module: emscripten }, folder) {
  const told = [];
  const loaded = Object.entries(emscripten.LDSO.loadedLibsByHandle);
  for (const [handle, { name: path }] of loaded.filter(([handle]) => handle !== MAIN)) {
    const at = Number(handle) / 4;
    const [memory, , first] = emscripten.HEAPU32.subarray(at + MEMORY, at + MEMORY + 3);
    const file = `${basename(path).split(".")[0]}.wasm`;
    await writeFile(join(folder, file), FS.readFile(path));
    told.push({ file, path, handle: Number(handle), memory, slots: [first, 0] });
  }
  told.sort((a, b) => a.slots[0] - b.slots[0]);
  told.forEach((library, i) => {
    library.slots[1] = told[i + 1]?.slots[0] ?? emscripten.wasmTable.length;
  });
  return told;
}

/**
 * The file that the page loads.
 * @param {Uint8Array} snapshot
 * @param {Uint32Array} before  the memory without it; beyond its end there are zeros
 */
function differences(snapshot, before) {
  const header = headerOf(snapshot);
  const memory = memoryOf(snapshot);
  const other = memory.map((word, i) => word ^ (before[i] ?? 0));
  const runs = [];
  const words = [];
  for (let at = 0; at < other.length; at += BLOCK) {
    const block = other.subarray(at, at + BLOCK);
    if (block.every((word) => word === 0)) continue;
    if (runs.at(-2) + runs.at(-1) === at) runs[runs.length - 1] += block.length;
    else runs.push(at, block.length);
    words.push(...block);
  }
  const head = [header.byteLength, memory.byteLength, runs.length / 2];
  return Uint32Array.from([...head, ...runs, ...header, ...words]);
}

/** @param {Uint8Array} snapshot */
function headerOf({ buffer, byteOffset }) {
  return new Uint32Array(buffer, byteOffset, new Uint32Array(buffer, byteOffset)[LENGTH] / 4);
}

/** @param {Uint8Array} snapshot */
function memoryOf(snapshot) {
  return new Uint32Array(snapshot.buffer, snapshot.byteOffset + headerOf(snapshot).byteLength);
}

const { folder, leftOut, imported, numpy } = JSON.parse(process.argv[2]);
try {
  await compile(folder, leftOut, [...imported, numpy]);
  const base = await remember(folder, imported);
  if (!fresh) throw new Error("no instance of pyodide.asm.wasm was seen");
  await writeFile(join(folder, "snapshot.bin"), differences(base, fresh));
  const { snapshot, libraries } = await rememberNumpy(folder, base, numpy);
  await writeFile(join(folder, "numpy.bin"), differences(snapshot, memoryOf(base)));
  const fill = 4 * (fresh.findLastIndex((word) => word !== 0) + 1);
  await writeFile(join(folder, "made.json"), JSON.stringify({ fill, libraries }));
} catch (error) {
  console.error(error.message); // Node would show the line, which in Pyodide is a megabyte long
  process.exitCode = 1;
}
