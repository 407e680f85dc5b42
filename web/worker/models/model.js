// @ts-check
/**
 * A model that answers: by its program on the GPU, without Python, or by Python.
 */

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./models.js").Brought} Brought
 */

/** Classes that an answer about a photograph names. */
const BEST = 5;

export class Model {
  #app;
  #name;
  #seconds;
  /** @type {Uint8Array | null} */
  #asked = null;
  /** @type {number | null} */
  #first = null;

  /**
   * @param {App} app
   * @param {string} name
   * @param {Brought} brought  how it came; what drops its program leaves the answers to Python
   * @param {number} seconds   from its graph, or the plan that was kept, until it could answer
   */
  constructor(app, name, brought, seconds) {
    this.#app = app;
    this.#name = name;
    this.#seconds = seconds;
    this.brought = brought;
  }

  /**
   * @param {Float32Array<ArrayBuffer> | Uint8ClampedArray<ArrayBuffer>} pixels
   * @param {boolean} keep  whether these are what is asked again, in profiles and checks
   * @returns {Promise<{probabilities: number[], ms: number}>}
   */
  async answer(pixels, keep) {
    const bytes = new Uint8Array(pixels.buffer, pixels.byteOffset, pixels.byteLength);
    const { program } = this.brought;
    const run = async () => {
      const began = performance.now();
      const content = program
        ? (await program.program.run([bytes]))[0]
        : await this.#app.askBuffer("predict", this.#name, bytes);
      return { probabilities: [...new Float32Array(content)], ms: performance.now() - began };
    };
    const answer = await (program ? run() : this.#app.inTurn(run));
    this.#first ??= 1000 * this.#seconds + answer.ms;
    if (keep) this.#asked = bytes;
    return answer;
  }

  /** The last pixels that were to be kept. */
  get asked() {
    if (this.#asked) return this.#asked;
    throw new Error(`${this.#name} has answered nothing yet that could be computed again`);
  }

  /** Milliseconds from its graph, or its plan, to its first answer. */
  get first() {
    return this.#first;
  }
}

/**
 * @param {number[]} probabilities
 * @returns {{index: number, probability: number}[]}  of the most probable classes, the best first
 */
export function best(probabilities) {
  return probabilities
    .map((probability, index) => ({ index, probability }))
    .sort((one, other) => other.probability - one.probability)
    .slice(0, BEST);
}
