// @ts-check
/** English texts of the Write view. */

import { bytes, count, megabytes } from "../../../shared/format.js";

export const texts = {
  writeNone: "No model is chosen yet.",

  writeFromHub: "From the Hugging Face hub…",
  writeFromFile: "A GGUF file…",

  /** @param {string} name @param {number} size @param {number} memory */
  writeChosen: (name, size, memory) =>
    `${name}, ${bytes(size)}. It needs about ${bytes(memory)} of memory.`,

  /** @param {string} name @param {number} size @param {number} memory */
  writeToFetch: (name, size, memory) =>
    `${name}: a download of ${bytes(size)}, unless it is kept from an earlier visit. It needs about ${bytes(memory)} of memory.`,

  /** @param {string} file @param {number} done @param {number | null} total */
  writeFetching: (file, done, total) =>
    `Fetching ${file}: ${total === null ? bytes(done) : `${megabytes(done)} of ${bytes(total)}`}`,

  writeCancelled: "Cancelled. What has arrived is kept; loading goes on from there.",

  /** @param {string} name */
  writeLoading: (name) => `Reading ${name}…`,

  /** @param {string} name @param {string} family @param {number} parameters @param {number} context @param {boolean} converses */
  writeLoaded: (name, family, parameters, context, converses) =>
    `${name}: ${family}, ${count(parameters)} parameters, texts of up to ${count(context)} tokens.${
      converses ? "" : " It was not taught to converse: it continues your text."
    }`,

  /** @param {string} name @param {string} why */
  writeNotLoaded: (name, why) => `${name} can’t be used: ${why}`,

  writeNotGguf: "A language model is a file that ends with .gguf.",

  /** @param {string} name @param {number} size */
  writeSized: (name, size) => `${name}, ${bytes(size)}`,

  /** @param {string} name */
  writeFinding: (name) => `Asking the hub for ${name}…`,

  writeNotHubName: "A name at the hub is that of an owner and that of a model: owner/name.",

  /** @param {string} name */
  writeNotAtHub: (name) => `The hub has no public model ${name}.`,

  /** @param {number} status */
  writeHubRefused: (status) => `The hub answered ${status}. Try again later.`,

  writeNoHub: "The hub can’t be reached. Check the connection.",

  /** @param {string} name */
  writeNoGguf: (name) => `${name} has no GGUF files.`,

  /** @param {string} why */
  writeNoList: (why) => `The list of this site’s models is missing: ${why}`,

  writeMemory:
    "the browser’s memory is not enough. Close other tabs, or choose a smaller model or a shorter text.",

  /** @param {string} why */
  writeFailed: (why) => `The answer failed: ${why}`,

  /** @param {number} tokens @param {number | null} rate */
  writeRate: (tokens, rate) =>
    rate === null ? `${tokens} tokens` : `${tokens} tokens, ${rate.toFixed(1)} a second`,

  writeNothing: "The model answered with nothing.",

  writeUnnamed: "New conversation",
  writeUndo: "Undo",

  /** @param {string} name */
  writeDeleted: (name) => `Deleted: “${name}”.`,

  /** @param {number} damaged */
  writeDamaged: (damaged) =>
    `${damaged === 1 ? "One conversation" : `${damaged} conversations`} in this browser’s storage can’t be read, and ${damaged === 1 ? "was" : "were"} left there.`,

  writeElsewhere:
    "Another tab has changed this conversation: yours is kept beside it, as one of its own.",
  writeFull:
    "The browser’s storage is full: this conversation lasts until you close the page, unless you delete others.",
  writeRefused: "The browser stores nothing for this page: conversations last until you close it.",

  writePieces: "Answer; the arrow keys go through what it is made of",

  /** @param {string} piece @param {string} best @param {string} share */
  writePiece: (piece, best, share) =>
    best ? `Written: “${piece}”. Most probable: “${best}”, ${share}.` : `Written: “${piece}”.`,

  writeLoad: "Load the model",
  writeEdit: "Edit",
  writeAgain: "Answer again",
  writeYou: "You",
  writeModel: "Model",
};
