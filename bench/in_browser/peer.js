// @ts-check
/** Times a peer of Tallow and counts its use of WebGPU; the results are those of measure.py. */

import { meter } from "./meter.js";

/** @param {Float32Array} numbers @returns {string} */
function base64({ buffer, byteOffset, byteLength }) {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  let text = "";
  for (let start = 0; start < bytes.length; start += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return btoa(text);
}

/**
 * What a peer is given: its model, and the numbers, name and shape of the model's only input.
 * @typedef {{model: Uint8Array, values: Float32Array, name: string, shape: number[]}} Given
 */

export class Peer {
  /** Counts of the last run, from meter.js. */
  counts = { kernels: 0, dispatches: 0, gpu_peak_bytes: 0, gpu_held_bytes: 0 };

  #load;
  #run;

  /**
   * @param {(given: Given) => Promise<void>} load  compiles a model and keeps its input
   * @param {() => Promise<Float32Array>} run  one run, from numbers in memory to numbers in memory
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
    const numbers = await this.#counted();
    const ended = performance.now();
    return { create_ms: created - began, first_ms: ended - began, answer: base64(numbers) };
  }

  /** @param {number} milliseconds @param {number} most */
  async turn(milliseconds, most) {
    const times = [];
    let spent = 0;
    let numbers = new Float32Array();
    while (spent < milliseconds && times.length < most) {
      const began = performance.now();
      numbers = await this.#counted();
      times.push(performance.now() - began);
      spent += times[times.length - 1];
    }
    return { times, answer: base64(numbers) };
  }

  async #counted() {
    const before = meter.dispatches;
    const numbers = await this.#run();
    this.counts = {
      kernels: meter.pipelines,
      dispatches: meter.dispatches - before,
      gpu_peak_bytes: meter.peak,
      gpu_held_bytes: meter.held,
    };
    return /** @type {Float32Array<ArrayBuffer>} */ (numbers);
  }
}
