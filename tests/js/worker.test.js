// @ts-check
/** The worker's queue, when it is idle, which models answer, and tuning (web/worker/). */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Answering } from "../../web/worker/models/answering.js";
import { best } from "../../web/worker/models/model.js";
import { Tuning } from "../../web/worker/models/tuning.js";
import { Queue, Quiet } from "../../web/worker/queue.js";
import { deferred, turn } from "./steps.js";

test("jobs of a queue follow each other, also after one that failed", async () => {
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

test("a worker is idle when nothing is to be done and was not asked for a while", async () => {
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
  quiet.asked(); // while something is done
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

/** A program that was kept, which answers without Python. @param {number} share */
const program = (share) => ({
  program: { run: async () => [new Float32Array([share, 1 - share]).buffer] },
  stats: { kernels: 3 },
  closed: false,
  close() {
    this.closed = true;
  },
});

/**
 * The worker around Answering, and what it did.
 * @param {{brought?: (name: string) => any, load?: (name: string, brought: any) => Promise<any>}} how
 */
function around({ brought = () => ({}), load = async () => ({ seconds: 1 }) }) {
  /** @type {string[]} */
  const done = [];
  const gpu = { now: {} };
  const idle = deferred();
  const turns = new Queue();
  const app = {
    inTurn: (/** @type {() => Promise<any>} */ job) => turns.add(job),
    askBuffer: async () => new Float32Array([0.25, 0.75]).buffer,
  };
  const models = {
    bring: async (/** @type {string} */ name) => {
      done.push(`bring ${name}`);
      return { gpu: gpu.now, kept: null, program: null, ...brought(name) };
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
    gpu: async () => gpu.now,
    idle: () => idle.promise,
  });
  return { answering: new Answering(worker), done, gpu, idle };
}

const PIXELS = new Uint8ClampedArray(4);

test("a model without a plan is loaded by Python, which answers", async () => {
  const { answering, done } = around({});
  assert.throws(() => answering.get("mnist"), /mnist is not loaded/);
  assert.deepEqual(await answering.load("mnist"), { seconds: 1 });
  assert.deepEqual(done, ["bring mnist", "load mnist"]);
  const model = answering.get("mnist");
  assert.throws(() => model.asked, /has answered nothing yet/);
  assert.deepEqual((await model.answer(PIXELS, false)).probabilities, [0.25, 0.75]);
  assert.throws(() => model.asked, /has answered nothing yet/);
  await model.answer(PIXELS, true);
  assert.deepEqual([...model.asked], [0, 0, 0, 0]);
});

test("a plan that was kept answers before Python, which hears of it when there is time", async () => {
  const kept = program(0.5);
  const { answering, done, idle } = around({ brought: () => ({ program: kept, kept: {} }) });
  assert.equal((await answering.load("mnist")).seconds, 0.5);
  assert.deepEqual((await answering.get("mnist").answer(PIXELS, true)).probabilities, [0.5, 0.5]);
  await turn();
  assert.deepEqual(done, ["bring mnist"]);
  idle.resolve();
  await turn();
  assert.deepEqual(done, ["bring mnist", "load mnist"]);
  await answering.known("mnist"); // a second time there is nothing to do
  assert.deepEqual(done, ["bring mnist", "load mnist"]);
});

test("a plan that Python refuses is made anew behind the answers", async () => {
  const { answering, idle } = around({
    brought: () => ({ program: program(0.5), kept: {} }),
    load: async (_, brought) => {
      brought.program = null; // models.js has loaded the file
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

test("a Python that does not start is of no concern until it is needed", async () => {
  let tries = 0;
  const { answering, idle } = around({
    brought: () => ({ program: program(0.5), kept: {} }),
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
  await assert.rejects(answering.known("mnist"), /no Python/);
});

test("on another device all models are loaded again, and what was brought before is not", async () => {
  const { answering, done, gpu } = around({ brought: () => ({ program: program(0.5) }) });
  const early = /** @type {any} */ ({ gpu: gpu.now, program: program(0.5), kept: null });
  await answering.load("mnist", early);
  assert.deepEqual(done, []);
  const late = /** @type {any} */ ({ gpu: gpu.now, program: program(0.5), kept: null });
  gpu.now = {};
  answering.leave();
  // Python, which may know of the next device already, must not be told of a model on the last one.
  await assert.rejects(answering.known("mnist"), /not loaded/);
  const facts = await answering.again();
  assert.deepEqual(Object.keys(facts), ["mnist"]);
  assert.deepEqual(done, ["drop", "bring mnist"]);
  await answering.load("squeezenet1_1", late); // brought for the device before
  assert.deepEqual(done.slice(2), ["drop", "bring squeezenet1_1"]);
});

test("one that cannot be loaded again answers no more, and is loaded when it is asked for", async () => {
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
  await answering.again();
  answering.get("mnist");
});

// ---- tuning -----------------------------------------------------------------------------------

/** Tuning, of which the test says how it goes. */
function tuned() {
  const over = deferred();
  const settled = deferred();
  const state = { era: 0, progress: /** @type {any} */ (null), again: 0 };
  const tuning = new Tuning({
    settled: () => settled.promise,
    era: () => state.era,
    tune: (_, progress) => {
      state.progress = progress;
      return over.promise;
    },
    again: async (_, wanted) => (wanted() ? { again: ++state.again } : null),
    progress: () => {},
  });
  return { tuning, over, settled, state };
}

test("a model that was tuned is loaded again, if anything was measured", async () => {
  for (const measured of [2, 0]) {
    const { tuning, over, settled } = tuned();
    const run = tuning.run("mnist");
    await assert.rejects(tuning.run("mnist"), /being tuned already/);
    settled.resolve();
    over.resolve({ measured });
    const facts = measured ? { again: 1 } : null;
    assert.deepEqual(await run, { measured, stopped: false, facts });
  }
});

test("tuning ends when it is told to, after the op of now", async () => {
  const { tuning, over, settled, state } = tuned();
  await tuning.stop(); // there is none
  const run = tuning.run("mnist");
  settled.resolve();
  await turn();
  assert.equal(state.progress(1, 9), true);
  let stopped = false;
  void tuning.stop().then(() => (stopped = true));
  await turn();
  assert.equal(stopped, false);
  assert.equal(state.progress(2, 9), false);
  over.resolve({ measured: 1 });
  assert.deepEqual(await run, { measured: 1, stopped: true, facts: { again: 1 } });
  await turn();
  assert.equal(stopped, true);
});

test("where the device was changed meanwhile, or tuning failed, nothing is loaded again", async () => {
  const { tuning, over, settled, state } = tuned();
  const run = tuning.run("mnist");
  settled.resolve();
  await turn();
  state.era += 1;
  over.resolve({ measured: 3 });
  assert.equal((await run).facts, null);

  const failing = tuned();
  const failed = failing.tuning.run("mnist");
  failing.settled.resolve();
  failing.over.reject(new Error("lost"));
  await assert.rejects(failed, /lost/);
  assert.equal(failing.state.again, 0);
  await failing.tuning.stop();
});
