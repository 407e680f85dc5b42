// @ts-check
/**
 * Measures how long Tallow's runs spend in JavaScript and on the GPU; the rest of a run is Python's
 * share.
 */

import { Program } from "../../web/gpu/program.js";

/** Milliseconds from the calls of Program.run to their answers, in total. */
export const inside = { milliseconds: 0 };

const { run } = Program.prototype;

Program.prototype.run = async function (...args) {
  const began = performance.now();
  try {
    return await run.apply(this, args);
  } finally {
    inside.milliseconds += performance.now() - began;
  }
};
