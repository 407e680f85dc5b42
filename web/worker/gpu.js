// @ts-check
/**
 * The GPU as Python sees it: globalThis.tallowGpu = {info, reason, load(planJson, ...weights),
 * loadNow(planJson, ...weights), buffers, tuning, tuningRefused, keepTuning(record)}; and loadKept(),
 * for plans that need no Python.
 *
 * info is null, with the reason, until a device was had. Buffers of Python come as proxies
 * and are read where they lie in its memory, without a copy.
 */

import { Part } from "../shared/streamed.js";
import { openDevice } from "../gpu/device.js";
import { Runner } from "../gpu/runner.js";
import { readTuning, writeTuning } from "../gpu/tuning.js";
import { LocalizedError, say, wordsOf } from "../i18n/messages.js";
import { SITE } from "../shared/fetch.js";
import { emit } from "./serve.js";

/** @type {Promise<Gpu> | undefined} */
let opened;

/**
 * @typedef {import("../gpu/program.js").Plan} Plan
 * @typedef {import("../gpu/program.js").Weights} Weights
 * @typedef {import("../gpu/device.js").DeviceInfo} DeviceInfo
 * @typedef {{getBuffer(type: "u8"): {data: Uint8Array, release(): void}}} PyBuffer  of Pyodide
 * @typedef {object} Gpu
 * @property {DeviceInfo | null} info      about the adapter, null where none can be had
 * @property {string | null} reason        why none can be had, for developers
 * @property {import("../i18n/messages.js").Words | null} words  the same, for visitors
 * @property {(planJson: string, ...weights: (PyBuffer | Part)[]) => Promise<PythonProgram>} load
 * @property {(planJson: string, ...weights: PyBuffer[]) => PythonProgram} loadNow
 * @property {PythonBuffers | null} buffers
 * @property {(plan: Plan, weights: Weights) => Promise<PythonProgram>} loadKept
 * @property {string | null} tuning                        the tuning record of this adapter
 * @property {string | null} tuningRefused                 why it could not be read
 * @property {(record: string) => Promise<void>} keepTuning
 */

/** A program that Python runs, or the worker itself before that is there. */
export class PythonProgram {
  /** @param {import("../gpu/program.js").Program} program */
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

  get lost() {
    return this.runner.lost?.message ?? "";
  }
}

/**
 * What a weight is that has not come to Python, and goes to the GPU from the model's file.
 * @param {PyBuffer | Part} weight
 */
const partOf = (weight) => (weight instanceof Part ? weight : undefined);

/** @returns {Promise<Gpu>}  once opened, the same one */
async function open() {
  try {
    const { device, info } = await openDevice();
    const runner = new Runner(device, info);
    // Heard here before any run or load fails with it, so that the page knows first.
    runner.loss.then(({ message }) => {
      opened = undefined; // so that the next wish for it asks the browser again
      emit("lost", { reason: message });
    });
    const progress = (/** @type {number} */ done, /** @type {number} */ total) =>
      emit("progress", { stage: "kernels", done, total });
    const load = async (
      /** @type {Plan} */ plan,
      /** @type {Weights} */ weights,
      /** @type {boolean} */ warm,
    ) => new PythonProgram(await runner.load(plan, weights, progress, warm));
    /** @type {Gpu} */
    const gpu = {
      info,
      reason: null,
      words: null,
      load: (planJson, ...weights) =>
        load(
          JSON.parse(planJson),
          {
            ready: (place) => partOf(weights[place])?.ready(),
            lend: (place, use) => {
              const weight = weights[place];
              const part = partOf(weight);
              if (part) use(part.bytes());
              else lend(/** @type {PyBuffer} */ (weight), use);
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
        await writeTuning(SITE.href, info.name, record);
      },
    };
    try {
      gpu.tuning = await readTuning(SITE.href, info.name);
    } catch (error) {
      gpu.tuningRefused = /** @type {Error} */ (error).message;
    }
    return gpu;
  } catch (error) {
    opened = undefined; // so that the next wish for it asks the browser again
    return none(wordsOf(error));
  }
}

/**
 * Open the GPU; never rejects.
 * @returns {Promise<Gpu>}
 */
export async function openGpu() {
  opened ??= open();
  return opened;
}

/** @returns {Gpu}  none, because none was asked for */
export function withoutGpu() {
  return none("WebGPU was not asked for.");
}

/**
 * @param {import("../i18n/messages.js").Words} words
 * @returns {Gpu}
 */
function none(words) {
  const refuse = () => Promise.reject(new LocalizedError(words));
  return {
    info: null,
    reason: say(words),
    words,
    load: refuse,
    loadNow: () => {
      throw new Said(words);
    },
    buffers: null,
    loadKept: refuse,
    tuning: null,
    tuningRefused: null,
    keepTuning: refuse,
  };
}

/**
 * Have Python see this one from now on; not in the middle of what it does on another.
 * @param {Gpu} gpu
 */
export function show(gpu) {
  Object.assign(globalThis, { tallowGpu: gpu });
}
