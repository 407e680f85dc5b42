/**
 * Compiles the page's wheels to bytecode, and makes a memory snapshot of a Pyodide that has imported
 * them. Whatever differs between two runs or machines (clock, random numbers, settings) is held
 * still, so that the same wheels give the same files.
 *
 *     node make.mjs '{"folder": "", "leftOut": [""], "imported": [""], "compiled": [""]}'
 *
 * leftOut: beginnings of the paths of modules that the page does without. imported: the wheels that
 * the snapshot has. compiled: others. Writes to `folder` all wheels, compiled, and snapshot.bin,
 * which web/worker/snapshot.js reads:
 *
 *     u32      bytes of Pyodide's own header
 *     u32      bytes of memory
 *     u32      n
 *     u32 2n   runs: the first word of each, how many there are
 *              the header, the words of all runs
 *
 * A word of a run is what the memory has there, XOR what a new instance of pyodide.asm.wasm has.
 */

import crypto from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const EPOCH = Date.UTC(1980, 0, 1);

const SITE_PACKAGES = "/lib/python3.14/site-packages";

/** Runs are of whole blocks, in words: shorter ones would be more to tell of than they spare. */
const BLOCK = 16;

/** Pyodide's own header: a magic number, its length, its text's length, nothing; then the text. */
const LENGTH = 1;

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
crypto.randomFillSync = (/** @type {any} */ view) => view.fill(0);
syncBuiltinESMExports();

const HERE = new URL("./", import.meta.url);
const PYODIDE = new URL("../../../node_modules/pyodide/", HERE);
const STANDARD = fileURLToPath(new URL("python_stdlib.zip", PYODIDE));
const { loadPyodide } = await import(new URL("pyodide.mjs", PYODIDE).href);

/** The memory of a new instance, before anything has run. @type {Uint32Array | undefined} */
let fresh;
const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (/** @type {[any, any]} */ ...args) => {
  const made = await instantiate(...args);
  const memory = (made.instance ?? made).exports.memory;
  if (memory) fresh = new Uint32Array(memory.buffer.slice(0));
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
  const places = wheels.map((wheel) => [wheel, SITE_PACKAGES]);
  for (const [archive, place] of [...places, [STANDARD, `/lib/python314.zip`]]) {
    const content = new Uint8Array(await readFile(archive));
    const made = compiled(python.toPy(content), place, python.toPy(leftOut));
    await writeFile(join(folder, basename(archive)), made.toJs());
  }
}

/**
 * Pyodide's snapshot of a Python that has imported what the compiled archives hold.
 * @param {string} folder
 * @param {string[]} wheels
 * @returns {Promise<Uint8Array>}
 */
async function remember(folder, wheels) {
  const python = await loadPyodide({
    _makeSnapshot: true,
    stdLibURL: join(folder, basename(STANDARD)),
    // What would else come from this machine.
    _sysExecutable: "./this.program",
    env: { HOME: "/home/pyodide", LANG: "C.UTF-8", PYTHONHASHSEED: "0" },
  });
  for (const wheel of wheels) {
    python.unpackArchive(new Uint8Array(await readFile(join(folder, basename(wheel)))), "wheel");
  }
  await module(python, "restored");
  const asleep = await module(python, "asleep");
  asleep.imports();
  asleep.tidy();
  asleep.destroy();
  return python.makeMemorySnapshot();
}

/**
 * The file that the page loads.
 * @param {Uint8Array} snapshot
 * @param {Uint32Array} fresh
 */
function differences(snapshot, fresh) {
  const start = new Uint32Array(snapshot.buffer, snapshot.byteOffset)[LENGTH];
  const memory = new Uint32Array(snapshot.buffer, snapshot.byteOffset + start);
  const other = memory.map((word, i) => word ^ (fresh[i] ?? 0));
  const runs = [];
  const words = [];
  for (let at = 0; at < other.length; at += BLOCK) {
    const block = other.subarray(at, at + BLOCK);
    if (block.every((word) => word === 0)) continue;
    if (runs.at(-2) + runs.at(-1) === at) runs[runs.length - 1] += block.length;
    else runs.push(at, block.length);
    words.push(...block);
  }
  const header = new Uint32Array(snapshot.buffer, snapshot.byteOffset, start / 4);
  return Uint32Array.from([start, memory.byteLength, runs.length / 2, ...runs, ...header, ...words]);
}

const { folder, leftOut, imported, compiled } = JSON.parse(process.argv[2]);
try {
  await compile(folder, leftOut, [...imported, ...compiled]);
  const snapshot = await remember(folder, imported);
  if (!fresh) throw new Error("no instance of pyodide.asm.wasm was seen");
  await writeFile(join(folder, "snapshot.bin"), differences(snapshot, fresh));
} catch (error) {
  console.error(error.message); // Node would show the line, which in Pyodide is a megabyte long
  process.exitCode = 1;
}
