// @ts-check
/**
 * LiteRT.js as published, on the page's main thread, where its documentation has it. In a worker of
 * modules it does not start, since it loads its WebAssembly with `importScripts` there.
 */

import { meter } from "./meter.js";
import { Peer } from "./peer.js";

/** @typedef {"webgpu" | "wasm"} Accelerator */

const ADDRESS = "/litert/core";

/** @type {typeof import("@litertjs/core")} */
let litert;
/** @type {Accelerator} */
let accelerator;
let numThreads = 1;
/** @type {import("@litertjs/core").CompiledModel} */
let network;
/** @type {Float32Array} */
let numbers;
/** @type {number[]} */
let dimensions;

/** @param {Accelerator} wanted @param {number} threads */
export async function boot(wanted, threads) {
  [accelerator, numThreads] = [wanted, threads];
  litert = await import(`${ADDRESS}/dist/index.js`);
  // On WebGPU the build with JSPI, as in its README; without JSPI it refuses to start.
  const build = { threads: threads > 1, jspi: accelerator === "webgpu" };
  await litert.loadLiteRt(`${ADDRESS}/wasm/`, build);
}

export const peer = new Peer(
  async ({ model, inputs: [{ values, shape }] }) => {
    network = await litert.loadAndCompile(model, {
      accelerator,
      gpuOptions: { precision: "fp32" },
      cpuOptions: { numThreads },
    });
    // LiteRT.js may choose another accelerator and only warn. `isFullyAccelerated` is true even if
    // part of the model runs on the CPU; engines.py recognises that by the console's messages.
    const actual = network.options.accelerator;
    if (actual !== accelerator || (actual === "webgpu" && !network.isFullyAccelerated)) {
      throw new Error(`LiteRT.js runs some of the model elsewhere than on ${accelerator}`);
    }
    [numbers, dimensions] = [/** @type {Float32Array} */ (values), shape];
  },
  async () => {
    const input = new litert.Tensor(numbers, dimensions);
    const [output] = await network.run(input);
    const answer = await output.data();
    for (const tensor of [input, output]) tensor.delete();
    return [/** @type {Float32Array} */ (answer)];
  },
);

/** The adapter of the device that LiteRT.js uses; "" without WebGPU. */
export const adapter = () => (accelerator === "webgpu" ? meter.adapter : "");

export const release = () => network.delete();
