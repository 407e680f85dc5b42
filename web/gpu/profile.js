// @ts-check
/**
 * Measures how long each step of a program takes: with the feature timestamp-query if available,
 * otherwise only the whole run.
 *
 * Unlike in a normal run, each step is a compute pass of its own, because WebGPU takes timestamps
 * at the beginning and the end of passes.
 */

import { encode } from "./encode.js";
import { computes } from "./pipelines.js";

/**
 * @typedef {object} Timing  in nanoseconds
 * @property {"timestamp" | "counted"} source  counted: only the whole run could be measured
 * @property {number[] | null} steps  the time of each step of the plan's `run`; null if counted
 * @property {number} total           the time of a run
 * @property {number} repeats         number of runs. The times are their median; if the clock is
 *   coarse, their mean
 * @property {number} resolution      a tick of the clock if it is coarse, otherwise 0
 */

/** Limits of a profile: milliseconds, unless the caller gives others, and runs. */
const BUDGET_MS = 500;
const MAX_REPEATS = 50;

/** A query set holds at most 4096 timestamps, two for each pass. */
const MAX_PASSES = 2048;

/** Nanoseconds from which a tick of the clock counts as coarse. Browsers may round to 0.1 ms. */
const COARSE_NS = 1000n;

/**
 * @param {import("./program.js").Program} program
 * @param {() => void} upload  uploads the inputs, before every run because runs may overwrite them
 * @param {number} [budget]  milliseconds after which no further run begins
 * @returns {Promise<Timing>}
 */
export async function profile(program, upload, budget = BUDGET_MS) {
  const { runner, plan, dispatches } = program;
  if (runner.device.features.has("timestamp-query") && dispatches.length) {
    const { runs, resolution } = await measure(program, upload, budget);
    const times = typical(runs, resolution);
    const total = sum(times);
    // If all steps are shorter than a tick, nothing was measured.
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
 * @param {() => Promise<number[]>} once  runs once, and resolves to the times
 * @param {number} budget  milliseconds
 * @returns {Promise<number[][]>}
 */
async function repeat(once, budget) {
  const until = performance.now() + budget;
  const runs = [await once()];
  while (runs.length < MAX_REPEATS && performance.now() < until) runs.push(await once());
  return runs;
}

/**
 * Measure each dispatch, in several runs.
 * @param {import("./program.js").Program} program
 * @param {() => void} upload
 * @param {number} budget  milliseconds
 * @returns {Promise<{runs: number[][], resolution: number}>}
 */
async function measure({ runner, plan, dispatches }, upload, budget) {
  const { device } = runner;
  const count = 2 * Math.min(dispatches.length, MAX_PASSES);
  const { QUERY_RESOLVE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
  /** @type {{destroy: () => void}[]} */
  const resources = [];
  const destroyLater = (/** @type {any} */ resource) => {
    resources.push(resource);
    return resource;
  };
  /** @type {GPUQuerySet} */ let querySet;
  /** @type {GPUBuffer} */ let resolved;
  /** @type {GPUBuffer} */ let staging;
  /** Of all timestamps: a tick of the clock. */
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
      const size = 8 * count;
      querySet = destroyLater(device.createQuerySet({ type: "timestamp", count }));
      resolved = destroyLater(device.createBuffer({ size, usage: QUERY_RESOLVE | COPY_SRC }));
      staging = destroyLater(device.createBuffer({ size, usage: MAP_READ | COPY_DST }));
    });
    const runs = await repeat(async () => {
      upload();
      const times = [];
      for (let from = 0; from < dispatches.length; from += MAX_PASSES) {
        times.push(...(await timePart(dispatches.slice(from, from + MAX_PASSES))));
      }
      return times;
    }, budget);
    return { runs, resolution: divisor >= COARSE_NS ? Number(divisor) : 0 };
  } finally {
    for (const resource of resources) resource.destroy();
  }
}

/**
 * Time a whole run by the host's clock.
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
 * Reduce the times of several runs to one for each step: the median, because other programs disturb
 * some runs. With a coarse clock it is the mean, whose error shrinks with every run.
 * @param {number[][]} runs
 * @param {number} resolution  0 if the clock is fine
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
