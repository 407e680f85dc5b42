// @ts-check
/**
 * The GPU as Python uses it (py/tallow/devices/webgpu/browser.py), in any page or worker. Python
 * finds the result of openForPython() as globalThis.tallowGpu.
 *
 * Python's buffers arrive as proxies. They are read in place in its memory, without a copy.
 */

import { openDevice } from "./device.js";
import { Runner } from "./runner.js";
import { readTuning, writeTuning } from "./tuning.js";

/**
 * @typedef {import("./program.js").Plan} Plan
 * @typedef {import("./program.js").Weights} Weights
 * @typedef {import("./device.js").DeviceInfo} DeviceInfo
 * @typedef {{getBuffer(type: "u8"): {data: Uint8Array, release(): void}}} PyBuffer  of Pyodide
 * @typedef {{ready(): Promise<void> | void, bytes(): Uint8Array}} Streamed  a weight that is still
 *   downloading; it bypasses Python's memory
 * @typedef {object} Gpu
 * @property {DeviceInfo | null} info      describes the adapter, null if none is available
 * @property {string | null} reason        why none is available
 * @property {(planJson: string, sharedJson: string,
 *   ...weights: (PyBuffer | Streamed)[]) => Promise<PythonProgram>} load  sharedJson: pairs of a slot
 *   and the number of what is in it, equal for programs that may share it
 * @property {(planJson: string, sharedJson: string, ...weights: PyBuffer[]) => PythonProgram} loadNow
 * @property {(code: string, constantsJson: string) => void} begin  compiles a kernel of the plan
 *   that loadNow() gets next
 * @property {PythonBuffers | null} buffers
 * @property {(plan: Plan, weights: Weights) => Promise<PythonProgram>} loadKept
 * @property {string | null} tuning                        the tuning record of this adapter
 * @property {string | null} tuningRefused                 why the record could not be read
 * @property {(record: string) => Promise<void>} keepTuning
 * @property {(() => void) | null} onReplaced  Python's, once it uses this one; called when another
 *   one takes its place
 */

/** A program that Python runs. Before Python has started, the worker runs it. */
export class PythonProgram {
  /** @param {import("./program.js").Program} program */
  constructor(program) {
    this.program = program;
    this.inputCount = program.plan.inputs.length;
  }

  /** @param {...number} ids  as for the program's useStates() */
  useStates(...ids) {
    this.program.useStates(ids);
  }

  /**
   * @param {...(PyBuffer | number)} feeds  the inputs; then, for each output, the id of the buffer
   *   that keeps it on the device, or 0 to fetch it. Without ids, all are fetched.
   */
  run(...feeds) {
    const outputIds = /** @type {number[]} */ (feeds.splice(this.inputCount));
    return withViews(feeds, (views) => this.program.run(views, outputIds));
  }

  /**
   * Run without fetching outputs, and don't wait.
   * @param {...(PyBuffer | number)} feeds  as for run(), without zeros
   */
  start(...feeds) {
    const outputIds = /** @type {number[]} */ (feeds.splice(this.inputCount));
    withViews(feeds, (views) => this.program.start(views, outputIds));
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

  /** Free its buffers. */
  close() {
    this.program.close();
  }
}

/**
 * Call `use` with views of Python's buffers, which are valid only during the call. Ids are passed
 * on unchanged.
 * @template T
 * @param {(PyBuffer | number)[]} feeds
 * @param {(views: (Uint8Array | number)[]) => T} use
 * @returns {T}
 */
function withViews(feeds, use) {
  const views = feeds.map((feed) => (typeof feed === "number" ? feed : feed.getBuffer("u8")));
  try {
    return use(views.map((view) => (typeof view === "number" ? view : view.data)));
  } finally {
    for (const view of views) if (typeof view !== "number") view.release();
  }
}

/**
 * Call `use` with a view of one buffer.
 * @param {PyBuffer} buffer
 * @param {(bytes: Uint8Array) => void} use
 */
function lend(buffer, use) {
  withViews([buffer], ([view]) => use(/** @type {Uint8Array} */ (view)));
}

/** Buffers that stay on the device, as Python uses them; see buffers.js. */
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
   * @param {number} id  of the new buffer
   * @param {number} sourceId
   */
  clone(id, sourceId) {
    this.runner.buffers.clone(id, sourceId);
  }

  /** @param {...number} idsAndSizes  all ids, then the size of each in bytes */
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
 * Open the GPU. Rejects with a DeviceUnavailableError if there is none.
 * @param {object} options
 * @param {string} options.scope  of the tuning records: see tuning.js
 * @param {(reason: string) => void} [options.onLost]  called when the device is lost, before any
 *   run or load fails because of that
 * @param {(done: number, total: number) => void} [options.onProgress]  counts compiled pipelines
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
    /** @type {[number, number][]} */ shared = [],
  ) => new PythonProgram(await runner.load(plan, weights, onProgress, warm, new Map(shared)));
  /** @type {Gpu} */
  const gpu = {
    info,
    reason: null,
    load: (planJson, sharedJson, ...weights) =>
      load(
        JSON.parse(planJson),
        {
          ready: (index) => {
            const weight = weights[index];
            return isStreamed(weight) ? weight.ready() : undefined;
          },
          lend: (index, use) => {
            const weight = weights[index];
            if (isStreamed(weight)) use(weight.bytes());
            else lend(weight, use);
          },
        },
        true,
        JSON.parse(sharedJson),
      ),
    loadNow: (planJson, sharedJson, ...weights) => {
      const lent = {
        ready: () => {},
        lend: (/** @type {number} */ index, /** @type {(bytes: Uint8Array) => void} */ use) =>
          lend(weights[index], use),
      };
      const shared = new Map(JSON.parse(sharedJson));
      return new PythonProgram(runner.loadNow(JSON.parse(planJson), lent, shared));
    },
    begin: (code, constantsJson) => runner.begin(code, JSON.parse(constantsJson)),
    buffers: new PythonBuffers(runner),
    // No warm-up: the plan has run on this adapter before, and often a question is waiting already.
    loadKept: (plan, weights) => load(plan, weights, false),
    tuning: null,
    tuningRefused: null,
    onReplaced: null,
    keepTuning: async (record) => {
      // First of all, so that the record is used in this worker even if storage is refused.
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
