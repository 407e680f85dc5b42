// @ts-check
/** The worker's WebAssembly engine, as a device. */

import { words } from "../i18n/messages.js";
import { openEngine } from "../wasm/engine.js";
import { runsWithoutPython, WasmProgram } from "../wasm/program.js";

const THREAD = new URL("../wasm/thread.js", import.meta.url);

/** @type {import("../wasm/engine.js").WasmEngine | undefined} */
let engine;

/** The number of threads that the page asks for. @type {number | null} */
let threads = null;

/** Have so many threads, once the engine is opened. @param {number | null} wanted  null: as usual */
export function useThreads(wanted) {
  threads = wanted;
}

/**
 * The smallest modules with an instruction of each kind. A function without parameters drops the
 * result of i32x4.splat, or of f32x4.relaxed_madd.
 */
const SIMD = moduleOf([0x41, 0, 0xfd, 0x11, 0x1a]);
const RELAXED = moduleOf([
  ...[0x41, 0, 0xfd, 0x11, 0x41, 0, 0xfd, 0x11, 0x41, 0, 0xfd, 0x11],
  ...[0xfd, 0x85, 0x02, 0x1a],
]);

/** @param {number[]} code */
function moduleOf(code) {
  const body = [0, ...code, 0x0b]; // no locals, and `end`
  const head = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const type = [1, 4, 1, 0x60, 0, 0];
  const functions = [3, 2, 1, 0];
  return new Uint8Array([
    ...head,
    ...type,
    ...functions,
    ...[10, body.length + 2, 1, body.length],
    ...body,
  ]);
}

/**
 * Open the engine.
 * @returns {import("./devices.js").Runner | {words: import("../i18n/messages.js").Words}}  why it
 *   can't be used
 */
export function openWasm() {
  if (typeof WebAssembly === "undefined") return { words: words("noWebAssembly") };
  if (!WebAssembly.validate(SIMD)) return { words: words("noSimd") };
  // py/tallow/devices/wasm/runner.py gives it the same name.
  const name = WebAssembly.validate(RELAXED) ? "WebAssembly with relaxed SIMD" : "WebAssembly";
  const opened = (engine ??= openEngine(threads, THREAD));
  Object.assign(globalThis, { tallowWasm: opened }); // for py/tallow/devices/wasm/browser.py
  return {
    info: { name, named: true },
    threads: opened.threads,
    replays: runsWithoutPython,
    loadKept: async (plan, weights) => {
      const program = await WasmProgram.load(plan, weights, opened, name);
      return { program, stats: program.stats, close: () => program.close() };
    },
    tuning: null, // no op has several kernels
    tuningRefused: null,
  };
}
