// @ts-check
/** The visitor's sounds: one-second clips of what the microphone hears, and of files. */

import { words } from "../../../i18n/messages.js";
import { decoded, Microphone, RATE } from "../../../widgets/sound/sounds.js";

/** Clips whose loudest sample is below this one are silence. */
const SILENCE = 0.01;

/** Bytes that are kept of a clip, its spectrogram among them. */
export const CLIP_BYTES = 45_000;

/** Cuts samples into clips, as int16. */
export class Clips {
  #samples = new Float32Array(RATE);
  #count = 0;

  /**
   * @param {Float32Array} samples
   * @returns {Generator<Uint8Array<ArrayBuffer>>}  the bytes of each clip that is full; silence is
   *   left out
   */
  *add(samples) {
    for (let at = 0; at < samples.length;) {
      const some = samples.subarray(at, at + RATE - this.#count);
      this.#samples.set(some, this.#count);
      this.#count += some.length;
      at += some.length;
      if (this.#count === RATE) yield* this.#cut();
    }
  }

  /** The last clip, filled up with silence, if at least half of it is there. */
  *end() {
    if (this.#count < RATE / 2) return;
    this.#samples.fill(0, this.#count);
    yield* this.#cut();
  }

  *#cut() {
    this.#count = 0;
    const loudest = this.#samples.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    if (loudest < SILENCE) return;
    const clip = Int16Array.from(this.#samples, (value) =>
      Math.round(32767 * Math.min(1, Math.max(-1, value))),
    );
    yield new Uint8Array(clip.buffer);
  }
}

/**
 * The clips of a sound file.
 * @param {File} file
 * @throws {DOMException}  for what is no sound that the browser knows
 */
export async function* clipsOf(file) {
  const clips = new Clips();
  for (const samples of (await decoded(file)).pieces()) yield* clips.add(samples);
  yield* clips.end();
}

/**
 * Why there is no microphone.
 * @param {unknown} error
 * @returns {import("../../../i18n/messages.js").Words | null}  null for another error
 */
export function unheard(error) {
  const { name } = /** @type {Error} */ (error);
  if (name === "NotAllowedError" || name === "SecurityError")
    return words("trainOwnMicrophoneRefused");
  return name === "NotFoundError" ? words("trainOwnNoMicrophone") : null;
}

/**
 * The clips that the microphone hears, until the signal is aborted.
 * @param {AbortSignal} signal
 * @throws {DOMException}  if it is refused, or there is none
 */
export async function* heard(signal) {
  let wake = () => {};
  signal.addEventListener("abort", () => wake());
  const microphone = await Microphone.open(() => wake());
  const clips = new Clips();
  try {
    while (!signal.aborted) {
      if (!microphone.waiting) await new Promise((resolve) => (wake = () => resolve(undefined)));
      yield* clips.add(microphone.take());
    }
  } finally {
    microphone.close();
  }
}
