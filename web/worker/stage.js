// @ts-check
/**
 * The stages of the worker's start, for the boot log of the page (widgets/bootlog.js).
 */

import { emit } from "./serve.js";

/**
 * Do the work of a stage, and tell of its begin and its end as events "stage".
 * @template T
 * @param {"python" | "tallow" | "numpy" | "model" | "kernels"} name
 * @param {{model?: string, bytes?: number}} facts
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function stage(name, facts, work) {
  const began = performance.now();
  const tell = (/** @type {"begun" | "done" | "failed"} */ state) =>
    emit("stage", { name, ...facts, state, ms: performance.now() - began });
  tell("begun");
  try {
    const result = await work();
    tell("done");
    return result;
  } catch (error) {
    tell("failed");
    throw error;
  }
}
