// @ts-check
/** Sounds as the networks hear them: one channel, 16,000 samples a second. */

import { Slower } from "./slower.js";

export const RATE = 16_000;

/** Seconds of a file that are handed on together. */
const PIECE = 30;

/**
 * The sound of a file, which the browser decodes.
 * @param {Blob} file
 * @returns {Promise<{seconds: number, pieces: () => Generator<Float32Array<ArrayBuffer>>}>}
 * @throws {DOMException}  for what is no sound that the browser knows
 */
export async function decoded(file) {
  const context = new OfflineAudioContext(1, 1, RATE);
  const sound = await context.decodeAudioData(await file.arrayBuffer());
  const channels = Array.from({ length: sound.numberOfChannels }, (_, index) =>
    sound.getChannelData(index),
  );
  function* pieces() {
    for (let begin = 0; begin < sound.length; begin += PIECE * RATE) {
      const piece = channels[0].slice(begin, begin + PIECE * RATE);
      for (const other of channels.slice(1))
        for (let at = 0; at < piece.length; at++) piece[at] += other[begin + at];
      yield channels.length > 1 ? piece.map((value) => value / channels.length) : piece;
    }
  }
  return { seconds: sound.duration, pieces };
}

/** What the microphone hears. */
export class Microphone {
  #stream;
  #context;
  /** @type {Float32Array<ArrayBuffer>[]} */
  #pieces = [];

  /**
   * @param {MediaStream} stream
   * @param {AudioContext} context
   */
  constructor(stream, context) {
    this.#stream = stream;
    this.#context = context;
  }

  /**
   * Ask the visitor for it, and begin.
   * @param {() => void} heard  called when there are new samples
   * @throws {DOMException}  NotAllowedError if it is refused, NotFoundError if there is none
   */
  static async open(heard) {
    if (!navigator.mediaDevices) throw new DOMException("no secure page", "NotFoundError");
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    const context = new AudioContext();
    const microphone = new Microphone(stream, context);
    try {
      await context.audioWorklet.addModule(new URL("./recorder.js", import.meta.url));
      const node = new AudioWorkletNode(context, "recorder", { numberOfOutputs: 0 });
      const slower = new Slower(context.sampleRate, RATE);
      node.port.onmessage = ({ data }) => {
        microphone.#pieces.push(slower.add(data));
        heard();
      };
      context.createMediaStreamSource(stream).connect(node);
      await context.resume();
    } catch (error) {
      microphone.close();
      throw error;
    }
    return microphone;
  }

  /** Samples that were not taken yet. */
  get waiting() {
    return this.#pieces.reduce((sum, { length }) => sum + length, 0);
  }

  /** Take what was heard since. */
  take() {
    const all = new Float32Array(this.waiting);
    let at = 0;
    for (const piece of this.#pieces) {
      all.set(piece, at);
      at += piece.length;
    }
    this.#pieces = [];
    return all;
  }

  close() {
    for (const track of this.#stream.getTracks()) track.stop();
    void this.#context.close();
  }
}
