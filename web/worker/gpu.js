// @ts-check
/**
 * The worker's GPU: opened once, and reopened after a loss.
 */

import { openForPython } from "../gpu/python.js";
import { LocalizedError, say, wordsOf } from "../i18n/messages.js";
import { SITE } from "../site/fetch.js";
import { announce, emit } from "./serve.js";

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
      onProgress: (done, total) => announce({ stage: "kernels", done, total }),
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

/** Stands for the GPU when none is used. @returns {Gpu} */
export const withoutGpu = () => none(null);

/**
 * @param {import("../i18n/messages.js").Words | null} words  why there is none, if it was requested
 * @returns {Gpu}
 */
function none(words) {
  const why = words ?? "WebGPU was not requested.";
  const refuse = () => Promise.reject(new LocalizedError(why));
  const refuseNow = () => {
    throw new LocalizedError(why);
  };
  return {
    info: null,
    reason: say(why),
    words,
    load: refuse,
    loadNow: refuseNow,
    begin: refuseNow,
    buffers: null,
    loadKept: refuse,
    tuning: null,
    tuningRefused: null,
    keepTuning: refuse,
    onReplaced: null,
  };
}
