// @ts-check
/** The worker's queue, idle time, loaded models and tuning (web/worker/). */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Answering } from "../../web/worker/models/answering.js";
import { best } from "../../web/worker/models/model.js";
import { Tuning } from "../../web/worker/models/tuning.js";
import { Queue, Quiet } from "../../web/worker/queue.js";
import { deferred, later, turn } from "./support/steps.js";

test("jobs of a queue run one after the other, even after a failure", async () => {
  const queue = new Queue();
  const [first, second] = [deferred(), deferred()];
  /** @type {string[]} */
  const done = [];
  const one = queue.add(() => (done.push("first"), first.promise));
  const two = queue.add(() => (done.push("second"), second.promise));
  await turn();
  assert.deepEqual(done, ["first"]);
  first.reject(new Error("no"));
  await assert.rejects(one, /no/);
  await turn();
  assert.deepEqual(done, ["first", "second"]);
  let ended = false;
  void queue.ended().then(() => (ended = true));
  await turn();
  assert.equal(ended, false);
  second.resolve("yes");
  assert.equal(await two, "yes");
  await turn();
  assert.equal(ended, true);
});

test("a worker is idle after a while without jobs and questions", async () => {
  const ended = [deferred(), deferred(), deferred()];
  const pauses = [deferred(), deferred(), deferred()];
  let rounds = 0;
  const quiet = new Quiet(
    () => ended[rounds].promise,
    () => pauses[rounds++].promise,
  );
  let idle = false;
  void quiet.idle().then(() => (idle = true));
  ended[0].resolve();
  await turn();
  quiet.asked(); // during the pause
  pauses[0].resolve();
  await turn();
  assert.equal(rounds, 1);
  quiet.asked(); // during a job
  ended[1].resolve();
  await turn();
  pauses[1].resolve();
  await turn();
  assert.equal(idle, false);
  ended[2].resolve();
  await turn();
  pauses[2].resolve();
  await turn();
  assert.equal(idle, true);
});

test("the best classes come first", () => {
  const found = best([0.1, 0.3, 0.05, 0.2, 0.15, 0.2]);
  assert.deepEqual(
    found.map(({ index }) => index),
    [1, 3, 5, 4, 0],
  );
});

// ---- models that answer -----------------------------------------------------------------------

/** The program of a saved plan, which answers without Python. @param {number} share */
const program = (share) => ({
  program: { run: async () => [new Float32Array([share, 1 - share]).buffer] },
  stats: { kernels: 3 },
  closed: false,
  close() {
    this.closed = true;
  },
});

/**
 * An Answering with a fake worker, and a list of what that did.
 * @param {{fetched?: (name: string) => any, load?: (name: string, fetched: any) => Promise<any>}}
 *   how
 */
function around({ fetched = () => ({}), load = async () => ({ seconds: 1 }) }) {
  /** @type {string[]} */
  const done = [];
  const device = { now: {} };
  const idle = deferred();
  const turns = new Queue();
  const app = {
    inTurn: (/** @type {() => Promise<any>} */ job) => turns.add(job),
    askBuffer: async () => new Float32Array([0.25, 0.75]).buffer,
  };
  const models = {
    fetchModel: async (/** @type {string} */ name) => {
      done.push(`fetchModel ${name}`);
      return { opened: device.now, saved: null, program: null, ...fetched(name) };
    },
    facts: (/** @type {string} */ name) => ({ name, seconds: 0.5, warnings: [] }),
    load: (/** @type {string} */ name, /** @type {any} */ one) => {
      done.push(`load ${name}`);
      return load(name, one);
    },
    drop: (/** @type {any} */ one) => {
      done.push("drop");
      one.program?.close();
      one.program = null;
    },
  };
  const worker = /** @type {any} */ ({
    app,
    models,
    device: async () => device.now,
    idle: () => idle.promise,
  });
  return { answering: new Answering(worker), done, device, idle };
}

const PIXELS = new Uint8ClampedArray(4);

test("a model without a plan is loaded by Python, which answers", async () => {
  const { answering, done } = around({});
  assert.throws(() => answering.get("mnist"), /mnist is not loaded/);
  assert.deepEqual(await answering.load("mnist"), { seconds: 1 });
  assert.deepEqual(done, ["fetchModel mnist", "load mnist"]);
  const model = answering.get("mnist");
  assert.throws(() => model.asked, /has no answer yet/);
  assert.deepEqual((await model.answer(PIXELS, false)).probabilities, [0.25, 0.75]);
  assert.throws(() => model.asked, /has no answer yet/);
  await model.answer(PIXELS, true);
  assert.deepEqual([...model.asked], [0, 0, 0, 0]);
});

test("a saved plan answers without Python, which loads it when the worker is idle", async () => {
  const saved = program(0.5);
  const { answering, done, idle } = around({ fetched: () => ({ program: saved, saved: {} }) });
  assert.equal((await answering.load("mnist")).seconds, 0.5);
  assert.deepEqual((await answering.get("mnist").answer(PIXELS, true)).probabilities, [0.5, 0.5]);
  await turn();
  assert.deepEqual(done, ["fetchModel mnist"]);
  idle.resolve();
  await turn();
  assert.deepEqual(done, ["fetchModel mnist", "load mnist"]);
  await answering.inPython("mnist"); // nothing is left to do
  assert.deepEqual(done, ["fetchModel mnist", "load mnist"]);
});

test("a saved plan that Python refuses is replaced while answers continue", async () => {
  const { answering, idle } = around({
    fetched: () => ({ program: program(0.5), saved: {} }),
    load: async (_, fetched) => {
      fetched.program = null; // as models.js does after loading the file
      return { seconds: 2 };
    },
  });
  await answering.load("mnist");
  const before = answering.get("mnist");
  idle.resolve();
  await turn();
  assert.notEqual(answering.get("mnist"), before);
  assert.deepEqual((await answering.get("mnist").answer(PIXELS, true)).probabilities, [0.25, 0.75]);
});

test("a failed start of Python matters only when Python is needed", async () => {
  let tries = 0;
  const { answering, idle } = around({
    fetched: () => ({ program: program(0.5), saved: {} }),
    load: async () => {
      tries += 1;
      throw new Error("no Python");
    },
  });
  await answering.load("mnist");
  idle.resolve();
  await turn();
  assert.equal(tries, 1);
  assert.deepEqual((await answering.get("mnist").answer(PIXELS, true)).probabilities, [0.5, 0.5]);
  await assert.rejects(answering.inPython("mnist"), /no Python/);
});

test("a change of the device loads all models again, and drops those fetched before", async () => {
  const { answering, done, device } = around({ fetched: () => ({ program: program(0.5) }) });
  const early = /** @type {any} */ ({ opened: device.now, program: program(0.5), saved: null });
  await answering.load("mnist", early);
  assert.deepEqual(done, []);
  const late = /** @type {any} */ ({ opened: device.now, program: program(0.5), saved: null });
  device.now = {};
  answering.leave();
  // Python may already use the next device, so it must not load a model of the previous one.
  await assert.rejects(answering.inPython("mnist"), /not loaded/);
  const facts = await answering.reload();
  assert.deepEqual(Object.keys(facts), ["mnist"]);
  assert.deepEqual(done, ["drop", "fetchModel mnist"]);
  await answering.load("squeezenet1_1", late); // fetched for the previous device
  assert.deepEqual(done.slice(2), ["drop", "fetchModel squeezenet1_1"]);
});

test("a model that could not be reloaded stops answering, and is loaded on request", async () => {
  let fails = false;
  const { answering } = around({
    load: async () => {
      if (fails) throw new Error("missing");
      return { seconds: 1 };
    },
  });
  await answering.load("mnist");
  fails = true;
  await assert.rejects(answering.load("mnist"), /missing/);
  assert.throws(() => answering.get("mnist"), /not loaded/);
  assert.equal(answering.has("mnist"), true);
  fails = false;
  await answering.reload();
  answering.get("mnist");
});

// ---- tuning -----------------------------------------------------------------------------------

/** A Tuning that the test controls. */
function tuned() {
  const over = deferred();
  const settled = deferred();
  const page = new AbortController();
  /** @type {any[]} */
  const reports = [];
  const state = { changes: 0, context: /** @type {any} */ (null), again: 0 };
  const tuning = new Tuning({
    settled: () => settled.promise,
    deviceChanges: () => state.changes,
    tune: (_, context) => {
      state.context = context;
      context.signal.addEventListener("abort", () => over.reject(context.signal.reason));
      return over.promise;
    },
    reload: async (_, wanted) => (wanted() ? { again: ++state.again } : null),
  });
  const context = {
    signal: page.signal,
    progress: (/** @type {any} */ soFar) => reports.push(soFar),
  };
  const run = () => /** @type {Promise<any>} */ (tuning.run("mnist", /** @type {any} */ (context)));
  return { tuning, run, over, settled, state, page, reports };
}

test("a tuned model is loaded again if anything was measured", async () => {
  for (const measured of [2, 0]) {
    const { run, over, settled } = tuned();
    const running = run();
    await assert.rejects(run(), /being tuned already/);
    settled.resolve();
    over.resolve({ measured });
    const facts = measured ? { again: 1 } : null;
    assert.deepEqual(await running, { measured, facts });
  }
});

test("a change of the device ends tuning with what was measured", async () => {
  const { tuning, run, settled, state, reports } = tuned();
  await tuning.stop(); // nothing runs
  const running = run();
  settled.resolve();
  await turn();
  state.context.progress({ measured: 1 });
  let stopped = false;
  void tuning.stop().then(() => (stopped = true));
  state.changes += 1;
  assert.deepEqual(await running, { measured: 1, facts: null });
  await turn();
  assert.deepEqual([stopped, reports], [true, [{ measured: 1 }]]);
  void later(run()); // another may begin
});

test("the page's abort ends tuning with its reason, and the model stays as it is", async () => {
  const { tuning, run, settled, state, page } = tuned();
  const running = later(run());
  settled.resolve();
  await turn();
  state.context.progress({ measured: 1 });
  page.abort();
  await assert.rejects(running, { name: "AbortError" });
  assert.equal(state.again, 0);
  await tuning.stop();
  void later(run()); // another may begin
});

test("nothing is loaded again if the device changed or tuning failed", async () => {
  const { run, over, settled, state } = tuned();
  const running = run();
  settled.resolve();
  await turn();
  state.changes += 1;
  over.resolve({ measured: 3 });
  assert.equal((await running).facts, null);

  const failing = tuned();
  const failed = later(failing.run());
  failing.settled.resolve();
  failing.over.reject(new Error("lost"));
  await assert.rejects(failed, /lost/);
  assert.equal(failing.state.again, 0);
  await failing.tuning.stop();
});
