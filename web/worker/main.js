// @ts-check
/**
 * The page's worker: Python, the models and the device, behind a table of actions.
 *
 * Downloads run side by side, and plans that were kept come to the GPU, while Python starts; whatever
 * touches Python waits its turn, so that no prediction meets a half-switched device.
 */

import { DIGIT_MODEL } from "../catalogue.js";
import { Said } from "../said.js";
import { openGpu, withoutGpu } from "./gpu.js";
import { Models } from "./models.js";
import { openedActions } from "./opened.js";
import { startPython } from "./python.js";
import { emit, serve } from "./serve.js";

/**
 * @typedef {"webgpu" | "numpy"} Device
 * @typedef {object} Started
 * @property {Device} device         the one that was had
 * @property {string} adapter
 * @property {import("../said.js").Words | null} reason  why that is not the one asked for
 * @property {Record<string, object>} models  facts about those that were loaded again
 */

/** @type {Promise<import("./python.js").Python> | undefined} */
let python;

/** py/tallow/app.py, once imported. @type {any} */
let app;

/** The models that app.py holds, which are loaded again on another device. @type {Set<string>} */
const loaded = new Set();

/** The device that was chosen last. @type {Promise<import("./gpu.js").Gpu>} */
let chosen = Promise.resolve(withoutGpu());

/** How often that was done. */
let starts = 0;

/** What is being tuned, if anything. @type {{stop: boolean, over: Promise<any>} | null} */
let tuning = null;

/** @type {Promise<unknown>} */
let last = Promise.resolve();

/**
 * Run a job after all earlier ones, whether those failed or not.
 * @template T
 * @param {() => Promise<T>} job
 * @returns {Promise<T>}
 */
function inTurn(job) {
  const mine = last.then(job);
  last = mine.catch(() => {});
  return mine;
}

/** @returns {Promise<import("./python.js").Python>} */
function started() {
  if (!python) throw new Error("The worker was asked for an answer before it was started.");
  return python;
}

/** py/tallow/app.py. */
async function imported() {
  app ??= (await started()).pyodide.pyimport("tallow.app");
  return app;
}

/** Milliseconds without a question after which the worker counts as idle. */
const QUIET_MS = 500;

/** Resolves when nothing is asked of Python, and was not for a while. */
async function idle() {
  /** @type {Promise<unknown>} */
  let turn;
  do {
    turn = last;
    await turn;
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  } while (turn !== last);
}

/**
 * Call a function of py/tallow/app.py, once that is imported.
 * @param {string} name
 * @param {...unknown} args
 */
function call(name, ...args) {
  const run = app[name];
  try {
    return run(...args);
  } finally {
    run.destroy();
  }
}

/**
 * Call a function of py/tallow/app.py, and read the JSON that it gives.
 * @param {"start" | "load_model" | "load_kept" | "predict" | "profile" | "run_on" | "tune" | "open_model"
 *   | "survey_model" | "run_model" | "time_model" | "compare_model"} name
 * @param {...unknown} args  strings, numbers, booleans, byte arrays and callbacks
 * @returns {Promise<any>}
 */
async function askApp(name, ...args) {
  // Where it is imported, it is called at once, and what is handed to it may be destroyed then.
  if (!app) await imported();
  const coroutine = call(name, ...args);
  try {
    return JSON.parse(await coroutine);
  } finally {
    // Python's objects live until told otherwise: the garbage collector takes its time.
    coroutine.destroy();
  }
}

const models = new Models({ ask: askApp, call, idle });

/**
 * Have Python compute on this device, or on NumPy where WebGPU can't be had.
 * @param {{device: Device, plain?: boolean}} args  plain: without the memory snapshot
 * @returns {Promise<Started>}
 */
async function start({ device, plain }) {
  starts += 1;
  // Python needs seconds to start; the GPU is opened meanwhile.
  const opening = device === "webgpu" ? openGpu() : Promise.resolve(withoutGpu());
  chosen = opening;
  python ??= startPython({ numpy: device === "numpy", plain });
  python.catch(() => {}); // awaited below, but the GPU may fail or take longer
  const { info, words } = await opening;
  const had = info ? "webgpu" : "numpy";
  const running = await python;
  if (had === "numpy") await running.loadNumpy();
  const started = await askApp("start", had);
  /** @type {Record<string, object>} */
  const again = {};
  for (const name of loaded) again[name] = await load(name);
  return { ...started, reason: device === had ? null : words, models: again };
}

/**
 * Time the kernels that could serve a model, one op after the other, while answers go on; then load
 * it again with those that won.
 * @param {string} model
 */
async function tune(model) {
  if (tuning) throw new Error("A model is being tuned already.");
  const since = starts;
  const mine = { stop: false, over: /** @type {Promise<any>} */ (Promise.resolve()) };
  const progress = (/** @type {number} */ done, /** @type {number} */ total) => {
    emit("tuning", { done, total });
    return !mine.stop;
  };
  tuning = mine;
  let told;
  try {
    mine.over = models.withFiles(model, (fetch) => askApp("tune", model, progress, fetch));
    told = await mine.over;
  } finally {
    tuning = null;
  }
  const stopped = mine.stop;
  const facts = await inTurn(async () => {
    if (!loaded.has(model) || !told.measured || since !== starts) return null;
    return load(model);
  });
  return { ...told, stopped, facts };
}

/**
 * Have a model give its last answer once more on both devices.
 * @param {string} model
 * @param {number} warm  runs after the first
 */
async function runOnBoth(model, warm) {
  const { info, words } = await openGpu();
  if (!info) throw new Said(words ?? "");
  await (await python)?.loadNumpy();
  const runOn = (/** @type {Device} */ device) =>
    models.withFiles(model, (fetch) => askApp("run_on", model, device, warm, fetch));
  const webgpu = await runOn("webgpu");
  const numpy = await runOn("numpy");
  const others = /** @type {number[]} */ (numpy.probabilities);
  const difference = others.reduce(
    (most, share, i) => Math.max(most, Math.abs(share - webgpu.probabilities[i])),
    0,
  );
  return { difference, classes: others.length, webgpu, numpy };
}

/** Have the tuning end, and wait until it has. What was measured so far is kept. */
async function stopTuning() {
  if (!tuning) return;
  tuning.stop = true;
  await tuning.over.catch(() => {}); // whoever asked for it is told
}

/**
 * Load a model on the device of now, in turn.
 * @param {string} name
 * @param {import("./models.js").Brought} [brought]  what was brought before it was this one's turn
 * @returns {Promise<object>}  what app.py says of it
 */
async function load(name, brought) {
  if (brought && brought.gpu !== (await chosen)) {
    models.drop(brought); // it was for the device before
    brought = undefined;
  }
  const facts = await models.load(name, brought ?? (await models.bring(name, chosen)));
  loaded.add(name);
  return facts;
}

/**
 * @param {string} model
 * @param {Float32Array | Uint8ClampedArray} pixels
 * @param {number} [watched]  a class of photographs
 * @param {boolean} [keep]  whether this is what is profiled and checked afterwards
 */
async function predict(model, pixels, watched = 0, keep = true) {
  const began = performance.now();
  const answer = await askApp("predict", model, pixels, watched, keep);
  return { ...answer, ms: performance.now() - began };
}

serve({
  /** @param {{device: Device}} args */
  boot: (args) => inTurn(() => start(args)),

  /** Switch to another device, with all the models that were loaded. @param {{device: Device}} args */
  device: (args) =>
    inTurn(async () => {
      await stopTuning(); // which measures on the device of now
      return start(args);
    }),

  /** @param {{model: string}} args */
  load: async ({ model }) => {
    const brought = await models.bring(model, chosen); // answers go on meanwhile
    return inTurn(() => load(model, brought));
  },

  /** @param {{pixels: Float32Array}} args  784 of 0..1, white ink on black */
  digit: ({ pixels }) => inTurn(() => predict(DIGIT_MODEL, pixels)),

  /**
   * RGBA, size * size.
   * @param {{model: string, pixels: Uint8ClampedArray, watched: number, keep: boolean}} args
   */
  classify: ({ model, pixels, watched, keep }) =>
    inTurn(async () => {
      const { top, ...rest } = await predict(model, pixels, watched, keep);
      const pairs = /** @type {[number, number][]} */ (top);
      return { top: pairs.map(([index, probability]) => ({ index, probability })), ...rest };
    }),

  /** The kernels of the last answer of a model, timed. @param {{model: string}} args */
  profile: ({ model }) => inTurn(() => askApp("profile", model)),

  /** The last answer of a model, on both devices. @param {{model: string, warm: number}} args */
  both: ({ model, warm }) => inTurn(() => runOnBoth(model, warm)),

  /** Events {event: "tuning", done, total} tell how far it is. @param {{model: string}} args */
  tune: ({ model }) => tune(model),

  stopTuning,

  ...openedActions({ inTurn, ask: askApp, app: imported, python: async () => started() }),
});
