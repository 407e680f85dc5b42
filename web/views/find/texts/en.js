// @ts-check
/** English texts of the Find view. */

import { count } from "../../../shared/format.js";

/** @param {number} passages */
const some = (passages) => (passages === 1 ? "1 passage" : `${count(passages)} passages`);

/** @param {number} rate */
const speed = (rate) => (rate === 0 ? "" : `, ${rate.toFixed(1)} a second`);

/** Why a file failed, without its name, with which Python begins. @param {string} name @param {string} why */
const reason = (name, why) => (why.startsWith(`${name}: `) ? why.slice(name.length + 2) : why);

export const texts = {
  findNone: "No texts yet.",
  findWaits: "Your texts wait for a model: choose one below them.",

  findRestoring: "Opening the index…",
  findOpening: "Opening the model…",

  /** @param {string} name @param {number} more  files that wait */
  findReading: (name, more) =>
    `Reading ${name}…${more === 0 ? "" : ` ${more === 1 ? "1 more waits" : `${count(more)} more wait`}.`}`,

  /** @param {string} name @param {number} page @param {number} pages */
  findPages: (name, page, pages) => `Reading ${name}: page ${count(page)} of ${count(pages)}…`,

  /** @param {string} name @param {number} part */
  findCutting: (name, part) => `Cutting ${name} into passages: ${Math.floor(part * 100)} %…`,

  /** @param {number} done @param {number} total @param {number} rate  0 if it is not known */
  findEmbedding: (done, total, rate) =>
    `Indexing: ${count(done)} of ${some(total)}${speed(rate)}.${done ? " You can ask already." : ""}`,

  /** @param {number} passages @param {number} files */
  findReady: (passages, files) =>
    `${some(passages)} of ${files === 1 ? "1 text" : `${count(files)} texts`} can be found.`,

  /** @param {number} done @param {number} total */
  findPartly: (done, total) => `${count(done)} of ${some(total)} can be found.`,

  /** @param {number} passages */
  findAgain: (passages) =>
    `Another model made this index, or it is damaged: ${some(passages)} are indexed again.`,

  /** @param {number} files */
  findWasDamaged: (files) =>
    `The kept index of ${files === 1 ? "1 text is" : `${files} texts is`} damaged. What is left of it is indexed again.`,

  /** @param {string} why */
  findNotKept: (why) => `The browser keeps no index: ${why}. It lasts as long as this tab.`,
  findFull: "its storage is full",

  /** @param {string} name @param {string} why */
  findFailed: (name, why) => `${name}: ${reason(name, why)}`,
  /** @param {string} name @param {string} why */
  findReason: (name, why) => reason(name, why),
  findLocked: "a password protects it",
  findDamaged: "it is no PDF file, or a damaged one",
  findScanned: "its pages have no text, only pictures, as scans have",

  /** @param {string} why */
  findStopped: (why) => `Indexing stopped: ${why}`,

  /** @param {string} encoding */
  findGuessed: (encoding) => `read as ${encoding}, since it is not UTF-8`,

  /** @param {number} passages */
  findPassages: some,

  /** @param {number} page */
  findPage: (page) => `page ${count(page)}`,

  findLooking: "Looking…",
  findNothing: "Nothing can be found yet.",

  /** @param {string} question @param {number} passages @param {string} time */
  findFound: (question, passages, time) =>
    `“${question}”: the ${some(passages)} that ${passages === 1 ? "is" : "are"} nearest, in ${time}`,

  /** @param {string} why */
  findNotFound: (why) => `The search failed: ${why}`,

  /** @param {string} name */
  findRemove: (name) => `Remove ${name}`,

  /** @param {string} start */
  findPasted: (start) => `Pasted: ${start}`,
};
