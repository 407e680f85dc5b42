// @ts-check
/**
 * The worker's GPU: opened once, reopened after a loss, and given to Python as
 * globalThis.tallowGpu.
 */

import { openForPython } from "../gpu/python.js";
import { LocalizedError, say, wordsOf } from "../i18n/messages.js";
import { SITE } from "../shared/fetch.js";
import { emit } from "./serve.js";

/** @typedef {import("../gpu/python.js").Gpu & {words: import("../i18n/messages.js").Words | null}} Gpu */

/** @type {Promise<Gpu> | undefined} */
let opened;

/** @returns {Promise<Gpu>}  if there is none, `words` says why */
async function open() {
  try {
    const gpu = await openForPython({
      scope: SITE.href,
      onLost: (reason) => {
        opened = undefined; // so that the next call asks the browser again
        emit("lost", { reason });
      },
      onProgress: (done, total) => emit("progress", { stage: "kernels", done, total }),
    });
    return Object.assign(gpu, { words: null });
  } catch (error) {
    opened = undefined; // so that the next call asks the browser again
    return none(wordsOf(error));
  }
}

/**
 * Open the GPU; never rejects.
 * @returns {Promise<Gpu>}
 */
export async function openGpu() {
  opened ??= open();
  return opened;
}

/** Stands for the GPU when none was requested. @returns {Gpu} */
export function withoutGpu() {
  return none("WebGPU was not requested.");
}

/**
 * @param {import("../i18n/messages.js").Words} words
 * @returns {Gpu}
 */
function none(words) {
  const refuse = () => Promise.reject(new LocalizedError(words));
  return {
    info: null,
    reason: say(words),
    words,
    load: refuse,
    loadNow: () => {
      throw new LocalizedError(words);
    },
    buffers: null,
    loadKept: refuse,
    tuning: null,
    tuningRefused: null,
    keepTuning: refuse,
  };
}

/**
 * Let Python use this GPU. Don't call this while Python computes on another one.
 * @param {Gpu} gpu
 */
export function giveToPython(gpu) {
  Object.assign(globalThis, { tallowGpu: gpu });
}
