// @ts-check
/** In the audio thread: hands on what the microphone hears, as the mean of its channels. */

/** Samples that are sent together: some hundredths of a second. */
const TOGETHER = 2048;

// The audio thread's own names, which the page's types lack.
const { AudioWorkletProcessor, registerProcessor } = /** @type {any} */ (globalThis);

class Recorder extends AudioWorkletProcessor {
  /** @type {Float32Array<ArrayBuffer>} */
  #samples = new Float32Array(TOGETHER);
  #count = 0;

  /** @param {Float32Array[][]} inputs */
  process([channels]) {
    const length = channels[0]?.length ?? 0;
    for (let at = 0; at < length; at++) {
      let sum = 0;
      for (const channel of channels) sum += channel[at];
      this.#samples[this.#count++] = sum / channels.length;
      if (this.#count < TOGETHER) continue;
      this.port.postMessage(this.#samples, [this.#samples.buffer]);
      this.#samples = new Float32Array(TOGETHER);
      this.#count = 0;
    }
    return true;
  }
}

registerProcessor("recorder", Recorder);
