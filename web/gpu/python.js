// @ts-check
/**
 * A GPU as Python sees it (py/tallow/runtime/browser.py), in any page or worker: it has what is opened
 * here as globalThis.tallowGpu.
 *
 * Buffers of Python come as proxies and are read where they lie in its memory, without a copy.
 */

import { openDevice } from "./device.js";
import { Runner } from "./runner.js";
import { readTuning, writeTuning } from "./tuning.js";

/**
 * @typedef {import("./program.js").Plan} Plan
 * @typedef {import("./program.js").Weights} Weights
 * @typedef {import("./device.js").DeviceInfo} DeviceInfo
 * @typedef {{getBuffer(type: "u8"): {data: Uint8Array, release(): void}}} PyBuffer  of Pyodide
 * @typedef {{ready(): Promise<void> | void, bytes(): Uint8Array}} Streamed  bytes that come to the GPU
 *   without Python
 * @typedef {object} Gpu
 * @property {DeviceInfo | null} info      about the adapter, null where none is available
 * @property {string | null} reason        why none is available
 * @property {(planJson: string, ...weights: (PyBuffer | Streamed)[]) => Promise<PythonProgram>} load
 * @property {(planJson: string, ...weights: PyBuffer[]) => PythonProgram} loadNow
 * @property {PythonBuffers | null} buffers
 * @property {(plan: Plan, weights: Weights) => Promise<PythonProgram>} loadKept
 * @property {string | null} tuning                        the tuning record of this adapter
 * @property {string | null} tuningRefused                 why it could not be read
 * @property {(record: string) => Promise<void>} keepTuning
 */

/** A program that Python runs, or the worker itself before that is there. */
export class PythonProgram {
  /** @param {import("./program.js").Program} program */
  constructor(program) {
    this.program = program;
    this.inputs = program.plan.inputs.length + program.plan.states.length;
  }

  /**
   * @param {...(PyBuffer | number)} feeds  the inputs and states, then the number under which each
   *   output stays, or 0 if it is fetched; of no output if all are fetched
   */
  run(...feeds) {
    const kept = /** @type {number[]} */ (feeds.splice(this.inputs));
    return withViews(feeds, (views) => this.program.run(views, kept));
  }

  /**
   * As run(), but no output is fetched.
   * @param {...(PyBuffer | number)} feeds
   */
  start(...feeds) {
    const kept = /** @type {number[]} */ (feeds.splice(this.inputs));
    withViews(feeds, (views) => this.program.start(views, kept));
  }

  /**
   * @param {number} budget  milliseconds
   * @param {...(PyBuffer | number)} inputs
   */
  profile(budget, ...inputs) {
    return withViews(inputs, (views) => this.program.profile(views, budget));
  }

  get stats() {
    return this.program.stats;
  }

  /** Free what it holds. */
  close() {
    this.program.close();
  }
}

/**
 * Call with the bytes of Python's buffers, which are there during the call alone. Numbers stay.
 * @template T
 * @param {(PyBuffer | number)[]} feeds
 * @param {(views: (Uint8Array | number)[]) => T} use
 * @returns {T}
 */
function withViews(feeds, use) {
  const held = feeds.map((feed) => (typeof feed === "number" ? feed : feed.getBuffer("u8")));
  try {
    return use(held.map((view) => (typeof view === "number" ? view : view.data)));
  } finally {
    for (const view of held) if (typeof view !== "number") view.release();
  }
}

/**
 * @param {PyBuffer} buffer
 * @param {(bytes: Uint8Array) => void} use
 */
function lend(buffer, use) {
  withViews([buffer], ([view]) => use(/** @type {Uint8Array} */ (view)));
}

/** What Python may do with buffers that stay on the device; see web/gpu/buffers.js. */
class PythonBuffers {
  /** @param {Runner} runner */
  constructor(runner) {
    this.runner = runner;
  }

  /**
   * @param {number} id
   * @param {PyBuffer} bytes
   */
  upload(id, bytes) {
    withViews([bytes], ([view]) => {
      this.runner.buffers.upload(id, /** @type {Uint8Array} */ (view));
    });
  }

  /**
   * @param {number} id
   * @param {number} from
   */
  clone(id, from) {
    this.runner.buffers.clone(id, from);
  }

  /** @param {...number} idsAndSizes  the numbers, then the bytes of each */
  read(...idsAndSizes) {
    const sizes = idsAndSizes.splice(idsAndSizes.length / 2);
    return this.runner.buffers.read(idsAndSizes, sizes);
  }

  /** @param {number} id */
  free(id) {
    this.runner.buffers.free(id);
  }
}

/** @param {PyBuffer | Streamed} weight  @returns {weight is Streamed} */
const isStreamed = (weight) => !("getBuffer" in weight);

/**
 * Open the best adapter. Rejects with a DeviceUnavailableError.
 * @param {object} options
 * @param {string} options.scope  whose tuning records these are: see tuning.js
 * @param {(reason: string) => void} [options.onLost]  heard before any run or load fails with it
 * @param {(done: number, total: number) => void} [options.onProgress]  pipelines compiled
 * @returns {Promise<Gpu>}
 */
export async function openForPython({ scope, onLost = () => {}, onProgress = () => {} }) {
  const { device, info } = await openDevice();
  const runner = new Runner(device, info);
  runner.loss.then(({ message }) => onLost(message));
  const load = async (
    /** @type {Plan} */ plan,
    /** @type {Weights} */ weights,
    /** @type {boolean} */ warm,
  ) => new PythonProgram(await runner.load(plan, weights, onProgress, warm));
  /** @type {Gpu} */
  const gpu = {
    info,
    reason: null,
    load: (planJson, ...weights) =>
      load(
        JSON.parse(planJson),
        {
          ready: (place) => {
            const weight = weights[place];
            return isStreamed(weight) ? weight.ready() : undefined;
          },
          lend: (place, use) => {
            const weight = weights[place];
            if (isStreamed(weight)) use(weight.bytes());
            else lend(weight, use);
          },
        },
        true,
      ),
    loadNow: (planJson, ...weights) =>
      new PythonProgram(
        runner.loadNow(JSON.parse(planJson), {
          ready: () => {},
          lend: (place, use) => lend(weights[place], use),
        }),
      ),
    buffers: new PythonBuffers(runner),
    // It has run on this adapter before; and often a question is waiting, for whose first run a warm-up
    // would cost as much again.
    loadKept: (plan, weights) => load(plan, weights, false),
    tuning: null,
    tuningRefused: null,
    keepTuning: async (record) => {
      // What is kept nowhere else holds as long as this worker does.
      gpu.tuning = record;
      gpu.tuningRefused = null;
      await writeTuning(scope, info.name, record);
    },
  };
  try {
    gpu.tuning = await readTuning(scope, info.name);
  } catch (error) {
    gpu.tuningRefused = /** @type {Error} */ (error).message;
  }
  return gpu;
}
