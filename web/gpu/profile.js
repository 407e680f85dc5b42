// @ts-check
/**
 * How long each step of a program takes, by the device's own clock where it has timestamp-query.
 *
 * Each step gets a compute pass of its own here, which a normal run does without.
 */

import { encode } from "./encode.js";
import { computes } from "./pipelines.js";

/**
 * @typedef {object} Timing  times are in nanoseconds
 * @property {"timestamp" | "counted"} source  counted: only the whole run could be measured
 * @property {number[] | null} steps  of each step of the plan's `run`; null if counted
 * @property {number} total           of a run
 * @property {number} repeats         runs of which the times are the median; the mean if coarse
 * @property {number} resolution      a tick of the clock, 0 if it is finer than matters
 */

/** Milliseconds, unless told otherwise, and runs after which enough is known. */
const BUDGET = 500;
const MOST_REPEATS = 50;

/** Passes whose two timestamps fit into one query set. */
const MOST_PASSES = 2048;

/** A tick from which on the clock counts as coarse: browsers may round to 0.1 ms. */
const COARSE = 1000n;

/**
 * @param {import("./program.js").Program} program
 * @param {() => void} upload  puts the inputs into their slots, which a run may overwrite
 * @param {number} [budget]  milliseconds after which no further run is begun
 * @returns {Promise<Timing>}
 */
export async function profile(program, upload, budget = BUDGET) {
  const { runner, plan, dispatches } = program;
  if (runner.device.features.has("timestamp-query") && dispatches.length) {
    const { runs, resolution } = await measure(program, upload, budget);
    const times = typical(runs, resolution);
    const total = sum(times);
    // All steps may be shorter than a tick: then nothing was measured.
    if (total > 0) {
      let next = 0;
      const steps = plan.run.map((step) => (computes(step) ? times[next++] : 0));
      return { source: "timestamp", steps, total, repeats: runs.length, resolution };
    }
  }
  const runs = await repeat(() => timeWhole(program, upload), budget);
  const [total] = typical(runs, 0);
  return { source: "counted", steps: null, total, repeats: runs.length, resolution: 0 };
}

/**
 * @param {() => Promise<number[]>} once
 * @param {number} budget  milliseconds
 * @returns {Promise<number[][]>}
 */
async function repeat(once, budget) {
  const until = performance.now() + budget;
  const runs = [await once()];
  while (runs.length < MOST_REPEATS && performance.now() < until) runs.push(await once());
  return runs;
}

/**
 * The time of each dispatch, in each of several runs.
 * @param {import("./program.js").Program} program
 * @param {() => void} upload
 * @param {number} budget  milliseconds
 * @returns {Promise<{runs: number[][], resolution: number}>}
 */
async function measure({ runner, plan, dispatches }, upload, budget) {
  const { device } = runner;
  const count = 2 * Math.min(dispatches.length, MOST_PASSES);
  const { QUERY_RESOLVE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
  /** @type {{destroy: () => void}[]} */
  const held = [];
  const keep = (/** @type {any} */ thing) => {
    held.push(thing);
    return thing;
  };
  /** @type {GPUQuerySet} */ let querySet;
  /** @type {GPUBuffer} */ let resolved;
  /** @type {GPUBuffer} */ let staging;
  let divisor = 0n;

  /** @param {typeof dispatches} part  @returns {Promise<number[]>} */
  async function timePart(part) {
    await runner.checked(`${plan.name}: profiling`, () => {
      const encoder = device.createCommandEncoder({ label: `${plan.name} profile` });
      part.forEach((dispatch, index) => {
        encode(encoder, [dispatch], {
          querySet,
          beginningOfPassWriteIndex: 2 * index,
          endOfPassWriteIndex: 2 * index + 1,
        });
      });
      encoder.resolveQuerySet(querySet, 0, 2 * part.length, resolved, 0);
      encoder.copyBufferToBuffer(resolved, 0, staging, 0, 16 * part.length);
      device.queue.submit([encoder.finish()]);
    });
    await runner.whileAlive(staging.mapAsync(GPUMapMode.READ));
    const stamps = new BigUint64Array(staging.getMappedRange().slice(0, 16 * part.length));
    staging.unmap();
    for (const stamp of stamps) divisor = commonDivisor(divisor, stamp);
    return part.map((_, index) => Math.max(0, Number(stamps[2 * index + 1] - stamps[2 * index])));
  }

  try {
    await runner.checked(`${plan.name}: profiling`, () => {
      querySet = keep(device.createQuerySet({ type: "timestamp", count }));
      resolved = keep(device.createBuffer({ size: 8 * count, usage: QUERY_RESOLVE | COPY_SRC }));
      staging = keep(device.createBuffer({ size: 8 * count, usage: MAP_READ | COPY_DST }));
    });
    const runs = await repeat(async () => {
      upload();
      const times = [];
      for (let from = 0; from < dispatches.length; from += MOST_PASSES) {
        times.push(...(await timePart(dispatches.slice(from, from + MOST_PASSES))));
      }
      return times;
    }, budget);
    return { runs, resolution: divisor >= COARSE ? Number(divisor) : 0 };
  } finally {
    for (const thing of held) thing.destroy();
  }
}

/**
 * The time of a whole run, by the clock of the host.
 * @param {import("./program.js").Program} program
 * @param {() => void} upload
 * @returns {Promise<number[]>}
 */
async function timeWhole({ runner, plan, dispatches }, upload) {
  const { device } = runner;
  upload();
  const began = performance.now();
  await runner.checked(`${plan.name}: profiling`, () => {
    const encoder = device.createCommandEncoder({ label: `${plan.name} profile` });
    encode(encoder, dispatches);
    device.queue.submit([encoder.finish()]);
  });
  await runner.whileAlive(device.queue.onSubmittedWorkDone());
  return [(performance.now() - began) * 1e6];
}

/**
 * One figure for each step from those of several runs: the median, since other programs disturb
 * some runs; by a coarse clock the mean, whose error shrinks with every run.
 * @param {number[][]} runs
 * @param {number} resolution
 */
function typical(runs, resolution) {
  return runs[0].map((_, step) => {
    const times = runs.map((run) => run[step]);
    if (resolution) return sum(times) / times.length;
    return times.sort((a, b) => a - b)[(times.length - 1) >> 1];
  });
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

/**
 * @param {bigint} a
 * @param {bigint} b
 */
function commonDivisor(a, b) {
  while (b) [a, b] = [b, a % b];
  return a;
}
