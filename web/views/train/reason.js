// @ts-check
/** Why a run failed, in the page's language where the page knows the reason. */

import { words, wordsOf } from "../../i18n/messages.js";

/** @typedef {import("../../i18n/messages.js").Words} Words */
/** @typedef {import("../../shared/contract.js").TrainAnswer} TrainAnswer */

/** By the type of Python's error. @type {Record<string, "trainBatchTooLarge" | "trainAllDamaged" | "trainDataDamaged">} */
const BEGINNING = {
  BatchError: "trainBatchTooLarge",
  CheckpointError: "trainAllDamaged",
  PublishedDataError: "trainDataDamaged",
};

/** Why it could not begin, or ended all at once. @param {unknown} error @returns {Words} */
export function whyNot(error) {
  const entry = BEGINNING[/** @type {any} */ (error)?.type];
  return entry ? words(entry) : wordsOf(error);
}

/**
 * Why it stopped after a step.
 * @param {NonNullable<TrainAnswer["reason"]>} reason
 * @param {number} step  where the network stands now
 * @returns {Words}
 */
export function whyStopped({ code, text, step: lost }, step) {
  if (code === "full") return words("trainFull");
  if (code === "storage" || lost === null) return words("trainUnkept", text);
  return step < lost ? words("trainLossKept", lost, step) : words("trainLossLost", lost);
}

/**
 * Whether Python has no network of the run any more: there is no good one.
 * @param {TrainAnswer["reason"]} reason
 * @param {number} step  where the network stands now
 */
export const isClosed = (reason, step) => reason?.code === "loss" && step >= Number(reason.step);
