// @ts-check
/**
 * Guesses useful values for an input from its name, type and shape, so that most models run without
 * typing.
 */

import { isInteger } from "./elements.js";
import { layoutsOf } from "./pictures.js";

/**
 * @typedef {(number | string)[]} Open  a shape in which names stand for open lengths
 * @typedef {"random" | "zeros" | "ones" | "counting" | "numbers"} Filling
 */

/** Initial lengths: of a picture's sides, of texts and other series, and of sounds. */
const SIDE = 224;
const SERIES = 16;
const SOUND = 512;

/** The sample rate of most models for speech. */
const RATE = 16000;

/**
 * @param {string} name
 * @param {string} dtype
 * @returns {{filling: Filling, numbers?: number}}
 */
export function fillingOf(name, dtype) {
  if (isInteger(dtype) || dtype === "bool") {
    if (/mask/i.test(name)) return { filling: "ones" };
    if (/^(sr|sampl\w*rate)$/i.test(name)) return { filling: "numbers", numbers: RATE };
    if (/position/i.test(name)) return { filling: "counting" };
    const words = /(^|_)(ids?|tokens?)$/i.test(name) && !/type|segment/i.test(name);
    return { filling: words ? "random" : "zeros" };
  }
  if (/mask/i.test(name)) return { filling: "ones" };
  // The initial state of a recurrent network.
  const memory = /state|hidden|cell|cache|past|^(h|c)(_?\d+)?$/i.test(name);
  return { filling: memory ? "zeros" : "random" };
}

/**
 * The initial length of an axis.
 * @param {Open} shape
 * @param {number} axis
 * @param {string} dtype
 */
export function lengthOf(shape, axis, dtype) {
  if (axis === 0 || /batch/i.test(String(shape[axis]))) return 1;
  if (shape.length === 4 && layoutsOf(shape).length) return SIDE;
  const layers = typeof shape[0] === "number" && typeof shape[2] === "number";
  if (shape.length === 3 && axis === 1 && layers) return 1; // [layers, batch, features] of a state
  if (shape.length === 2 && !isInteger(dtype) && dtype !== "bool") return SOUND;
  return SERIES;
}
