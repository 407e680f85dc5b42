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

/** Bytes of a part of a Fingerprint. */
const PART = 4 << 20;

/**
 * What long bytes are recognised by while they arrive, since browsers hash whole buffers only: the
 * SHA-256 of the SHA-256 of their parts.
 */
export class Fingerprint {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  #sums = [];
  #part = new Uint8Array(PART);
  #filled = 0;
  /** The part before, which is hashed beside. @type {Promise<void>} */
  #last = Promise.resolve();

  /** @param {Uint8Array} piece  may change once this has resolved */
  async add(piece) {
    for (let rest = piece; rest.length;) {
      const taken = rest.subarray(0, PART - this.#filled);
      this.#part.set(taken, this.#filled);
      this.#filled += taken.length;
      rest = rest.subarray(taken.length);
      if (this.#filled === PART) await this.#next();
    }
  }

  /** @returns {Promise<string>} */
  async end() {
    await this.#next();
    await this.#last;
    return hex(await digest(joined(this.#sums, 32 * this.#sums.length)));
  }

  async #next() {
    await this.#last;
    const part = this.#part.subarray(0, this.#filled);
    this.#last = digest(part).then((sum) => void this.#sums.push(sum));
    this.#part = new Uint8Array(PART); // the other one is still being read
    this.#filled = 0;
  }
}

/** @param {Uint8Array} bytes */
export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The same bytes in base64. @param {string} digits  hexadecimal */
export function base64(digits) {
  const bytes = digits.match(/../g) ?? [];
  return btoa(String.fromCharCode(...bytes.map((byte) => parseInt(byte, 16))));
}
