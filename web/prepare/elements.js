// @ts-check
/**
 * Converts numbers to the bytes of a tensor and back, and parses numbers that the visitor types.
 * Types have the names of py/tallow/core/dtype.py.
 */

import { LocalizedError, words } from "../i18n/messages.js";

/** @typedef {ArrayLike<number> | ArrayLike<bigint>} Values */

/** The input can't have this value. */
export class ValueError extends LocalizedError {
  name = "ValueError";
}

/** Types with a typed array. */
const ARRAYS = {
  bool: Uint8Array,
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint32: Uint32Array,
  int32: Int32Array,
  uint64: BigUint64Array,
  int64: BigInt64Array,
  float32: Float32Array,
  float64: Float64Array,
};

/** @param {string} dtype */
const arrayOf = (dtype) => /** @type {any} */ (ARRAYS)[dtype] ?? /** @type {any} */ (null);

/** @param {string} dtype */
export const isInteger = (dtype) => /^u?int/.test(dtype);

/** @param {readonly number[]} shape */
export const sizeOf = (shape) => shape.reduce((product, length) => product * length, 1);

/**
 * Encode numbers as bytes. wide: as float64, because JavaScript lacks the type.
 * @param {Values} values
 * @param {string} dtype
 * @returns {{bytes: Uint8Array, wide: boolean}}
 * @throws {ValueError}  if a number does not fit the type
 */
export function encode(values, dtype) {
  const kind = arrayOf(dtype);
  const found = new (kind ?? Float64Array)(values.length);
  const big = kind === BigInt64Array || kind === BigUint64Array;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    const whole = dtype === "bool" ? Number(Boolean(value)) : value;
    found[i] = big
      ? typeof whole === "bigint"
        ? whole
        : BigInt(Math.trunc(whole))
      : Number(whole);
    const fits = !isInteger(dtype) || !kind || found[i] == truncated(whole);
    if (!fits) throw new ValueError(words("openDoesNotFit", String(value), dtype));
  }
  return { bytes: new Uint8Array(found.buffer), wide: !kind };
}

/** @param {number | bigint} value */
const truncated = (value) => (typeof value === "bigint" ? value : Math.trunc(value));

/**
 * Decode bytes to numbers. Types that JavaScript lacks arrive as float32, except float16.
 * @param {Uint8Array} bytes
 * @param {string} dtype
 * @returns {Values}
 */
export function decode(bytes, dtype) {
  const aligned = bytes.byteOffset % 8 ? bytes.slice() : bytes;
  const { buffer, byteOffset, byteLength } = aligned;
  if (dtype === "float16") {
    return Float32Array.from(new Uint16Array(buffer, byteOffset, byteLength / 2), half);
  }
  const kind = arrayOf(dtype) ?? Float32Array;
  return new kind(buffer, byteOffset, byteLength / kind.BYTES_PER_ELEMENT);
}

/** Decode a float16. @param {number} bits */
function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  if (!exponent) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/**
 * Parse typed numbers, separated by spaces, commas or brackets. A single number fills the tensor.
 * @param {string} typed
 * @param {number} count  how many are needed
 * @param {string} dtype
 * @returns {Values}
 * @throws {ValueError}
 */
export function readNumbers(typed, count, dtype) {
  const parts = typed.split(/[\s,;[\](){}]+/).filter(Boolean);
  /** @type {any[]} */
  const found = parts.map((part) => {
    if (/^(true|false)$/i.test(part)) return Number(/^t/i.test(part));
    if (/64$/.test(dtype) && isInteger(dtype) && /^[+-]?\d+$/.test(part)) return BigInt(part);
    const special = /^([+-]?)(nan|inf(inity)?)$/i.exec(part);
    const value = special
      ? (special[1] === "-" ? -1 : 1) * (/nan/i.test(special[2]) ? NaN : Infinity)
      : Number(part);
    const wrong =
      (Number.isNaN(value) && !special) || (isInteger(dtype) && !Number.isInteger(value));
    if (wrong) throw new ValueError(words("openNotNumber", part, dtype));
    return value;
  });
  if (found.length === 1 && count > 1) return Array(count).fill(found[0]);
  if (found.length !== count) throw new ValueError(words("openCount", count, found.length));
  return found;
}

/**
 * Random numbers, reproducible by their seed (mulberry32).
 * @param {number} count
 * @param {{seed: number, from: number, to: number}} options  to: exclusive
 * @param {string} dtype
 * @returns {Float64Array}
 */
export function randomNumbers(count, { seed, from, to }, dtype) {
  let state = seed >>> 0;
  const whole = isInteger(dtype);
  return Float64Array.from({ length: count }, () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    const value = from + (((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * (to - from);
    return dtype === "bool" ? Number(value >= 0.5) : whole ? Math.floor(value) : value;
  });
}
