// @ts-check
/**
 * The stages of the worker's start, for the boot log of the page (widgets/bootlog.js).
 */

import { emit, describeError } from "./serve.js";

/**
 * @typedef {"snapshot" | "numpySnapshot" | "python" | "tallow" | "numpy" | "model" | "plan" | "kernels"
 *   | "keep" | "storage"} Name
 * @typedef {{model?: string, bytes?: number, why?: import("../i18n/messages.js").Words}} Facts
 */

/**
 * Tell of the begin or the end of a stage.
 * @param {Name} name
 * @param {Facts} facts
 * @param {"begun" | "done" | "failed"} state
 * @param {number} began  by performance.now()
 */
export function tell(name, facts, state, began) {
  emit("stage", { name, ...facts, state, ms: performance.now() - began });
}

/**
 * Do the work of a stage, and tell of its begin and its end as events "stage".
 * @template T
 * @param {Name} name
 * @param {Facts} facts
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function stage(name, facts, work) {
  const began = performance.now();
  tell(name, facts, "begun", began);
  try {
    const result = await work();
    tell(name, facts, "done", began);
    return result;
  } catch (error) {
    tell(name, { ...facts, why: describeError(error).words }, "failed", began);
    throw error;
  }
}
