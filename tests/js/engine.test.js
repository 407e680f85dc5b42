// @ts-check
/** The page's client of its worker (web/engine/engine.js), with fake workers. */

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Engine, NotReady } from "../../web/engine/engine.js";
import { RemoteError } from "../../web/engine/rpc.js";
import { choose } from "../../web/i18n/languages.js";
import { say, words } from "../../web/i18n/messages.js";
import { FakeRpc } from "./support/fake_rpc.js";
import { deferred, later, turn } from "./support/steps.js";

/** @type {FakeRpc[]} */
let workers;
/** The listener's calls, in order. @type {string[]} */
let events;
/** The device that was reported last. @type {any} */
let actual;
/** Milliseconds. */
let now = 0;
/** The description of a model, which the test gives. */
let described = deferred();
/** @type {Engine} */
let engine;

/** @param {import("../../web/shared/devices.js").Device} device @param {object} [more] */
const started = (device, more = {}) => ({
  device,
  adapter: device,
  named: true,
  reason: null,
  models: {},
  ...more,
});

beforeEach(() => {
  choose("en");
  workers = [];
  events = [];
  now = 0;
  described = deferred();
  described.resolve({ preprocess: { size: 28, crop: 1 } });
  engine = new Engine(
    "webgpu",
    {
      status: ({ state, words }) => events.push(`${state}: ${say(words)}`),
      started: (device) => (actual = device),
      stage: () => {},
      compiled: () => {},
      again: (words, died) => events.push(`again${died ? ", died" : ""}: ${say(words)}`),
      failed: (words) => events.push(`failed: ${say(words)}`),
      warned: (warnings) => events.push(`warned: ${warnings.length}`),
    },
    {
      connect: () => {
        const worker = new FakeRpc();
        workers.push(worker);
        return /** @type {any} */ (worker);
      },
      describe: () => described.promise,
      now: () => now,
    },
  );
});

/** Gets the engine ready. Returns its worker. */
async function ready() {
  const preparing = engine.prepare(async () => "mnist");
  await turn();
  const [worker] = workers;
  await worker.answer("boot", started("webgpu"));
  await worker.answer("load", { kernels: 7 });
  await preparing;
  events.splice(0);
  return worker;
}

const SOME = new Float32Array(784);

test("the status shows progress, and finally the number of kernels", async () => {
  const preparing = engine.prepare(async () => "mnist");
  await turn();
  const [worker] = workers;
  assert.deepEqual(worker.calls[0].args, {
    device: "webgpu",
    machine: null,
    threads: null,
    plain: false,
  });
  worker.report("boot", { stage: "download", done: 1e6, total: 4e6 });
  await worker.answer("boot", started("webgpu"));
  worker.report("load", { stage: "kernels", done: 1, total: 7 });
  await worker.answer("load", { kernels: 7 });
  await preparing;
  assert.deepEqual(
    events.filter((each) => !each.includes("Preparing")),
    [
      "loading: Loading 1.0 of 4.0 MB",
      "loading: Compiling kernels, 1 of 7",
      "ready: Ready · 7 kernels compiled",
    ],
  );
  assert.equal(engine.device, "webgpu");
  assert.deepEqual(await engine.ready("mnist"), {
    name: "mnist",
    preprocess: { size: 28, crop: 1 },
  });
  assert.equal(worker.calls.filter(({ action }) => action === "load").length, 1);
});

/** Computes on another machine, with a model loaded. */
async function elsewhere() {
  const machine = { name: "remote:https://lab.example", token: "secret" };
  const worker = await ready();
  const connecting = engine.connect(machine);
  await turn();
  assert.deepEqual(worker.last("connect").args, machine);
  assert.equal(worker.calls.filter(({ action }) => action === "device").length, 0);
  await worker.answer("connect");
  await connecting;
  engine.switchTo("remote", machine);
  assert.deepEqual(worker.last("device").args.machine, machine);
  await worker.answer("device", started("remote", { models: { mnist: {} } }));
  assert.equal(engine.device, "remote");
  events.splice(0);
  return worker;
}

test("a machine that refuses changes nothing", async () => {
  const worker = await ready();
  const connecting = engine.connect({ name: "remote:https://lab.example", token: "wrong" });
  await turn();
  const refused = assert.rejects(connecting, /the token is wrong/);
  await worker.fail("connect", "DeviceUnavailableError", "the token is wrong");
  await refused;
  assert.equal(engine.device, "webgpu");
  assert.ok(!worker.calls.some(({ action }) => action === "device"));
});

test("a machine that is gone is left for WebAssembly, which answers", async () => {
  const worker = await elsewhere();
  const answer = engine.answer("draw.digit", { pixels: SOME });
  await turn();
  worker.raise("away", { words: "the server ends" });
  worker.raise("away", { words: "again" }); // another question failed, too
  await worker.fail("draw.digit", "DeviceLostError", "the server ends");
  assert.equal(worker.last("device").args.device, "wasm");
  assert.match(events.join(), /again: The other machine is gone: the server ends\./);
  await worker.answer("device", started("wasm"));
  assert.match(say(actual.away), /the server ends/);
  await worker.answer("draw.digit", { probabilities: [1], ms: 1 });
  assert.deepEqual((await answer).probabilities, [1]);
  engine.switchTo("numpy");
  await worker.answer("device", started("numpy"));
  assert.equal(actual.away, null);
});

test("a machine that can't be reached from a replaced worker is left, too", async () => {
  const worker = await elsewhere();
  worker.close("the worker failed");
  const preparing = engine.prepare(async () => null);
  await turn();
  const [, other] = workers;
  assert.equal(other.last("boot").args.machine.token, "secret");
  await other.fail("boot", "DeviceUnavailableError", "no connection");
  assert.equal(other.last("device").args.device, "wasm");
  await other.answer("device", started("wasm"));
  await preparing;
  assert.equal(engine.device, "wasm");
  assert.match(events.at(-1) ?? "", /^ready/);
});

test("a view without a model of the site waits only for the worker", async () => {
  const preparing = engine.prepare(async () => null);
  await turn();
  await workers[0].answer("boot", started("webgpu"));
  await preparing;
  assert.equal(events.at(-1), "ready: Ready");
});

test("only the later of two preparations sets the status", async () => {
  const name = deferred();
  const first = engine.prepare(() => name.promise);
  const second = engine.prepare(async () => null);
  await turn();
  await workers[0].answer("boot", started("webgpu"));
  await second;
  events.splice(0);
  name.reject(new Error("late"));
  await first;
  assert.deepEqual(events, []);
});

test("a model's failure is reported in the page's words, and retried on request", async () => {
  const preparing = engine.prepare(async () => "mnist");
  await turn();
  const [worker] = workers;
  await worker.answer("boot", started("webgpu"));
  await worker.fail("load", "OnnxError", "line 3");
  await preparing;
  assert.equal(events.at(-1), "error: The model mnist could not be loaded: line 3");
  await assert.rejects(engine.ready("mnist"), NotReady);
  assert.equal(worker.calls.filter(({ action }) => action === "load").length, 1);
  engine.retry();
  const again = engine.prepare(async () => "mnist");
  await turn();
  await worker.answer("load", { kernels: 7 });
  await again;
  assert.match(events.at(-1) ?? "", /^ready/);
});

for (const late of ["boot", "load", "describe"]) {
  test(`a failure is reported after all others have ended: ${late} ends last`, async () => {
    const ends = /** @type {Record<string, () => void>} */ ({
      boot: () => void workers[0].fail("boot", "Error", "no Python"),
      load: () => void workers[0].fail("load", "FetchError", words("missing", "a.onnx")),
      describe: () => described.reject(new Error("no list")),
    });
    described = deferred();
    const preparing = engine.prepare(async () => "mnist");
    await turn();
    for (const [name, end] of Object.entries(ends)) if (name !== late) end();
    await turn();
    assert.deepEqual(
      events.filter((each) => each.startsWith("error")),
      [],
    );
    ends[late]();
    await preparing;
    assert.match(events.at(-1) ?? "", /^error: /);
  });
}

test("after a failed start, retry() starts another worker", async () => {
  const preparing = engine.prepare(async () => null);
  await turn();
  await workers[0].fail("boot", "Error", "no memory");
  await preparing;
  assert.equal(events.at(-1), "error: The device could not be initialized: no memory");
  engine.retry();
  assert.equal(workers[0].closed, true);
  void engine.prepare(async () => null);
  await turn();
  assert.equal(workers.length, 2);
});

test("the last of quick switches counts", async () => {
  const worker = await ready();
  engine.switchTo("numpy");
  engine.switchTo("webgpu");
  const [one, two] = worker.calls.filter(({ action }) => action === "device");
  two.answer.resolve(started("webgpu", { adapter: "second" }));
  await turn();
  one.answer.resolve(started("numpy"));
  await turn();
  assert.equal(actual.adapter, "second");
  assert.equal(engine.device, "webgpu");
});

test("a lost device is replaced, and the question asked again", async () => {
  const worker = await ready();
  const asked = later(engine.answer("draw.digit", { pixels: SOME }));
  worker.raise("lost");
  assert.deepEqual(events, ["again: The GPU device was lost. Opening another…"]);
  assert.equal(worker.last("device").args.device, "webgpu");
  await worker.fail("draw.digit", "DeviceLostError", "lost");
  await worker.answer("device", started("webgpu"));
  await worker.answer("draw.digit", { probabilities: [1], ms: 2 });
  assert.deepEqual(await asked, { probabilities: [1], ms: 2 });
  assert.equal(actual.lost, false);
});

test("after two losses within a minute, WebAssembly computes until WebGPU is chosen", async () => {
  const worker = await ready();
  worker.raise("lost");
  now = 59_000;
  worker.raise("lost");
  assert.equal(
    events.at(-1),
    "again: The GPU device was lost twice within a minute. Continuing without it…",
  );
  assert.equal(worker.last("device").args.device, "wasm");
  await worker.answer("device", started("wasm"));
  assert.equal(actual.lost, true);
  await engine.prepare(async () => null);
  assert.match(events.at(-1) ?? "", /without the GPU, since its device was lost twice/);
  worker.raise("lost"); // of a device that is no longer used
  assert.equal(worker.calls.filter(({ action }) => action === "device").length, 2);
  engine.switchTo("webgpu");
  await worker.answer("device", started("webgpu"));
  now = 60_000;
  worker.raise("lost"); // the first since then
  assert.equal(worker.last("device").args.device, "webgpu");
});

test("after two losses a minute apart, another device is opened each time", async () => {
  const worker = await ready();
  worker.raise("lost");
  now = 60_000;
  worker.raise("lost");
  assert.equal(worker.last("device").args.device, "webgpu");
});

test("a question is asked at most three times while devices are lost", async () => {
  const worker = await ready();
  const asked = later(engine.answer("draw.digit", { pixels: SOME }));
  for (let i = 0; i < 3; i++) await worker.fail("draw.digit", "DeviceLostError", "lost again");
  await assert.rejects(asked, NotReady);
  assert.equal(worker.calls.filter(({ action }) => action === "draw.digit").length, 3);
});

test("an answer that fails on WebAssembly is left to NumPy, as are those after it", async () => {
  const worker = await ready();
  engine.switchTo("wasm");
  await worker.answer("device", started("wasm", { threads: 2 }));
  const [one, two] = [
    later(engine.answer("draw.digit", { pixels: SOME })),
    later(engine.answer("draw.digit", { pixels: SOME })),
  ];
  const asked = worker.calls.filter(({ action }) => action === "draw.digit");
  for (const { answer } of asked) answer.reject(new RemoteError("DeviceError", "mnist: stopped"));
  await turn();
  const changes = worker.calls.filter(({ action }) => action === "device");
  assert.deepEqual(
    changes.map(({ args }) => args.device),
    ["wasm", "numpy"],
  );
  assert.ok(
    events.includes("again: WebAssembly failed: mnist: stopped. Continuing with NumPy…"),
    String(events),
  );
  await worker.answer("device", started("numpy"));
  for (const { answer } of worker.calls.slice(-3)) answer.resolve({ probabilities: [1], ms: 2 });
  for (const each of [one, two]) assert.deepEqual(await each, { probabilities: [1], ms: 2 });
  assert.equal(engine.device, "numpy");
  const last = later(engine.answer("draw.digit", { pixels: SOME }));
  await worker.fail("draw.digit", "DeviceError", "NumPy stopped");
  await assert.rejects(last, { message: "NumPy stopped" });
});

test("an answer that fails on WebGPU without a loss stays a failure", async () => {
  const worker = await ready();
  const asked = later(engine.answer("draw.digit", { pixels: SOME }));
  await worker.fail("draw.digit", "DeviceError", "refused");
  await assert.rejects(asked, { message: "refused" });
});

test("a failed worker is replaced by one that starts Python without the snapshot", async () => {
  const worker = await ready();
  const asked = later(engine.answer("draw.digit", { pixels: SOME }));
  worker.close(words("workerFailed", "no memory"));
  await assert.rejects(asked, NotReady);
  const again = "again, died: The worker failed: no memory. Starting another…";
  assert.ok(events.includes(again), String(events));
  void engine.prepare(async () => "mnist");
  await turn();
  assert.equal(workers.length, 2);
  assert.deepEqual(workers[1].calls[0].args, {
    device: "webgpu",
    machine: null,
    threads: null,
    plain: true,
  });
});

test("one that has never spoken does not speak against the snapshot", async () => {
  void engine.prepare(async () => "mnist");
  await turn();
  workers[0].close(words("workerStuck", 30), false);
  void engine.prepare(async () => "mnist");
  await turn();
  assert.equal(workers.length, 2);
  assert.equal(workers[1].calls[0].args.plain, false);
});

test("after three failures without an answer, only retry() starts another worker", async () => {
  await ready();
  for (let i = 0; i < 3; i++) {
    workers[i].close("gone");
    if (i < 2) void engine.prepare(async () => "mnist");
    await turn();
  }
  assert.equal(workers.length, 3);
  assert.equal(
    events.findLast((each) => !each.startsWith("failed")),
    "error: gone",
  );
  await assert.rejects(engine.ready("mnist"), NotReady);
  engine.retry();
  void engine.prepare(async () => "mnist");
  await turn();
  assert.equal(workers.length, 4);
  assert.equal(workers[3].calls[0].args.plain, false);
});

for (const [python, count] of /** @type {const} */ ([
  [true, 4],
  [false, 3],
])) {
  const [how, does] = python ? ["with", "resets"] : ["without", "does not reset"];
  test(`an answer ${how} Python ${does} the count of crashes`, async () => {
    void engine.prepare(async () => null);
    await turn();
    for (let i = 0; i < 3; i++) {
      const worker = workers[i];
      if (python) worker.raise("python", { failed: false });
      await worker.answer("boot", started("webgpu"));
      const asked = engine.answer("draw.digit", { pixels: SOME });
      await worker.answer("draw.digit", { probabilities: [1], ms: 1 });
      await asked;
      worker.close("gone");
      void engine.prepare(async () => null);
      await turn();
    }
    assert.equal(workers.length, count);
  });
}

test("warnings and failures are reported to the page", async () => {
  const worker = await ready();
  void engine.ready("squeezenet1_1");
  await turn();
  await worker.answer("load", { kernels: 1, warnings: [{}, {}] });
  assert.ok(events.includes("warned: 2"));
  const profile = later(engine.profile("mnist"));
  await worker.fail("profile", "FetchError", words("missing", "a.onnx"));
  await assert.rejects(profile, /a\.onnx is missing/);
  assert.match(events.at(-1) ?? "", /^failed: a\.onnx is missing from the server/);
});

test("tuning reports progress and updates facts; after a failure the model is reloaded", async () => {
  const worker = await ready();
  const { signal } = new AbortController();
  /** @type {any[]} */
  const steps = [];
  const tuning = engine.tune("mnist", signal, (soFar) => steps.push(soFar));
  assert.equal(worker.last("tune").options.signal, signal);
  worker.report("tune", { stage: "download", done: 1e6, total: 4e6 });
  worker.report("tune", { stage: "tuning", ops: 4, measured: 1 });
  await worker.answer("tune", { facts: { kernels: 5 } });
  await tuning;
  assert.deepEqual(steps, [{ stage: "tuning", ops: 4, measured: 1 }]);
  await engine.prepare(async () => "mnist");
  assert.equal(events.at(-1), "ready: Ready · 5 kernels compiled");
  const failing = later(engine.tune("mnist", signal, () => {}));
  await worker.fail("tune", "OnnxError", "no");
  await assert.rejects(failing, /no/);
  void engine.ready("mnist");
  await turn();
  assert.equal(worker.calls.filter(({ action }) => action === "load").length, 2);
});

for (const measured of [0, 1]) {
  test(`a model is loaded again after a tuning that was stopped at op ${measured}`, async () => {
    const worker = await ready();
    const stop = new AbortController();
    const tuning = later(engine.tune("mnist", stop.signal, () => {}));
    worker.report("tune", { stage: "tuning", ops: 4, measured });
    stop.abort();
    worker.last("tune").answer.reject(stop.signal.reason);
    await assert.rejects(tuning, { name: "AbortError" });
    assert.deepEqual(events, []); // that is no failure
    void engine.ready("mnist");
    await turn();
    const loads = worker.calls.filter(({ action }) => action === "load").length;
    assert.equal(loads, 1 + measured);
  });
}

test("restart() ends a run with its worker", async () => {
  const worker = await ready();
  const run = later(engine.ask("open.runModel", {}));
  await turn();
  engine.restart(words("preparing"));
  await assert.rejects(run, NotReady);
  assert.equal(worker.closed, true);
  assert.ok(events.includes("again: Preparing…"), String(events));
  await assert.rejects(engine.answer("draw.digit", { pixels: SOME }), /Starting again/);
});
