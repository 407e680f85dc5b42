// @ts-check
/** English texts about files that the visitor chooses. */

import { count } from "../../shared/format.js";

export const files = {
  noCanvas: "This browser provides no 2-D canvas, which drawing and pictures need.",

  /** @param {string} name */
  emptyPhoto: (name) => `“${name}” is empty (0 bytes). Choose another picture.`,

  /** @param {string} name @param {string} type  may be empty */
  notPhoto: (name, type) =>
    `“${name}”${type && ` (${type})`} is not a picture that this browser can open. ` +
    `Try a JPEG, PNG or WebP.`,
  noFile: "What you dropped is not a file. Save the picture first, then drop the saved file.",

  /** @param {string} folders */
  noPictures: (folders) => `The folder “${folders}” contains no pictures.`,

  /** @param {string} name */
  heicPhoto: (name) =>
    `“${name}” is a HEIC picture, which this browser can’t open. Save it as a JPEG first.`,

  /** @param {string} name @param {string} format */
  damagedPhoto: (name, format) =>
    `“${name}” looks like a ${format}, but can’t be decoded: it is damaged or incomplete.`,

  /** @param {string} name @param {number} width @param {number} height @param {number} most */
  largePhoto: (name, width, height, most) =>
    `“${name}” is too large: ${width} × ${height} pixels. Pictures of up to ${most} million pixels ` +
    `can be opened; make it smaller first.`,

  /** @param {string} value @param {string} type */
  openDoesNotFit: (value, type) => `${value} does not fit ${type}`,

  /** @param {string} part @param {string} type */
  openNotNumber: (part, type) => `“${part.slice(0, 40)}” is not a number of the type ${type}`,

  /** @param {number} wanted @param {number} given */
  openCount: (wanted, given) => `${count(wanted)} numbers are needed, ${count(given)} were given`,

  /** @param {string} name */
  openNotNpy: (name) => `“${name}” is not a complete .npy file`,

  /** @param {string} name */
  openNpyType: (name) => `“${name}” has an element type that is not supported here`,

  /** @param {string} name */
  openNotLabels: (name) =>
    `“${name}” contains no labels. Use one label per line, or a JSON list or object.`,
};
