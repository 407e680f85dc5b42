// @ts-check
/**
 * The worker of onnxruntime-web as published: its ordinary bundle for the provider, one thread,
 * with its own optimisations. The actions are those of measure.py.
 */

import { serve } from "../../web/worker/serve.js";
import { meter } from "./meter.js";

/** @typedef {import("onnxruntime-web").InferenceSession} Session */

/** The files of `onnxruntime-web/webgpu` and `onnxruntime-web/wasm`, from its package.json. */
const BUNDLES = {
  webgpu: "/ort/ort.webgpu.bundle.min.mjs",
  wasm: "/ort/ort.wasm.bundle.min.mjs",
};

/** @type {typeof import("onnxruntime-web")} */
let ort;
/** @type {"webgpu" | "wasm"} */
let provider;
/** @type {Session} */
let session;
/** @type {Record<string, import("onnxruntime-web").Tensor>} */
let feeds;
/** Counts of the last run, from meter.js. */
let counts = { kernels: 0, dispatches: 0, gpu_peak_bytes: 0, gpu_held_bytes: 0 };

/** @param {Uint8Array} model @param {Uint8Array} values @param {string} name @param {number[]} shape */
async function load(model, values, name, shape) {
  session = await ort.InferenceSession.create(model, { executionProviders: [provider] });
  const numbers = new Float32Array(values.buffer, values.byteOffset, values.length / 4);
  feeds = { [name]: new ort.Tensor("float32", numbers, shape) };
}

/** One run, from numbers in memory to numbers in memory. @returns {Promise<Float32Array>} */
async function run() {
  const before = meter.dispatches;
  const result = await session.run(feeds);
  counts = {
    kernels: meter.pipelines,
    dispatches: meter.dispatches - before,
    gpu_peak_bytes: meter.peak,
    gpu_held_bytes: meter.held,
  };
  return /** @type {Float32Array} */ (result[session.outputNames[0]].data);
}

/** @param {Float32Array} numbers @returns {string} */
function base64({ buffer, byteOffset, byteLength }) {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  let text = "";
  for (let start = 0; start < bytes.length; start += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return btoa(text);
}

serve({
  /** @param {{provider: "webgpu" | "wasm"}} args */
  boot: async (args) => {
    ({ provider } = args);
    ort = await import(BUNDLES[provider]);
    ort.env.wasm.wasmPaths = "/ort/";
    ort.env.wasm.numThreads = 1;
  },

  /** The adapter of the device that onnxruntime-web has opened. */
  adapter: () => (provider === "webgpu" ? meter.adapter : "WebAssembly, one thread"),

  /** @param {{model: Uint8Array, values: Uint8Array, name: string, shape: number[]}} args */
  first: async ({ model, values, name, shape }) => {
    meter.reset();
    const began = performance.now();
    await load(model, values, name, shape);
    const created = performance.now();
    const numbers = await run();
    const ended = performance.now();
    return { create_ms: created - began, first_ms: ended - began, answer: base64(numbers) };
  },

  /** @param {{milliseconds: number, most: number}} args */
  turn: async ({ milliseconds, most }) => {
    const times = [];
    let spent = 0;
    /** @type {Float32Array} */
    let numbers = new Float32Array();
    while (spent < milliseconds && times.length < most) {
      const began = performance.now();
      numbers = await run();
      times.push(performance.now() - began);
      spent += times[times.length - 1];
    }
    return { times, answer: base64(numbers) };
  },

  finish: async () => {
    await session.release();
    return counts;
  },
});
