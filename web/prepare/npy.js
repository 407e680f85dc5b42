// @ts-check
/**
 * Reads and writes NumPy's .npy files (numpy.lib.format): a header in Python's syntax, then the
 * elements.
 */

import { words } from "../i18n/messages.js";
import { ValueError, decode, sizeOf } from "./elements.js";

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];

/** Types by their codes, without the byte order. @type {Record<string, string>} */
const BY_CODE = {
  b1: "bool",
  i1: "int8",
  u1: "uint8",
  i2: "int16",
  u2: "uint16",
  i4: "int32",
  u4: "uint32",
  i8: "int64",
  u8: "uint64",
  f2: "float16",
  f4: "float32",
  f8: "float64",
};
const CODES = Object.fromEntries(Object.entries(BY_CODE).map(([code, dtype]) => [dtype, code]));

/** @typedef {{dtype: string, shape: number[], values: import("./elements.js").Values}} Array */

/**
 * @param {File} file
 * @returns {Promise<Array>}
 * @throws {ValueError}
 */
export async function readNpy(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const refuse = () => new ValueError(words("openNotNpy", file.name));
  if (bytes.length < 10 || MAGIC.some((byte, i) => bytes[i] !== byte)) throw refuse();
  const view = new DataView(bytes.buffer);
  const long = bytes[6] > 1;
  const start = long ? 12 : 10;
  if (bytes.length < start) throw refuse();
  const end = start + (long ? view.getUint32(8, true) : view.getUint16(8, true));
  const header = new TextDecoder("latin1").decode(bytes.subarray(start, end));
  const code = /'descr':\s*'([<>|=])([a-z]\d+)'/.exec(header);
  const lengths = /'shape':\s*\(([\d,\s]*)\)/.exec(header);
  const dtype = code && BY_CODE[code[2]];
  if (!dtype || !lengths) throw new ValueError(words("openNpyType", file.name));
  const shape = lengths[1]
    .split(",")
    .filter((part) => part.trim())
    .map(Number);
  const width = Number(code[2].slice(1));
  const content = bytes.slice(end);
  if (content.length !== sizeOf(shape) * width) throw refuse();
  if (code[1] === ">") swap(content, width);
  const values = decode(content, dtype);
  const fortran = /'fortran_order':\s*True/.test(header);
  return { dtype, shape, values: fortran ? rowMajor(values, shape) : values };
}

/**
 * @param {Uint8Array} bytes
 * @param {number} width  of an element
 */
function swap(bytes, width) {
  for (let start = 0; start < bytes.length; start += width) {
    bytes.subarray(start, start + width).reverse();
  }
}

/**
 * Convert elements from column-major to row-major order.
 * @param {any} values
 * @param {number[]} shape
 */
function rowMajor(values, shape) {
  const result = values.slice();
  const steps = shape.map((_, axis) => sizeOf(shape.slice(0, axis)));
  const indices = shape.map(() => 0);
  for (let to = 0; to < result.length; to++) {
    result[to] = values[indices.reduce((sum, index, axis) => sum + index * steps[axis], 0)];
    for (let axis = shape.length - 1; axis >= 0 && ++indices[axis] === shape[axis]; axis--) {
      indices[axis] = 0;
    }
  }
  return result;
}

/**
 * @param {Uint8Array} bytes  of the elements, in row-major order; as float32 if NumPy lacks the
 *   type
 * @param {string} dtype
 * @param {readonly number[]} shape
 * @returns {Blob}
 */
export function writeNpy(bytes, dtype, shape) {
  const code = CODES[dtype] ?? "f4";
  const order = code.endsWith("1") ? "|" : "<";
  const lengths = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const header = `{'descr': '${order}${code}', 'fortran_order': False, 'shape': (${lengths}), }`;
  // The elements begin at a multiple of 64 bytes.
  const padded = `${header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11)}\n`;
  const head = new Uint8Array([...MAGIC, 1, 0, padded.length & 255, padded.length >> 8]);
  return new Blob([head, padded, /** @type {BlobPart} */ (bytes)]);
}
