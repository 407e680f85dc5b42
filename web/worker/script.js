// @ts-check
/**
 * The worker of python.html: runs any Python code, with Tallow and NumPy importable.
 *
 * Actions:
 *   boot({device})          device: "webgpu", "wasm", "numpy", or null for WebGPU if available
 *                           -> {device, adapter, reason}: Tallow's default device from now on; the
 *                           GPU adapter's name, or ""; why WebGPU is unavailable, or null
 *   write({path, bytes})    write a file into Python's file system, creating its folders
 *   exec({code, filename})  run code in __main__, with top-level `await`
 *                           -> {status, result}: the exit status; the value of the last expression
 *                           if that can be JSON, otherwise null
 * Events: {event: "progress", ...} during boot; {event: "stdout" | "stderr", text} during exec.
 */

import { DEFAULT, DEVICES, FALLBACK } from "../shared/devices.js";
import { fetchBytes } from "../shared/fetch.js";
import { openGpu, giveToPython, withoutGpu } from "./gpu.js";
import { startPython } from "./python.js";
import { emit, serve } from "./serve.js";

const SCRIPT = new URL("./script.py", import.meta.url).href;

/** @type {any} */
let pyodide;

/** What script.py defines. @type {any} */
let script;

/** @typedef {import("../shared/devices.js").Device} Device */

/**
 * @param {{device: Device | null}} args
 * @returns {Promise<{device: Device, adapter: string, reason: string | null}>}
 */
async function boot({ device }) {
  const wanted = device ?? DEFAULT;
  const [python, code, gpu] = await Promise.all([
    startPython({ numpy: true }),
    fetchBytes(SCRIPT),
    DEVICES[wanted].onGpu ? openGpu() : withoutGpu(),
  ]);
  giveToPython(gpu);
  const { info, reason } = gpu;
  ({ pyodide } = python);
  stream("stdout", pyodide.setStdout);
  stream("stderr", pyodide.setStderr);
  script = pyodide.globals.get("dict")();
  pyodide.runPython(new TextDecoder().decode(code), { globals: script, filename: SCRIPT });
  const actual = info || !DEVICES[wanted].onGpu ? wanted : FALLBACK;
  script.get("set_device")(actual);
  return { device: actual, adapter: info?.name ?? "", reason: device === actual ? null : reason };
}

/**
 * Send Python's output as events, as it is written.
 * @param {"stdout" | "stderr"} event
 * @param {(options: object) => void} redirect
 */
function stream(event, redirect) {
  const decoder = new TextDecoder();
  redirect({
    // To a terminal, Python writes line by line.
    isatty: true,
    write: (/** @type {Uint8Array} */ bytes) => {
      emit(event, { text: decoder.decode(bytes, { stream: true }) });
      return bytes.length;
    },
  });
}

serve({
  boot,

  /** @param {{path: string, bytes: Uint8Array}} args */
  write: ({ path, bytes }) => {
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    if (folder) pyodide.FS.mkdirTree(folder);
    pyodide.FS.writeFile(path, bytes);
  },

  /** @param {{code: string, filename?: string}} args */
  exec: async ({ code, filename = "<exec>" }) => {
    const run = script.get("run");
    const coroutine = run(code, filename);
    try {
      return JSON.parse(await coroutine);
    } finally {
      coroutine.destroy();
      run.destroy();
    }
  },
});
