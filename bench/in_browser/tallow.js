// @ts-check
/**
 * How long Tallow's runs are in JavaScript and the GPU; what remains of a run is Python's share.
 */

import { Program } from "../../web/gpu/program.js";

/** Milliseconds from the call of Program.run to its answer, added up. */
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
