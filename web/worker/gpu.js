// @ts-check
/**
 * The GPU as Python sees it: globalThis.tallowGpu = {info, reason, load(planJson, weights),
 * tuning, tuningRefused, keepTuning(record)}.
 *
 * info is null, with the reason in words, until a device was had.
 */

import { openDevice } from "../gpu/device.js";
import { Runner } from "../gpu/runner.js";
import { readTuning, writeTuning } from "../gpu/tuning.js";
import { emit } from "./serve.js";

/** @type {Promise<Gpu> | undefined} */
let opened;

/**
 * @typedef {object} Gpu
 * @property {{name: string} | null} info  about the adapter, null where none can be had
 * @property {string | null} reason        why none can be had
 * @property {(planJson: string, weights: Uint8Array) => Promise<unknown>} load  a compiled program
 * @property {string | null} tuning                        the tuning record of this adapter
 * @property {string | null} tuningRefused                 why it could not be read
 * @property {(record: string) => Promise<void>} keepTuning
 */

/** @returns {Promise<Gpu>}  once opened, the same one */
async function open() {
  try {
    const { device, info } = await openDevice();
    const runner = new Runner(device, info);
    const progress = (/** @type {number} */ done, /** @type {number} */ total) =>
      emit("progress", { stage: "kernels", done, total });
    /** @type {Gpu} */
    const gpu = {
      info,
      reason: null,
      load: (plan, weights) => runner.load(plan, weights, progress),
      tuning: null,
      tuningRefused: null,
      keepTuning: async (record) => {
        // What is kept nowhere else holds as long as this worker does.
        gpu.tuning = record;
        gpu.tuningRefused = null;
        await writeTuning(info.name, record);
      },
    };
    try {
      gpu.tuning = await readTuning(info.name);
    } catch (error) {
      gpu.tuningRefused = /** @type {Error} */ (error).message;
    }
    return gpu;
  } catch (error) {
    opened = undefined; // so that the next wish for it asks the browser again
    return none(/** @type {Error} */ (error).message);
  }
}

/**
 * Open the GPU and show it to Python; never rejects.
 * @returns {Promise<Gpu>}
 */
export async function openGpu() {
  opened ??= open();
  return show(await opened);
}

/**
 * Show Python that there is no GPU, because none was asked for.
 * @returns {Gpu}
 */
export function withoutGpu() {
  return show(none("WebGPU was not asked for."));
}

/**
 * @param {string} reason
 * @returns {Gpu}
 */
function none(reason) {
  const refuse = () => Promise.reject(new Error(reason));
  return {
    info: null,
    reason,
    load: refuse,
    tuning: null,
    tuningRefused: null,
    keepTuning: refuse,
  };
}

/**
 * @param {Gpu} gpu
 * @returns {Gpu}
 */
function show(gpu) {
  Object.assign(globalThis, { tallowGpu: gpu });
  return gpu;
}
