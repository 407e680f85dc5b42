// @ts-check
/** English texts of the Write view. */

import { bytes, count } from "../../../shared/format.js";

export const texts = {
  writeNone: "No model is chosen yet.",

  /** @param {string} name @param {number} size @param {number} memory */
  writeChosen: (name, size, memory) =>
    `${name}, ${bytes(size)}. It needs about ${bytes(memory)} of memory.`,

  /** @param {string} name */
  writeLoading: (name) => `Reading ${name}…`,

  /** @param {string} name @param {string} family @param {number} parameters @param {number} context */
  writeLoaded: (name, family, parameters, context) =>
    `${name}: ${family}, ${count(parameters)} parameters, texts of up to ${count(context)} tokens.`,

  /** @param {string} name @param {string} why */
  writeNotLoaded: (name, why) => `${name} can’t be used: ${why}`,

  writeNotGguf: "A language model is a file that ends with .gguf.",
  writePlain: "This model was not taught to converse: it continues your text.",

  /** @param {string} why */
  writeFailed: (why) => `The answer failed: ${why}`,

  /** @param {number} tokens @param {number | null} rate */
  writeRate: (tokens, rate) =>
    rate === null ? `${tokens} tokens` : `${tokens} tokens, ${rate.toFixed(1)} a second`,

  writeEdit: "Edit",
  writeAgain: "Answer again",
  writeYou: "You",
  writeModel: "Model",
};
