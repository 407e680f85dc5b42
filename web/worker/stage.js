// @ts-check
/** Reports the stages of the worker's start to the page's boot log (widgets/engine/bootlog.js). */

import { emit, describeError } from "./serve.js";

/**
 * @typedef {import("../shared/stages.js").StageName} Name
 * @typedef {{model?: string, bytes?: number, why?: import("../i18n/messages.js").Words}} Facts
 */

/**
 * Report the start or the end of a stage.
 * @param {Name} name
 * @param {Facts} facts
 * @param {"begun" | "done" | "failed"} state
 * @param {number} began  performance.now() at its start
 */
export function reportStage(name, facts, state, began) {
  emit("stage", { name, ...facts, state, ms: performance.now() - began });
}

/**
 * Run the work of a stage, and report its start and end as "stage" events.
 * @template T
 * @param {Name} name
 * @param {Facts} facts
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function stage(name, facts, work) {
  const began = performance.now();
  reportStage(name, facts, "begun", began);
  try {
    const result = await work();
    reportStage(name, facts, "done", began);
    return result;
  } catch (error) {
    reportStage(name, { ...facts, why: describeError(error).words }, "failed", began);
    throw error;
  }
}
