// @ts-check
/**
 * The worker of python.html: runs anybody's Python, with Tallow and NumPy importable.
 *
 * Actions:
 *   boot({device})          device: "webgpu", "numpy", or null for WebGPU where it can be had
 *                           -> {device, adapter, reason}: Tallow's default device from now on; the
 *                           adapter's name, "" for NumPy; why WebGPU can't be had, or null
 *   write({path, bytes})    put a file into Python's file system, with the folders above it
 *   exec({code, filename})  run a file's text in __main__; `await` may stand at top level
 *                           -> {status, result}: the exit status; the value of the last expression
 *                           where that is JSON, else null
 * Events: {event: "progress", ...} during boot; {event: "stdout" | "stderr", text} during exec.
 */

import { fetchBytes } from "../shared/fetch.js";
import { openGpu, show, withoutGpu } from "./gpu.js";
import { startPython } from "./python.js";
import { emit, serve } from "./serve.js";

const SCRIPT = new URL("./script.py", import.meta.url).href;

/** @type {any} */
let pyodide;

/** What script.py defines. @type {any} */
let script;

/**
 * @param {{device: "webgpu" | "numpy" | null}} args
 * @returns {Promise<{device: "webgpu" | "numpy", adapter: string, reason: string | null}>}
 */
async function boot({ device }) {
  const [python, code, gpu] = await Promise.all([
    startPython({ numpy: true }),
    fetchBytes(SCRIPT),
    device === "numpy" ? withoutGpu() : openGpu(),
  ]);
  show(gpu);
  const { info, reason } = gpu;
  ({ pyodide } = python);
  stream("stdout", pyodide.setStdout);
  stream("stderr", pyodide.setStderr);
  script = pyodide.globals.get("dict")();
  pyodide.runPython(new TextDecoder().decode(code), { globals: script, filename: SCRIPT });
  const had = info ? "webgpu" : "numpy";
  script.get("set_device")(had);
  return { device: had, adapter: info?.name ?? "", reason: device === had ? null : reason };
}

/**
 * Send what Python writes as events, while it runs.
 * @param {"stdout" | "stderr"} event
 * @param {(options: object) => void} redirect
 */
function stream(event, redirect) {
  const decoder = new TextDecoder();
  redirect({
    // As a terminal, Python writes line by line, not when a buffer is full.
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
