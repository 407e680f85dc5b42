// @ts-check
/**
 * The page of one engine; bench/engines.py drives it through `window.engine`.
 *
 * Tallow has the worker of python.html and onnxruntime-web that of ort.js; LiteRT.js (litert.js) has
 * no worker. All have the same actions: first, turn, finish (measure.py describes their results).
 */

import { Rpc } from "../../web/engine/rpc.js";
import { DEVICES } from "../../web/shared/devices.js";
import * as litert from "./litert.js";
import { typed } from "./peer.js";

/**
 * @typedef {{name: string, type: string, shape: number[], file: string}} Input
 * @typedef {{model: string, inputs: Input[]}} Files
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

  /** @param {"webgpu" | "wasm" | "numpy"} device @param {number} [threads]  of "wasm" */
  async boot(device, threads) {
    this.#rpc.on("stderr", ({ text }) => console.error(text));
    const booted = await this.#rpc.call("boot", { device, threads });
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
  async first({ model, inputs }) {
    await this.#rpc.call("write", { path: "model.onnx", bytes: await bytesOf(model) });
    for (const [number, { file }] of inputs.entries()) {
      await this.#rpc.call("write", { path: `${number}.input`, bytes: await bytesOf(file) });
    }
    const described = inputs.map(({ name, type, shape }) => [name, type, shape]);
    return this.#ask(`first(${JSON.stringify(described)})`);
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

/** @param {Files} files @returns {Promise<import("./peer.js").Given>} */
async function given({ model, inputs }) {
  const content = await bytesOf(model);
  const values = [];
  for (const { name, type, shape, file } of inputs) {
    values.push({ name, type, shape, values: typed(type, (await bytesOf(file)).buffer) });
  }
  return { model: content, inputs: values };
}

/** @param {string} adapter @param {number} threads */
const described = (adapter, threads) =>
  adapter || `WebAssembly, ${threads === 1 ? "one thread" : `${threads} threads`}`;

class Ort {
  #rpc = new Rpc(new URL("ort.js", import.meta.url));
  #threads = 1;

  /** @param {"webgpu" | "wasm"} provider @param {number} threads */
  boot(provider, threads) {
    this.#threads = threads;
    return this.#rpc.call("boot", { provider, threads });
  }

  async adapter() {
    return described(await this.#rpc.call("adapter"), this.#threads);
  }

  /** @param {Files} files */
  async first(files) {
    const args = await given(files);
    const buffers = args.inputs.map(({ values }) => values.buffer);
    return this.#rpc.call("first", args, { transfer: [args.model.buffer, ...buffers] });
  }

  /** @param {number} milliseconds @param {number} most */
  turn(milliseconds, most) {
    return this.#rpc.call("turn", { milliseconds, most });
  }

  finish() {
    return this.#rpc.call("finish");
  }
}

class LiteRt {
  #threads = 1;

  /** @param {"webgpu" | "wasm"} accelerator @param {number} threads */
  boot(accelerator, threads) {
    this.#threads = threads;
    return litert.boot(accelerator, threads);
  }

  adapter() {
    return described(litert.adapter(), this.#threads);
  }

  /** @param {Files} files */
  async first(files) {
    return litert.peer.first(await given(files));
  }

  /** @param {number} milliseconds @param {number} most */
  turn(milliseconds, most) {
    return litert.peer.turn(milliseconds, most);
  }

  finish() {
    litert.release();
    return litert.peer.counts;
  }
}

/** Each engine's class, and what it is booted with. @type {Record<string, [any, ...any]>} */
const ENGINES = {
  "tallow-webgpu": [Tallow, "webgpu"],
  "tallow-wasm": [Tallow, "wasm", 1],
  "tallow-wasm-2": [Tallow, "wasm", 2],
  "tallow-numpy": [Tallow, "numpy"],
  "ort-webgpu": [Ort, "webgpu", 1],
  "ort-wasm": [Ort, "wasm", 1],
  "ort-wasm-2": [Ort, "wasm", 2],
  "litert-webgpu": [LiteRt, "webgpu", 1],
  "litert-wasm": [LiteRt, "wasm", 1],
  "litert-wasm-2": [LiteRt, "wasm", 2],
};

/**
 * Start an engine and run a small network on it, so that everything it loads lazily is loaded.
 * @param {string} name
 * @param {Files} small
 * @returns {Promise<Booted>}
 */
async function start(name, small) {
  const began = performance.now();
  const [Engine, ...options] = ENGINES[name];
  const engine = new Engine();
  await engine.boot(...options);
  await engine.first(small);
  await engine.finish();
  Object.assign(window, { engine });
  return { adapter: await engine.adapter(), boot_ms: performance.now() - began };
}

Object.assign(window, { start });
