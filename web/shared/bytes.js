// @ts-check
/** Joins and hashes bytes that arrive in pieces. */

/**
 * @param {Uint8Array[]} pieces
 * @param {number} length  of all of them
 */
export function joined(pieces, length) {
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.length;
  }
  return whole;
}

/** The SHA-256. @param {Uint8Array<ArrayBuffer>} bytes */
export async function digest(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** Bytes that a Fingerprint hashes at a time. */
const PART = 4 << 20;

/**
 * A hash of content that arrives in pieces: the SHA-256 of the SHA-256s of its parts, because
 * browsers can only hash whole buffers.
 */
export class Fingerprint {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  #sums = [];
  #part = new Uint8Array(PART);
  #filled = 0;
  /** The previous part, which is hashed in parallel. @type {Promise<void>} */
  #last = Promise.resolve();

  /** @param {Uint8Array} piece  the caller may change it once this has resolved */
  async add(piece) {
    for (let rest = piece; rest.length;) {
      const chunk = rest.subarray(0, PART - this.#filled);
      this.#part.set(chunk, this.#filled);
      this.#filled += chunk.length;
      rest = rest.subarray(chunk.length);
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
    this.#part = new Uint8Array(PART); // the old one is still being hashed
    this.#filled = 0;
  }
}

/** @param {Uint8Array} bytes */
export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Convert hexadecimal digits to base64. @param {string} digits */
export function base64(digits) {
  const bytes = digits.match(/../g) ?? [];
  return btoa(String.fromCharCode(...bytes.map((byte) => parseInt(byte, 16))));
}
