// @ts-check
/** English texts of the choice of a model. */

import { bytes, megabytes } from "../../../shared/format.js";

/** @param {number} memory @param {string} licence  "" if nobody says it */
const needs = (memory, licence) =>
  `It needs about ${bytes(memory)} of memory.${licence ? ` Licence: ${licence}.` : ""}`;

export const texts = {
  choiceModel: "Model",
  choiceNone: "No model is chosen yet.",

  choiceHub: "From the Hugging Face hub…",
  choiceFile: "A GGUF file…",
  choiceFiles: "Files of your own…",

  choiceHubName: "Name on the Hugging Face hub",
  choiceFind: "List its files",
  choiceHubFile: "File",
  choiceChoose: "Choose a GGUF file",
  choiceChooseFiles: "Choose config.json, tokenizer.json and model.safetensors",
  choiceDrop: "or drop it anywhere on this page",
  choiceProgress: "Fetched",
  choiceCancel: "Cancel",
  choiceLoad: "Load the model",

  /** @param {string} name @param {number} size @param {number} memory @param {string} licence */
  choiceChosen: (name, size, memory, licence) =>
    `${name}, ${bytes(size)}. ${needs(memory, licence)}`,

  /** @param {string} name @param {number} size @param {number} memory @param {string} licence */
  choiceToFetch: (name, size, memory, licence) =>
    `${name}: a download of ${bytes(size)}, unless it is kept from an earlier visit. ${needs(memory, licence)}`,

  /** @param {string} file @param {number} done @param {number | null} total */
  choiceFetching: (file, done, total) =>
    `Fetching ${file}: ${total === null ? bytes(done) : `${megabytes(done)} of ${bytes(total)}`}`,

  choiceCancelled:
    "Cancelled. What has arrived is kept, and the next attempt continues from there.",

  /** @param {string} name */
  choiceLoading: (name) => `Reading ${name}…`,

  /** @param {string} name */
  choiceLoaded: (name) => `${name} is loaded.`,

  /** @param {string} name @param {string} why */
  choiceNotLoaded: (name, why) => `${name} can’t be used: ${why}`,

  /** @param {string} endings */
  choiceUnfit: (endings) => `These are not files of a model, which end in ${endings}.`,

  /** @param {string} name @param {number} size */
  choiceSized: (name, size) => `${name}, ${bytes(size)}`,

  /** @param {string} name */
  choiceFinding: (name) => `Asking the hub for ${name}…`,

  choiceNotHubName: "A name on the hub has two parts, the owner and the model: owner/name.",

  /** @param {string} name */
  choiceNotAtHub: (name) => `The hub has no public model ${name}.`,

  /** @param {number} status */
  choiceHubRefused: (status) => `The hub answered ${status}. Try again later.`,

  choiceNoHub: "The hub can’t be reached. Check the connection.",

  /** @param {string} name @param {"gguf" | "safetensors"} kind */
  choiceNoFiles: (name, kind) =>
    `${name} has no ${kind === "gguf" ? "GGUF files" : "config.json with safetensors"}.`,

  /** @param {string} why */
  choiceNoList: (why) => `The list of this site’s models is missing: ${why}`,

  choiceMemory:
    "the browser ran out of memory. Close other tabs, or choose a smaller model or a shorter text.",
};
