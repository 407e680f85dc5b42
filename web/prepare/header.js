// @ts-check
/**
 * Reads the format and the size of a picture from the first bytes of its file, so that pictures
 * that are too large need not be decoded, and failures can be explained. Formats: PNG, GIF, BMP,
 * WebP and JPEG with their sizes, HEIC only by name.
 */

/** Bytes to read. In a JPEG, a preview and a profile may come before the size. */
const HEADER_BYTES = 1 << 18;

/** The brands of ISO base media files whose picture is coded as HEVC. */
const HEIC = new Set(["heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1"]);

/** @typedef {{format: string, width: number, height: number}} Header  0 × 0 if the size is unknown */

/**
 * @param {Blob} file
 * @returns {Promise<Header | null>}  null for an unknown format
 */
export async function readHeader(file) {
  const bytes = await file.slice(0, HEADER_BYTES).arrayBuffer();
  try {
    return header(new DataView(bytes));
  } catch (error) {
    if (error instanceof RangeError) return null; // the file ends in its header
    throw error;
  }
}

/** @param {DataView} data @returns {Header | null} */
function header(data) {
  const word = (/** @type {number} */ at, count = 4) =>
    String.fromCharCode(...new Uint8Array(data.buffer, at, count));
  if (data.getUint32(0) === 0x89504e47) {
    return { format: "PNG", width: data.getUint32(16), height: data.getUint32(20) };
  }
  if (word(0) === "GIF8") {
    return { format: "GIF", width: data.getUint16(6, true), height: data.getUint16(8, true) };
  }
  if (word(0, 2) === "BM") {
    const height = Math.abs(data.getInt32(22, true)); // negative if rows go from top to bottom
    return { format: "BMP", width: data.getInt32(18, true), height };
  }
  if (data.getUint16(0) === 0xffd8) return { format: "JPEG", ...frame(data) };
  if (word(0) === "RIFF" && word(8) === "WEBP") return { format: "WebP", ...webp(data, word(12)) };
  if (word(4) === "ftyp" && HEIC.has(word(8))) return { format: "HEIC", width: 0, height: 0 };
  return null;
}

/**
 * Read the size from a JPEG's start of frame, skipping the segments before it.
 * @param {DataView} data
 */
function frame(data) {
  for (let offset = 2; offset + 9 <= data.byteLength;) {
    const marker = data.getUint16(offset);
    // C4, C8 and CC are in this range, but do not start a frame.
    if (marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker)) {
      return { width: data.getUint16(offset + 7), height: data.getUint16(offset + 5) };
    }
    if (marker < 0xff01) break; // not a marker: the file is damaged here
    offset += marker === 0xffff ? 1 : 2 + data.getUint16(offset + 2);
  }
  return { width: 0, height: 0 };
}

/** @param {DataView} data @param {string} chunk */
function webp(data, chunk) {
  const small = (/** @type {number} */ at) => data.getUint16(at, true);
  const long = (/** @type {number} */ at) => small(at) + (data.getUint8(at + 2) << 16);
  if (chunk === "VP8X") return { width: long(24) + 1, height: long(27) + 1 };
  if (chunk === "VP8L") {
    const bits = data.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
  }
  return { width: small(26) & 0x3fff, height: small(28) & 0x3fff };
}
