// @ts-check
/** English texts of the Write view. */

import { count } from "../../../shared/format.js";

export const texts = {
  /** @param {string} name @param {string} family @param {number} parameters @param {number} context @param {boolean} converses */
  writeLoaded: (name, family, parameters, context, converses) =>
    `${name}: ${family}, ${count(parameters)} parameters, texts of up to ${count(context)} tokens.${
      converses ? "" : " It was not taught to converse: it continues your text."
    }`,

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

  writeEdit: "Edit",
  writeAgain: "Answer again",
  writeYou: "You",
  writeModel: "Model",
};
