// @ts-check
/**
 * The worker of python.html: runs any Python code, with Tallow and NumPy importable.
 *
 * Actions:
 *   boot({device, threads}) device: "webgpu", "wasm", "numpy", or null for the best one here;
 *                           threads: how many compute on "wasm", unless it is the usual number
 *                           -> {device, adapter, reason}: Tallow's default device from now on; the
 *                           name of its adapter or engine, or ""; why it is not the requested one,
 *                           or null
 *   write({path, bytes})    write a file, from bytes or from a Blob, into Python's file system,
 *                           creating its folders
 *   exec({code, filename})  run code in __main__, with top-level `await`
 *                           -> {status, result}: the exit status; the value of the last expression
 *                           if that can be JSON, otherwise null
 * Events: {event: "stdout" | "stderr", text} during exec.
 */

import { BEST } from "../shared/devices.js";
import { fetchBytes } from "../site/fetch.js";
import { giveToPython, openDevice } from "./devices.js";
import { startPython } from "./python.js";
import { say } from "../i18n/messages.js";
import { emit, serve } from "./serve.js";
import { useThreads } from "./wasm.js";

const SCRIPT = new URL("./script.py", import.meta.url).href;

/** @type {any} */
let pyodide;

/** What script.py defines. @type {any} */
let script;

/** @typedef {import("../shared/devices.js").Device} Device */

/**
 * @param {{device: Device | null, threads?: number}} args
 * @returns {Promise<{device: Device, adapter: string, reason: string | null}>}
 */
async function boot({ device, threads }) {
  useThreads(threads ?? null);
  const [python, code, opened] = await Promise.all([
    startPython({ numpy: true }),
    fetchBytes(SCRIPT),
    openDevice(device ?? BEST),
  ]);
  giveToPython(opened);
  ({ pyodide } = python);
  stream("stdout", pyodide.setStdout);
  stream("stderr", pyodide.setStderr);
  script = pyodide.globals.get("dict")();
  pyodide.runPython(new TextDecoder().decode(code), { globals: script, filename: SCRIPT });
  script.get("set_device")(opened.device);
  const { device: actual, words, runner } = opened;
  return { device: actual, adapter: runner?.info.name ?? "", reason: words && say(words) };
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

  /** @param {{path: string, bytes: Uint8Array<ArrayBuffer> | Blob}} args */
  write: async ({ path, bytes }) => {
    const { FS } = pyodide;
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    if (folder) FS.mkdirTree(folder);
    const blob = new Blob([bytes]);
    const file = FS.open(path, "w");
    FS.ftruncate(file.fd, blob.size); // else it is copied again and again as it grows
    const reader = blob.stream().getReader();
    try {
      for (let at = 0; ;) {
        const { done, value } = await reader.read();
        if (done) return;
        at += FS.write(file, value, 0, value.length, at);
      }
    } finally {
      FS.close(file);
    }
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
