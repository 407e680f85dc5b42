// @ts-check
/**
 * The page's worker: the device, the models and Python, behind a table of actions.
 *
 * A model whose plan was saved on an earlier visit answers on WebGPU without Python, which then
 * starts when the worker is idle or something needs it. Without a saved plan, Python starts at
 * once, in parallel with the downloads. Changes of the device and of the models run one at a time,
 * and questions wait for changes of the device (start.js), so none sees a half-switched device.
 */

import { DEVICES, FALLBACK } from "../shared/devices.js";
import { DIGIT_MODEL, photoModel } from "../shared/catalogue.js";
import { App } from "./app.js";
import { openGpu, withoutGpu } from "./gpu.js";
import { Answering } from "./models/answering.js";
import { best } from "./models/model.js";
import { Models } from "./models/models.js";
import { userModelActions } from "./models/user_model.js";
import { anySaved } from "./models/plans.js";
import { Tuning } from "./models/tuning.js";
import { Queue, Quiet } from "./queue.js";
import { expectCached } from "./runtime.js";
import { emit, serve } from "./serve.js";
import { Start } from "./start.js";

/**
 * @typedef {import("./start.js").Device} Device
 * @typedef {import("./gpu.js").Gpu} Gpu
 * @typedef {import("./models/models.js").FetchedModel} FetchedModel
 * @typedef {import("./models/models.js").Facts} Facts
 *
 * @typedef {object} Started
 * @property {Device} device         the device that computes
 * @property {string} adapter
 * @property {boolean} named         whether the adapter reports its own name
 * @property {import("../i18n/messages.js").Words | null} reason  why it is not the requested device
 * @property {Record<string, Facts>} models  that were loaded again
 */

const app = new App();

/** Changes of the device and of the models. */
const changes = new Queue();

const quiet = new Quiet(() => Promise.all([changes.ended(), app.ended()]));

const models = new Models({ app, idle: () => quiet.idle() });

/** @type {Start<Gpu, FetchedModel>} */
const device = new Start(
  {
    // Without an adapter, the fallback computes.
    open: async (wanted) => (DEVICES[wanted].onGpu ? openGpu() : withoutGpu()),
    fetchModel: (name, opening) => models.fetchModel(name, opening),
    drop: (fetched) => models.drop(fetched),
    leave: () => answering.leave(),
    changes,
  },
  withoutGpu(),
);

const answering = new Answering({ app, models, gpu: () => device.gpu, idle: () => quiet.idle() });

const tuning = new Tuning({
  settled: () => device.settled(),
  deviceChanges: () => device.changeCount,
  tune: async (model, progress) => {
    await app.inTurn(() => answering.inPython(model));
    return models.withFiles(model, (fetch) => app.ask("tune", model, progress, fetch));
  },
  reload: (model, wanted) =>
    changes.add(async () => (answering.has(model) && wanted() ? answering.load(model) : null)),
  progress: (done, total) => emit("tuning", { done, total }),
});

/**
 * Start what the page will probably request, judging by its address.
 * @param {import("../boot/first_worker.js").BeginArgs} args
 */
async function begin({ device: wanted, kind, model, controlled }) {
  if (controlled) expectCached();
  const nameOf = kind === "digit" ? async () => DIGIT_MODEL : () => photoModel(model);
  device.begin(wanted, kind ? nameOf() : null);
  const possible = navigator.gpu || !DEVICES[wanted].onGpu; // without navigator.gpu: no adapter
  app.use(possible ? wanted : FALLBACK, device.gpu);
  // Otherwise start Python only if this model has no saved plan (Models.fetchModel).
  if (!DEVICES[wanted].onGpu || !kind || !(await anySaved())) app.start();
}

/**
 * Compute on this device, or on the fallback if there is no adapter for it.
 * @param {Device} wanted
 * @param {Gpu} gpu
 * @returns {Promise<Started>}
 */
async function compute(wanted, { info, words }) {
  const actual = info || !DEVICES[wanted].onGpu ? wanted : FALLBACK;
  app.use(actual, device.gpu);
  const adapter = info ? info.name : await app.ready();
  const named = info?.named ?? true;
  const reason = wanted === actual ? null : words;
  return { device: actual, adapter, named, reason, models: await answering.reload() };
}

/**
 * Run a job on a model, once Python knows it.
 * @template T
 * @param {string} name
 * @param {(model: import("./models/model.js").Model) => Promise<T>} job
 * @returns {Promise<T>}
 */
async function withPython(name, job) {
  await device.settled();
  return app.inTurn(async () => job(await answering.inPython(name)));
}

/**
 * Repeat the last answer of a model on both devices.
 * @param {string} name
 * @param {number} warm  runs on each device after the first
 */
function runOnBoth(name, warm) {
  return withPython(name, async (model) => {
    await app.prepareBoth();
    const run = async (/** @type {Device} */ on) => {
      const result = await models.withFiles(name, (fetch) =>
        app.ask("run_on", name, on, warm, model.asked, fetch),
      );
      return { ...result, first: result.first ?? model.first };
    };
    const webgpu = await run("webgpu");
    const numpy = await run("numpy");
    const expected = /** @type {number[]} */ (numpy.probabilities);
    const difference = expected.reduce(
      (largest, share, i) => Math.max(largest, Math.abs(share - webgpu.probabilities[i])),
      0,
    );
    return { difference, classes: expected.length, webgpu, numpy };
  });
}

/**
 * @param {string} name
 * @param {Float32Array<ArrayBuffer> | Uint8ClampedArray<ArrayBuffer>} pixels
 * @param {boolean} keep  whether profiles and checks will use these pixels
 */
async function answer(name, pixels, keep) {
  quiet.asked();
  await device.settled();
  return answering.get(name).answer(pixels, keep);
}

serve({
  begin,

  /** @param {{device: Device, plain: boolean}} args  plain: Python without the memory snapshot */
  boot: ({ device: wanted, plain }) => {
    app.plain = plain;
    if (device.state === "fresh") {
      app.use(wanted, device.gpu);
      app.start(); // otherwise begin() decides when
    }
    return device.change(wanted, (gpu) => compute(wanted, gpu));
  },

  /** Switch to another device, with all loaded models. @param {{device: Device}} args */
  device: ({ device: wanted }) =>
    device.change(
      wanted,
      (gpu) => compute(wanted, gpu),
      () => tuning.stop(), // because it measures on the old device
    ),

  /** @param {{model: string}} args */
  load: async ({ model }) => {
    // Answers continue meanwhile. If the device is lost here, load it in turn: after the
    // replacement.
    const fetched = await device.fetchModel(model).catch((error) => {
      if (error.name !== "DeviceLostError") throw error;
      return undefined;
    });
    return changes.add(() => answering.load(model, fetched));
  },

  /** @param {{pixels: Float32Array<ArrayBuffer>}} args  784 of 0..1, white ink on black */
  digit: ({ pixels }) => answer(DIGIT_MODEL, pixels, true),

  /**
   * pixels: RGBA, size * size. watched: a class whose probability is always returned.
   * @param {{model: string, pixels: Uint8ClampedArray<ArrayBuffer>, watched: number, keep: boolean}} args
   */
  classify: async ({ model, pixels, watched, keep }) => {
    const { probabilities, ms } = await answer(model, pixels, keep);
    return { top: best(probabilities), watched: probabilities[watched], ms };
  },

  /** Time the kernels of a model's last answer. @param {{model: string}} args */
  profile: ({ model: name }) =>
    withPython(name, async (model) => app.ask("profile", name, model.asked)),

  /** @param {{model: string, warm: number}} args */
  runOnBoth: ({ model, warm }) => runOnBoth(model, warm),

  /** Reports progress as events {event: "tuning", done, total}. @param {{model: string}} args */
  tune: ({ model }) => tuning.run(model),

  stopTuning: () => tuning.stop(),

  ...userModelActions({ app, models, settled: () => device.settled() }),
});
