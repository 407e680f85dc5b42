// @ts-check
/**
 * The page's worker: the device, the models and Python, behind a table of actions.
 *
 * A model whose plan was saved on an earlier visit answers without Python, which then
 * starts when the worker is idle or something needs it. Without a saved plan, Python starts at
 * once, in parallel with the downloads. Changes of the device and of the models run one at a time,
 * and questions wait for changes of the device (start.js), so none sees a half-switched device.
 */

import { BEST, DEVICES, REFERENCE } from "../shared/devices.js";
import { modelFor } from "../site/catalogue.js";
import { LocalizedError, words } from "../i18n/messages.js";
import { App } from "./app.js";
import { openDevice, useMachine } from "./devices.js";
import { Answering } from "./models/answering.js";
import { Models } from "./models/models.js";
import { anySaved } from "./models/plans.js";
import { Tuning } from "./models/tuning.js";
import { ACTIONS, LATER } from "../runtime/workers.js";
import { Queue, Quiet } from "./queue.js";
import { expectCached } from "./runtime.js";
import { serve } from "./serve.js";
import { Start } from "./start.js";
import { useThreads } from "./wasm.js";

/**
 * @typedef {import("../shared/devices.js").Device} Device
 * @typedef {import("../shared/devices.js").Wanted} Wanted
 * @typedef {import("../shared/devices.js").Machine} Machine
 * @typedef {import("./devices.js").Opened} Opened
 * @typedef {import("./serve.js").Context} Context
 * @typedef {import("./models/models.js").FetchedModel} FetchedModel
 * @typedef {import("./models/models.js").Facts} Facts
 *
 * @typedef {object} Started
 * @property {Device} device         the device that computes
 * @property {string} adapter
 * @property {number | null} threads  of the device, if it tells
 * @property {boolean} named         whether the adapter reports its own name
 * @property {import("../i18n/messages.js").Words | null} reason  why it is not the requested device
 * @property {Device | null} refused  the device that is unavailable, if there is a reason
 * @property {Record<string, Facts>} models  that were loaded again
 */

const app = new App();

/** Changes of the device and of the models. */
const changes = new Queue();

const quiet = new Quiet(() => Promise.all([changes.ended(), app.ended()]));

const models = new Models({ app, idle: () => quiet.idle() });

/** @type {Start<Opened, FetchedModel>} */
const device = new Start(
  {
    open: openDevice,
    fetchModel: (name, opening) => models.fetchModel(name, opening),
    drop: (fetched) => models.drop(fetched),
    leave: () => answering.leave(),
    changes,
  },
  openDevice("numpy"),
);

const answering = new Answering({
  app,
  models,
  device: () => device.opening,
  idle: () => quiet.idle(),
});

const tuning = new Tuning({
  settled: () => device.settled(),
  deviceChanges: () => device.changeCount,
  tune: async (model, context) => {
    await app.inTurn(() => answering.inPython(model));
    // Out of turn: answers go on while an op is measured.
    return models.withFiles(model, (fetch) =>
      app.stream(
        context,
        "tune",
        () => [model, fetch],
        (job) => job(),
      ),
    );
  },
  reload: (model, wanted) =>
    changes.add(async () => (answering.has(model) && wanted() ? answering.load(model) : null)),
});

/**
 * Start what the page will probably request, judging by its address.
 * @param {import("../engine/first_worker.js").BeginArgs} args
 */
async function begin({ device: wanted, threads, kind, model, controlled }) {
  if (controlled) expectCached();
  useThreads(threads);
  device.begin(wanted, kind ? modelFor(kind, model) : null);
  app.use(wanted, device.opening);
  // Otherwise start Python only if this model has no saved plan (Models.fetchModel).
  const needed = wanted !== BEST && DEVICES[wanted].needsNumpy;
  if (needed || !kind || !(await anySaved())) app.start();
}

/**
 * Compute on an opened device.
 * @param {Wanted} wanted
 * @param {Opened} opened
 * @returns {Promise<Started>}
 */
async function compute(wanted, { device: actual, words, refused, runner }) {
  app.use(wanted, device.opening);
  const adapter = runner ? runner.info.name : await app.ready();
  const named = runner?.info.named ?? true;
  const threads = runner?.threads ?? null;
  const loaded = await answering.reload();
  return { device: actual, adapter, threads, named, reason: words, refused, models: loaded };
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
 * Repeat the last answer of a model on NumPy and on other devices.
 * @param {{model: string, warm: number, gpu: boolean}} args  warm: runs on each device after the
 *   first; without any, only the current device is compared, or WebAssembly if NumPy computes.
 *   gpu: whether a GPU that is not in use may be opened
 * @param {Context} context
 */
async function compare({ model: name, warm, gpu }, context) {
  const [model, devices] = await withPython(name, async (found) => [
    found,
    await app.prepareAll(gpu && warm > 0),
  ]);
  if (devices.length === 1) throw new LocalizedError(words("nothingToCompare"));
  const { asked } = model; // all devices get the same pixels, whatever is asked meanwhile
  const { device: current, machine } = await device.opening;
  const one = current === REFERENCE ? devices[0] : current;
  const nameOf = (/** @type {Device} */ on) => (machine && on === current ? machine.name : on);
  /** @type {Partial<Record<Device, import("../shared/contract.js").OneDevice>>} */
  const runs = {};
  for (const on of warm ? devices : new Set([one, REFERENCE])) {
    const result = await models.withFiles(name, (fetch) =>
      app.stream(context, "run_on", () => [name, nameOf(on), warm, asked, fetch]),
    );
    runs[on] = { ...result, first: result.first ?? model.first };
  }
  const expected = runs[REFERENCE]?.probabilities ?? [];
  const differences = Object.values(runs).flatMap(({ probabilities }) =>
    expected.map((share, i) => Math.abs(share - probabilities[i])),
  );
  const difference = differences.reduce((largest, each) => Math.max(largest, each), 0);
  return { difference, classes: expected.length, runs };
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

/** @type {import("./services.js").Services} */
const services = { app, models, settled: () => device.settled(), answer };

/**
 * A view's own actions, by "VIEW.NAME".
 * @param {string} view
 * @param {import("./services.js").ViewActions} actionsOf
 */
const ofView = (view, actionsOf) =>
  Object.fromEntries(
    Object.entries(actionsOf(services)).map(([name, action]) => [`${view}.${name}`, action]),
  );

/** Those of lazy views, once one was asked. @type {Map<string, Promise<void>>} */
const arriving = new Map();

/** Add an action's view to the table, if it is a lazy one. @param {string} action */
async function addView(action) {
  const [view] = action.split(".");
  const load = LATER[view];
  if (!load) return;
  if (!arriving.has(view)) {
    const add = (/** @type {Awaited<ReturnType<typeof load>>} */ side) =>
      void Object.assign(actions, ofView(view, side.default));
    arriving.set(view, load().then(add));
  }
  try {
    await arriving.get(view);
  } catch (error) {
    arriving.delete(view); // the next question tries again
    throw error;
  }
}

/** @type {Record<string, import("./serve.js").Action>} */
const actions = {
  begin,

  /**
   * threads: null for the usual number. plain: Python without the memory snapshot.
   * @param {{device: Wanted, machine: Machine | null, threads: number | null, plain: boolean}} args
   */
  boot: ({ device: wanted, machine, threads, plain }) => {
    app.plain = plain;
    useThreads(threads);
    useMachine(machine);
    if (device.state === "fresh") {
      app.use(wanted, device.opening);
      app.start(); // otherwise begin() decides when
    }
    return device.change(wanted, (opened) => compute(wanted, opened));
  },

  /**
   * Switch to another device, with all loaded models.
   * @param {{device: Wanted, machine: Machine | null}} args
   */
  device: ({ device: wanted, machine }) => {
    useMachine(machine);
    return device.change(
      wanted,
      (opened) => compute(wanted, opened),
      () => tuning.stop(), // because it measures on the old device
    );
  },

  /** Connect with a machine; the device in use goes on. @param {Machine} machine */
  connect: ({ name, token }) => app.inTurn(() => app.ask("connect", name, token)),

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

  /** Time the kernels of a model's last answer. @param {{model: string}} args */
  profile: ({ model: name }) =>
    withPython(name, async (model) => app.ask("profile", name, model.asked)),

  compare,

  /** @param {{model: string}} args @param {Context} context */
  tune: ({ model }, context) => tuning.run(model, context),

  ...Object.assign({}, ...Object.entries(ACTIONS).map((each) => ofView(...each))),
};

serve(actions, addView);
