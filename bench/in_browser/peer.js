// @ts-check
/** Times a peer of Tallow and counts its use of WebGPU; the results are those of measure.py. */

import { meter } from "./meter.js";

/** The types of inputs and outputs, by NumPy's names; bool is a byte, as in onnxruntime-web. */
const TYPES = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  int64: BigInt64Array,
  bool: Uint8Array,
};

/** @typedef {InstanceType<(typeof TYPES)[keyof typeof TYPES]>} Values */

/** @param {string} type @param {ArrayBuffer} buffer @returns {Values} */
export const typed = (type, buffer) => new TYPES[/** @type {keyof typeof TYPES} */ (type)](buffer);

/** @param {Values} values @returns {{type: string, data: string}} */
function answered(values) {
  const type = Object.entries(TYPES).find(([, Type]) => values instanceof Type)?.[0];
  if (!type) throw new Error(`an output is a ${values.constructor.name}`);
  return { type, data: base64(values) };
}

/** @param {ArrayBufferView} values @returns {string} */
function base64({ buffer, byteOffset, byteLength }) {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  let text = "";
  for (let start = 0; start < bytes.length; start += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return btoa(text);
}

/**
 * What a peer is given: its model and the model's inputs.
 * @typedef {{name: string, type: string, shape: number[], values: Values}} Fed
 * @typedef {{model: Uint8Array, inputs: Fed[]}} Given
 */

export class Peer {
  /** Counts of the last run, from meter.js. */
  counts = { kernels: 0, dispatches: 0, gpu_peak_bytes: 0, gpu_held_bytes: 0 };

  #load;
  #run;

  /**
   * @param {(given: Given) => Promise<void>} load  compiles a model and keeps its inputs
   * @param {() => Promise<Values[]>} run  one run, from numbers in memory to numbers in memory
   */
  constructor(load, run) {
    this.#load = load;
    this.#run = run;
  }

  /** @param {Given} given */
  async first(given) {
    meter.reset();
    const began = performance.now();
    await this.#load(given);
    const created = performance.now();
    const outputs = await this.#counted();
    const ended = performance.now();
    const answer = outputs.map(answered);
    return { create_ms: created - began, first_ms: ended - began, answer };
  }

  /** @param {number} milliseconds @param {number} most */
  async turn(milliseconds, most) {
    const times = [];
    let spent = 0;
    /** @type {Values[]} */
    let outputs = [];
    while (spent < milliseconds && times.length < most) {
      const began = performance.now();
      outputs = await this.#counted();
      times.push(performance.now() - began);
      spent += times[times.length - 1];
    }
    return { times, answer: outputs.map(answered) };
  }

  async #counted() {
    const before = meter.dispatches;
    const outputs = await this.#run();
    this.counts = {
      kernels: meter.pipelines,
      dispatches: meter.dispatches - before,
      gpu_peak_bytes: meter.peak,
      gpu_held_bytes: meter.held,
    };
    return outputs;
  }
}
