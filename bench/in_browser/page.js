// @ts-check
/**
 * The page of one engine; bench/engines.py drives it through `window.engine`.
 *
 * Each engine has its own worker: Tallow that of python.html, onnxruntime-web ort.js. Both have the
 * same actions: first, turn, finish (measure.py describes their results).
 */

import { Rpc } from "../../web/engine/rpc.js";
import { DEVICES } from "../../web/shared/devices.js";

/**
 * @typedef {{model: string, input: string, input_name: string, shape: number[]}} Files
 * @typedef {{adapter: string, boot_ms: number}} Booted
 */

/** @param {string} path  from the server's root @returns {Promise<Uint8Array<ArrayBuffer>>} */
async function bytesOf(path) {
  const response = await fetch(`/${path}`, { cache: "no-store" });
  if (!response.ok) throw new Error(`${path}: the server answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

class Tallow {
  #rpc = new Rpc(new URL("../../web/worker/script.js", import.meta.url));

  /** The adapter's name. */
  #adapter = "";

  /** @param {"webgpu" | "wasm" | "numpy"} device */
  async boot(device) {
    this.#rpc.on("stderr", ({ text }) => console.error(text));
    const booted = await this.#rpc.call("boot", { device });
    if (booted.device !== device) throw new Error(`no ${device}: ${booted.reason}`);
    const code = new TextDecoder().decode(await bytesOf("bench/in_browser/measure.py"));
    await this.#rpc.call("exec", { code, filename: "measure.py" });
    await this.#ask(`attach("${location.origin}")`);
    this.#adapter = booted.adapter || DEVICES[device].label;
  }

  adapter() {
    return this.#adapter;
  }

  /** @param {Files} files */
  async first({ model, input, input_name, shape }) {
    await this.#rpc.call("write", { path: "model.onnx", bytes: await bytesOf(model) });
    await this.#rpc.call("write", { path: "input.bin", bytes: await bytesOf(input) });
    return this.#ask(`first(${JSON.stringify(input_name)}, ${JSON.stringify(shape)})`);
  }

  /** @param {number} milliseconds @param {number} most */
  turn(milliseconds, most) {
    return this.#ask(`turn(${milliseconds}, ${most})`);
  }

  finish() {
    return this.#ask("finish()");
  }

  /** @param {string} code  a call of a function in measure.py */
  async #ask(code) {
    const { status, result } = await this.#rpc.call("exec", { code: `await ${code}` });
    if (status !== 0) throw new Error(`Python could not do ${code}; the console has its words`);
    return result;
  }
}

class Ort {
  #rpc = new Rpc(new URL("ort.js", import.meta.url));

  /** @param {"webgpu" | "wasm"} provider */
  boot(provider) {
    return this.#rpc.call("boot", { provider });
  }

  adapter() {
    return this.#rpc.call("adapter");
  }

  /** @param {Files} files */
  async first({ model, input, input_name, shape }) {
    const [content, values] = [await bytesOf(model), await bytesOf(input)];
    const args = { model: content, values, name: input_name, shape };
    return this.#rpc.call("first", args, [content.buffer, values.buffer]);
  }

  /** @param {number} milliseconds @param {number} most */
  turn(milliseconds, most) {
    return this.#rpc.call("turn", { milliseconds, most });
  }

  finish() {
    return this.#rpc.call("finish");
  }
}

/** @type {Record<string, [typeof Tallow | typeof Ort, any]>} */
const ENGINES = {
  "tallow-webgpu": [Tallow, "webgpu"],
  "tallow-wasm": [Tallow, "wasm"],
  "tallow-numpy": [Tallow, "numpy"],
  "ort-webgpu": [Ort, "webgpu"],
  "ort-wasm": [Ort, "wasm"],
};

/**
 * Start an engine and run a small network on it, so that everything it loads lazily is loaded.
 * @param {string} name
 * @param {Files} small
 * @returns {Promise<Booted>}
 */
async function start(name, small) {
  const began = performance.now();
  const [Engine, way] = ENGINES[name];
  const engine = new Engine();
  await engine.boot(way);
  await engine.first(small);
  await engine.finish();
  Object.assign(window, { engine });
  return { adapter: await engine.adapter(), boot_ms: performance.now() - began };
}

Object.assign(window, { start });
