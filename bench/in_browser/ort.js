// @ts-check
/**
 * The worker of onnxruntime-web as published: its ordinary bundle for the provider, with its own
 * optimisations.
 */

import { serve } from "../../web/worker/serve.js";
import { meter } from "./meter.js";
import { Peer } from "./peer.js";

/** The files of `onnxruntime-web/webgpu` and `onnxruntime-web/wasm`, from its package.json. */
const BUNDLES = {
  webgpu: "/ort/ort.webgpu.bundle.min.mjs",
  wasm: "/ort/ort.wasm.bundle.min.mjs",
};

/** @type {typeof import("onnxruntime-web")} */
let ort;
/** @type {"webgpu" | "wasm"} */
let provider;
/** @type {import("onnxruntime-web").InferenceSession} */
let session;
/** @type {Record<string, import("onnxruntime-web").Tensor>} */
let feeds;

const peer = new Peer(
  async ({ model, inputs }) => {
    session = await ort.InferenceSession.create(model, { executionProviders: [provider] });
    feeds = Object.fromEntries(
      inputs.map(({ name, type, shape, values }) => [
        name,
        new ort.Tensor(/** @type {any} */ (type), values, shape),
      ]),
    );
  },
  async () => {
    const result = await session.run(feeds);
    return session.outputNames.map(
      (name) => /** @type {import("./peer.js").Values} */ (result[name].data),
    );
  },
);

serve({
  /** @param {{provider: "webgpu" | "wasm", threads: number}} args */
  boot: async (args) => {
    ({ provider } = args);
    ort = await import(BUNDLES[provider]);
    ort.env.wasm.wasmPaths = "/ort/";
    ort.env.wasm.numThreads = args.threads;
  },

  /** The adapter of the device that onnxruntime-web has opened; "" without WebGPU. */
  adapter: () => meter.adapter,

  /** @param {import("./peer.js").Given} given */
  first: (given) => peer.first(given),

  /** @param {{milliseconds: number, most: number}} args */
  turn: ({ milliseconds, most }) => peer.turn(milliseconds, most),

  finish: async () => {
    await session.release();
    return peer.counts;
  },
});
