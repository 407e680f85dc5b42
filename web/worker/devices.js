// @ts-check
/** Opens the requested device or, if that is impossible, the first fallback that works. */

import { BEST, DEVICES, triedFirst } from "../shared/devices.js";
import { openGpu, withoutGpu } from "./gpu.js";
import { openWasm } from "./wasm.js";

/**
 * @typedef {import("../shared/devices.js").Device} Device
 * @typedef {import("../shared/devices.js").Wanted} Wanted
 * @typedef {import("../shared/devices.js").Machine} Machine
 * @typedef {import("../gpu/program.js").Plan} Plan
 * @typedef {import("../gpu/program.js").Weights} Weights
 * @typedef {import("../i18n/messages.js").Words} Words
 *
 * @typedef {object} Replayed  a program that runs without Python, which can take it over
 * @property {{run(inputs: Uint8Array[]): Promise<ArrayBuffer[]>}} program
 * @property {object} stats
 * @property {() => void} close
 *
 * @typedef {object} Runner  runs plans without Python
 * @property {{name: string, named: boolean}} info  about the adapter or engine
 * @property {number | null} threads  that compute; null for a GPU
 * @property {(plan: Plan) => boolean} replays  whether it can run this plan
 * @property {(plan: Plan, weights: Weights) => Promise<Replayed>} loadKept
 * @property {string | null} tuning         the tuning record of this adapter
 * @property {string | null} tuningRefused  why the record could not be read
 *
 * @typedef {object} Opened
 * @property {Device} device  the one that computes
 * @property {Words | null} words  why it is not the requested one
 * @property {Device | null} refused  the device that is unavailable, if there are words
 * @property {Runner | null} runner  null for a device that needs Python
 * @property {import("./gpu.js").Gpu} gpu  for Python
 * @property {Machine} [machine]  whose device it is, if not this one's
 */

/** The machine that computes where another one is wanted. @type {Machine | undefined} */
let machine;

/** @param {Machine | null} [wanted]  for the devices that are opened from now on */
export function useMachine(wanted) {
  machine = wanted ?? machine;
}

/**
 * Open a device. Never rejects.
 * @param {Wanted} wanted
 * @returns {Promise<Opened>}
 */
export async function openDevice(wanted) {
  const tried = triedFirst(wanted);
  const { onGpu, needsNumpy, elsewhere } = DEVICES[tried];
  let gpu = onGpu ? await openGpu() : withoutGpu();
  if (elsewhere) return { device: tried, words: null, refused: null, runner: null, gpu, machine };
  if (wanted === BEST && gpu.info?.software) gpu = withoutGpu();
  else if (gpu.info) {
    return { device: "webgpu", words: null, refused: null, runner: runnerOf(gpu, gpu.info), gpu };
  }
  let { words } = gpu;
  /** @type {Device | null} */
  let refused = words ? "webgpu" : null;
  if (!needsNumpy) {
    const wasm = openWasm();
    if ("info" in wasm) return { device: "wasm", words, refused, runner: wasm, gpu };
    refused ??= "wasm";
    words ??= wasm.words;
  }
  return { device: "numpy", words, refused, runner: null, gpu };
}

/**
 * @param {import("./gpu.js").Gpu} gpu
 * @param {import("../gpu/device.js").DeviceInfo} info
 * @returns {Runner}
 */
function runnerOf(gpu, info) {
  return {
    info,
    threads: null,
    replays: () => true,
    loadKept: gpu.loadKept,
    // Tuning changes both.
    get tuning() {
      return gpu.tuning;
    },
    get tuningRefused() {
      return gpu.tuningRefused;
    },
  };
}

/** @type {import("./gpu.js").Gpu | undefined} */
let given;

/**
 * Let Python use this device. Don't call this while Python computes on another one.
 * @param {Opened} opened
 */
export function giveToPython({ gpu }) {
  const before = given;
  if (gpu === before) return;
  given = gpu;
  Object.assign(globalThis, { tallowGpu: gpu });
  before?.onReplaced?.();
}
