// @ts-check
/** Bytes that arrive in pieces, and what they are recognised by. */

/**
 * @param {Uint8Array[]} pieces
 * @param {number} length  of all of them
 */
export function joined(pieces, length) {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The SHA-256. @param {Uint8Array<ArrayBuffer>} bytes */
export async function digest(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** @param {Uint8Array} bytes */
export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
