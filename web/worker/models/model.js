// @ts-check
/** A loaded model. It answers with its own GPU program, without Python, or through Python. */

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./models.js").FetchedModel} FetchedModel
 */

/** How many classes the answer for a photograph contains. */
const TOP_COUNT = 5;

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
   * @param {FetchedModel} fetched  once its program is dropped, Python answers
   * @param {number} seconds   from its graph, or the saved plan, until it could answer
   */
  constructor(app, name, fetched, seconds) {
    this.#app = app;
    this.#name = name;
    this.#seconds = seconds;
    this.fetched = fetched;
  }

  /**
   * @param {Float32Array<ArrayBuffer> | Uint8ClampedArray<ArrayBuffer>} pixels
   * @param {boolean} keep  whether profiles and checks will use these pixels
   * @returns {Promise<{probabilities: number[], ms: number}>}
   */
  async answer(pixels, keep) {
    const bytes = new Uint8Array(pixels.buffer, pixels.byteOffset, pixels.byteLength);
    const { program } = this.fetched;
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

  /** The last pixels that were kept. */
  get asked() {
    if (this.#asked) return this.#asked;
    throw new Error(`${this.#name} has no answer yet that could be computed again`);
  }

  /** Milliseconds from its graph, or the saved plan, to its first answer. */
  get first() {
    return this.#first;
  }
}

/**
 * @param {number[]} probabilities
 * @returns {{index: number, probability: number}[]}  the most probable classes, in descending order
 */
export function best(probabilities) {
  return probabilities
    .map((probability, index) => ({ index, probability }))
    .sort((one, other) => other.probability - one.probability)
    .slice(0, TOP_COUNT);
}
