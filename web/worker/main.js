// @ts-check
/**
 * The page's worker: the device, the models and Python, behind a table of actions.
 *
 * A model whose plan was kept by an earlier visit answers on WebGPU before Python is there; that starts
 * when nothing else is to be done, or when something needs it. Where nothing was kept it starts at once,
 * beside the downloads. Changes of the device and of the models wait for each other, and questions for
 * those of the device, so that none meets a half-switched one.
 */

import { DIGIT_MODEL, photoModel } from "../shared/catalogue.js";
import { App } from "./app.js";
import { openGpu, withoutGpu } from "./gpu.js";
import { Model, best } from "./models/model.js";
import { Models } from "./models/models.js";
import { openedActions } from "./models/opened.js";
import { any } from "./models/plans.js";
import { Queue } from "./queue.js";
import { expectKept } from "./runtime.js";
import { emit, serve } from "./serve.js";

/**
 * @typedef {"webgpu" | "numpy"} Device
 * @typedef {import("./gpu.js").Gpu} Gpu
 * @typedef {import("./models/models.js").Brought} Brought
 * @typedef {import("./models/models.js").Facts} Facts
 * @typedef {object} Started
 * @property {Device} device         the one that was had
 * @property {string} adapter        its name
 * @property {boolean} named         whether the adapter tells that itself
 * @property {import("../i18n/messages.js").Words | null} reason  why that is not the one asked for
 * @property {Record<string, Facts>} models  facts about those that were loaded again
 */

/** Milliseconds without a question after which the worker counts as idle. */
const QUIET_MS = 500;

const app = new App();

const models = new Models({ app, idle });

/** The models that answer. @type {Map<string, Model>} */
const answering = new Map();

/** Those that are loaded again on another device. @type {Set<string>} */
const loaded = new Set();

/** The device that was chosen last. @type {Promise<Gpu>} */
let chosen = Promise.resolve(withoutGpu());

/** How often that was done. */
let starts = 0;

/** What was begun before the page asked for it: the device. @type {Device | null} */
let begun = null;

/** And the model. @type {Promise<{name: string, bringing: Promise<Brought>} | null>} */
let early = Promise.resolve(null);

/** Changes of the device and of the models. */
const changes = new Queue();

/** The last one of the device. @type {Promise<unknown>} */
let switched = Promise.resolve();

/** How many questions were asked. */
let asked = 0;

/** What is being tuned, if anything. @type {{stop: boolean, over: Promise<any>} | null} */
let tuning = null;

/** Resolves when no change of the device is under way; who asked for one that failed is told. */
const settled = () => switched.catch(() => {});

/** Resolves when nothing is to be done, and was not for a while. */
async function idle() {
  /** @type {number} */
  let before;
  do {
    before = asked;
    await Promise.all([changes.ended(), app.ended()]);
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  } while (before !== asked);
}

/** @param {Device} device @returns {Promise<Gpu>}  without an adapter, NumPy */
const open = async (device) => (device === "webgpu" ? openGpu() : withoutGpu());

/**
 * Begin what the page will ask for, as far as its address tells that.
 * @param {import("../boot/begun.js").Beginning} args
 */
async function begin({ device, kind, model, controlled }) {
  if (controlled) expectKept();
  begun = device;
  chosen = open(device);
  app.use(navigator.gpu ? device : "numpy", chosen); // without which no adapter will be had
  if (kind) early = bringEarly(kind === "digit" ? Promise.resolve(DIGIT_MODEL) : photoModel(model));
  // Else what is kept of this model, if anything, decides.
  if (device === "numpy" || !kind || !(await any())) app.start();
}

/** @param {Promise<string>} finding  the name */
async function bringEarly(finding) {
  try {
    const name = await finding;
    const bringing = models.bring(name, chosen);
    bringing.catch(() => {}); // whoever asks for it hears of that
    return { name, bringing };
  } catch {
    return null; // the page needs the name, too, and will say why it can't be had
  }
}

/** @param {string} name @returns {Promise<Brought>} */
async function bring(name) {
  const first = early;
  early = Promise.resolve(null);
  const found = await first;
  if (found?.name === name) return found.bringing;
  found?.bringing.then(models.drop, () => {});
  return models.bring(name, chosen);
}

/**
 * Compute on this device from now on, or on NumPy where WebGPU can't be had.
 * @param {Device} device
 * @returns {Promise<Started>}
 */
async function start(device) {
  starts += 1;
  if (begun !== device) chosen = open(device);
  begun = null;
  const { info, words } = await chosen;
  const had = info ? "webgpu" : "numpy";
  app.use(had, chosen);
  for (const { brought } of answering.values()) models.drop(brought);
  answering.clear();
  const adapter = info ? info.name : await app.ready();
  /** @type {Record<string, Facts>} */
  const again = {};
  for (const name of loaded) again[name] = await load(name);
  const named = info?.named ?? true;
  return { device: had, adapter, named, reason: device === had ? null : words, models: again };
}

/**
 * Have a model answer on the device of now; a change.
 * @param {string} name
 * @param {Brought} [brought]  what was brought before it was this one's turn
 * @returns {Promise<Facts>}
 */
async function load(name, brought) {
  if (brought && brought.gpu !== (await chosen)) {
    models.drop(brought); // it was for the device before
    brought = undefined;
  }
  const mine = brought ?? (await models.bring(name, chosen));
  const before = answering.get(name);
  if (before) models.drop(before.brought);
  const facts = mine.program
    ? models.facts(name, mine)
    : await app
        .inTurn(() => models.load(name, mine))
        .catch((error) => {
          answering.delete(name); // what was there before is closed
          throw error;
        });
  answering.set(name, new Model(app, name, mine, facts.seconds));
  loaded.add(name);
  if (mine.program) void complete();
  return facts;
}

/** When there is time for it, have Python know of all models. */
async function complete() {
  await idle();
  for (const name of answering.keys()) {
    // A Python that does not start has said so, and is tried again when it is needed.
    await app.inTurn(() => known(name)).catch(() => {});
  }
}

/**
 * A model that Python knows of, too; in its turn.
 * @param {string} name
 */
async function known(name) {
  const model = modelOf(name);
  const { brought } = model;
  if (!brought.program || !brought.kept) return model;
  const facts = await models.load(name, brought);
  brought.kept = null;
  if (brought.program) return model;
  // Python has refused it, and has loaded its file.
  const other = new Model(app, name, brought, facts.seconds);
  if (answering.get(name) === model) answering.set(name, other);
  return other;
}

/** @param {string} name */
function modelOf(name) {
  const model = answering.get(name);
  if (!model) throw new Error(`The model ${name} is not loaded.`);
  return model;
}

/**
 * Do something with a model that Python knows of.
 * @template T
 * @param {string} name
 * @param {(model: Model) => Promise<T>} job
 * @returns {Promise<T>}
 */
async function withKnown(name, job) {
  await settled();
  return app.inTurn(async () => job(await known(name)));
}

/**
 * Time the kernels that could serve a model, one op after the other, while answers go on; then load
 * it again with those that won.
 * @param {string} model
 */
async function tune(model) {
  if (tuning) throw new Error("A model is being tuned already.");
  const mine = { stop: false, over: /** @type {Promise<any>} */ (Promise.resolve()) };
  const progress = (/** @type {number} */ done, /** @type {number} */ total) => {
    emit("tuning", { done, total });
    return !mine.stop;
  };
  tuning = mine;
  let told;
  let since = starts;
  try {
    await settled(); // a change of the device waits until the tuning is over
    since = starts;
    mine.over = app
      .inTurn(() => known(model))
      .then(() => models.withFiles(model, (fetch) => app.ask("tune", model, progress, fetch)));
    told = await mine.over;
  } finally {
    tuning = null;
  }
  const stopped = mine.stop;
  const facts = await changes.add(async () => {
    if (!loaded.has(model) || !told.measured || since !== starts) return null;
    return load(model);
  });
  return { ...told, stopped, facts };
}

/** Have the tuning end, and wait until it has. What was measured so far is kept. */
async function stopTuning() {
  if (!tuning) return;
  tuning.stop = true;
  await tuning.over.catch(() => {}); // whoever asked for it is told
}

/**
 * Have a model give its last answer once more on both devices.
 * @param {string} name
 * @param {number} warm  runs after the first
 */
function runOnBoth(name, warm) {
  return withKnown(name, async (model) => {
    await app.both();
    const run = async (/** @type {Device} */ device) => {
      const told = await models.withFiles(name, (fetch) =>
        app.ask("run_on", name, device, warm, model.asked, fetch),
      );
      return { ...told, first: told.first ?? model.first };
    };
    const webgpu = await run("webgpu");
    const numpy = await run("numpy");
    const others = /** @type {number[]} */ (numpy.probabilities);
    const difference = others.reduce(
      (most, share, i) => Math.max(most, Math.abs(share - webgpu.probabilities[i])),
      0,
    );
    return { difference, classes: others.length, webgpu, numpy };
  });
}

/**
 * @param {string} name
 * @param {Float32Array<ArrayBuffer> | Uint8ClampedArray<ArrayBuffer>} pixels
 * @param {boolean} keep  whether this is what is profiled and checked afterwards
 */
async function answer(name, pixels, keep) {
  asked += 1;
  await settled();
  return modelOf(name).answer(pixels, keep);
}

/**
 * @template T
 * @param {() => Promise<T>} job
 * @returns {Promise<T>}
 */
function change(job) {
  const mine = changes.add(job);
  switched = mine;
  return mine;
}

serve({
  begin,

  /** @param {{device: Device, plain: boolean}} args  plain: Python without the memory snapshot */
  boot: ({ device, plain }) => {
    app.plain = plain;
    if (!begun) {
      app.use(device, chosen);
      app.start(); // else begin() knows better when
    }
    return change(() => start(device));
  },

  /** Switch to another device, with all the models that were loaded. @param {{device: Device}} args */
  device: ({ device }) =>
    change(async () => {
      await stopTuning(); // which measures on the device of now
      return start(device);
    }),

  /** @param {{model: string}} args */
  load: async ({ model }) => {
    // Answers go on meanwhile. A device that is lost is replaced when it is the turn of that; what
    // is asked of it before would fail again and again.
    const brought = await bring(model).catch((error) => {
      if (error.name !== "DeviceLostError") throw error;
      return undefined;
    });
    return changes.add(() => load(model, brought));
  },

  /** @param {{pixels: Float32Array<ArrayBuffer>}} args  784 of 0..1, white ink on black */
  digit: ({ pixels }) => answer(DIGIT_MODEL, pixels, true),

  /**
   * RGBA, size * size. watched: a class whose probability is told, among the best or not.
   * @param {{model: string, pixels: Uint8ClampedArray<ArrayBuffer>, watched: number, keep: boolean}} args
   */
  classify: async ({ model, pixels, watched, keep }) => {
    const { probabilities, ms } = await answer(model, pixels, keep);
    return { top: best(probabilities), watched: probabilities[watched], ms };
  },

  /** The kernels of the last answer of a model, timed. @param {{model: string}} args */
  profile: ({ model: name }) =>
    withKnown(name, async (model) => app.ask("profile", name, model.asked)),

  /** The last answer of a model, on both devices. @param {{model: string, warm: number}} args */
  both: ({ model, warm }) => runOnBoth(model, warm),

  /** Events {event: "tuning", done, total} tell how far it is. @param {{model: string}} args */
  tune: ({ model }) => tune(model),

  stopTuning,

  ...openedActions({ app, models, settled }),
});
