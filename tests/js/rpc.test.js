// @ts-check
/** The client of a worker (web/engine/rpc.js), with fake workers. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { Rpc, RemoteError } from "../../web/engine/rpc.js";
import { describeError } from "../../web/worker/serve.js";
import { LocalizedError, words } from "../../web/i18n/messages.js";
import { turn } from "./support/steps.js";

/** The workers that were started. @type {FakeWorker[]} */
let workers;

class FakeWorker {
  /** The messages it received. @type {any[]} */
  asked = [];
  terminated = false;
  onmessage = (/** @type {any} */ _event) => {};
  onerror = (/** @type {any} */ _event) => {};
  onmessageerror = () => {};

  constructor() {
    workers.push(this);
  }

  /** @param {any} message */
  postMessage(message) {
    this.asked.push(message);
  }

  terminate() {
    this.terminated = true;
  }

  /** @param {any} data */
  say(data) {
    this.onmessage({ data });
  }
}

beforeEach(() => {
  workers = [];
  Object.assign(globalThis, { Worker: FakeWorker });
  mock.timers.enable({ apis: ["setInterval"] });
});

afterEach(() => mock.timers.reset());

/** A client and its worker. @param {number} [patience] */
function started(patience) {
  const rpc = new Rpc(new URL("https://tallow.test/worker.js"), patience);
  return { rpc, worker: workers[0] };
}

test("responses belong to calls by id, in any order", async () => {
  const { rpc, worker } = started();
  const [one, two] = [rpc.call("a", { x: 1 }), rpc.call("b")];
  assert.deepEqual(worker.asked, [
    { id: 1, action: "a", args: { x: 1 } },
    { id: 2, action: "b", args: {} },
  ]);
  worker.say({ id: 2, result: "second" });
  worker.say({ id: 1, error: { type: "OnnxError", words: "no such file" } });
  assert.equal(await two, "second");
  await assert.rejects(one, (error) => {
    assert.ok(error instanceof RemoteError);
    assert.deepEqual([error.type, error.message], ["OnnxError", "no such file"]);
    return true;
  });
});

test("events reach all listeners", () => {
  const { rpc, worker } = started();
  /** @type {any[]} */
  const events = [];
  rpc.on("stage", (data) => events.push(data.done));
  rpc.on("stage", (data) => events.push(-data.done));
  worker.say({ event: "stage", done: 3 });
  worker.say({ event: "other" });
  assert.deepEqual(events, [3, -3]);
});

test("reports reach their own call, in order", async () => {
  const { rpc, worker } = started();
  /** @type {any[]} */
  const [ones, twos] = [[], []];
  const one = rpc.call("a", {}, { onProgress: (done) => ones.push(done) });
  const two = rpc.call("b", {}, { onProgress: (done) => twos.push(done) });
  const silent = rpc.call("c");
  worker.say({ id: 1, progress: [1, 2] });
  worker.say({ id: 2, progress: ["x"] });
  worker.say({ id: 3, progress: ["nobody listens"] });
  worker.say({ id: 1, progress: [3] });
  for (const id of [3, 2, 1]) worker.say({ id, result: id });
  assert.deepEqual(await Promise.all([one, two, silent]), [1, 2, 3]);
  worker.say({ id: 1, progress: ["too late"] });
  assert.deepEqual([ones, twos], [[1, 2, 3], ["x"]]);
});

test("what is handed over is not copied", async () => {
  const { rpc } = started();
  const { buffer } = new Uint8Array(4);
  /** @type {any[]} */
  const sent = [];
  workers[0].postMessage = (...message) => sent.push(message);
  void rpc.call("a", { buffer }, { transfer: [buffer] });
  assert.deepEqual(sent, [[{ id: 1, action: "a", args: { buffer } }, [buffer]]]);
});

for (const response of [{ result: "late" }, { error: { type: "OnnxError", words: "no" } }]) {
  test(`an aborted call ends when its action has: ${Object.keys(response)}`, async () => {
    const { rpc, worker } = started();
    const stop = new AbortController();
    /** @type {number[]} */
    const reports = [];
    const onProgress = (/** @type {number} */ done) => {
      reports.push(done);
      if (done === 2) stop.abort();
    };
    const open = rpc.call("a", {}, { signal: stop.signal, onProgress });
    let over = false;
    open.catch(() => (over = true));
    worker.say({ id: 1, progress: [1, 2, 3] });
    assert.deepEqual(worker.asked.slice(1), [{ abort: 1 }]);
    worker.say({ id: 1, progress: [4] });
    stop.abort(); // a second time
    await turn();
    assert.equal(over, false);
    worker.say({ id: 1, ...response });
    await assert.rejects(open, { name: "AbortError" });
    assert.deepEqual(reports, [1, 2, 3, 4]);
    assert.equal(worker.asked.length, 2);
  });
}

test("a call that was aborted before it began sends nothing", async () => {
  const { rpc, worker } = started();
  const reason = new Error("not wanted");
  const signal = AbortSignal.abort(reason);
  await assert.rejects(rpc.call("a", {}, { signal }), reason);
  assert.deepEqual(worker.asked, []);
  mock.timers.tick(60_000); // no silence is counted
  assert.equal(worker.terminated, false);
});

test("an abort after the call has ended says nothing", async () => {
  const { rpc, worker } = started();
  const stop = new AbortController();
  const open = rpc.call("a", {}, { signal: stop.signal });
  worker.say({ id: 1, result: "in time" });
  assert.equal(await open, "in time");
  stop.abort();
  assert.equal(worker.asked.length, 1);
});

test("a worker that is replaced in the middle of a stream ends it with an error", async () => {
  const { rpc, worker } = started();
  const stop = new AbortController();
  /** @type {number[]} */
  const reports = [];
  const open = rpc.call("a", {}, { onProgress: (done) => reports.push(done) });
  const stopped = rpc.call("b", {}, { signal: stop.signal });
  worker.say({ id: 1, progress: [1] });
  stop.abort();
  rpc.close(words("startingAgain"));
  await assert.rejects(open, (error) => {
    assert.ok(error instanceof RemoteError);
    assert.deepEqual([error.type, error.words], ["WorkerClosed", words("startingAgain")]);
    return true;
  });
  await assert.rejects(stopped, { name: "AbortError" }); // its caller no longer waits for it
  assert.deepEqual(reports, [1]);
});

test("the failure of a worker rejects all open and later calls", async () => {
  const { rpc, worker } = started();
  /** @type {any} */
  let reason;
  rpc.on("close", (data) => (reason = data.reason));
  const open = rpc.call("a");
  worker.onerror({ message: "no memory" });
  await assert.rejects(open, /The worker failed: no memory\./);
  await assert.rejects(rpc.call("b"), /The worker failed: no memory\./);
  assert.equal(worker.terminated, true);
  assert.deepEqual(reason, words("workerFailed", "no memory"));
});

test("messages of programming errors are not shown", async () => {
  for (const [message, shown] of [
    ["Uncaught ReferenceError: oh is not defined", /The worker failed: an unexpected error/],
    ["Uncaught RangeError: no memory", /The worker failed: no memory\./],
  ]) {
    const { rpc, worker } = started();
    const open = rpc.call("a");
    (workers.at(-1) ?? worker).onerror({ message });
    await assert.rejects(open, { message: /** @type {any} */ (shown) });
  }
});

test("a missing module is named", async () => {
  const { rpc, worker } = started();
  const open = rpc.call("a");
  worker.onerror({});
  await assert.rejects(open, /\/worker\.js or a module that it imports could not be loaded/);
});

test("a worker that sends an unreadable message is closed", async () => {
  const { rpc, worker } = started();
  const open = rpc.call("a");
  worker.onmessageerror();
  await assert.rejects(open, /sent a message that the page can’t read/);
});

test("silence counts while calls are open, and every message ends it", async () => {
  const { rpc, worker } = started(3);
  mock.timers.tick(10_000); // no call is open
  const open = rpc.call("a");
  mock.timers.tick(2000);
  worker.say({ id: 1, progress: [{}] });
  mock.timers.tick(2000);
  assert.equal(worker.terminated, false);
  mock.timers.tick(1000);
  assert.equal(worker.terminated, true);
  await assert.rejects(open, /has not responded for 3 seconds/);
});

test("a worker that has never said anything has less time", async () => {
  const url = new URL("https://tallow.test/worker.js");
  /** @type {boolean[]} */
  const spoke = [];
  for (const speaks of [false, true]) {
    const rpc = new Rpc(url, 9, undefined, 3);
    rpc.on("close", (data) => spoke.push(data.spoke));
    const worker = /** @type {FakeWorker} */ (workers.at(-1));
    const open = rpc.call("a");
    mock.timers.tick(2000);
    if (speaks) worker.say({ event: "stage" });
    mock.timers.tick(3000);
    assert.equal(worker.terminated, !speaks);
    mock.timers.tick(6000);
    await assert.rejects(open, speaks ? /for 9 seconds/ : /for 3 seconds/);
  }
  assert.deepEqual(spoke, [false, true]);
});

test("silence does not count after the last response", async () => {
  const { rpc, worker } = started(3);
  const open = rpc.call("a");
  worker.say({ id: 1, result: 1 });
  await open;
  mock.timers.tick(60_000);
  assert.equal(worker.terminated, false);
});

test("messages and a failure from before the engine took over are delivered", async () => {
  const worker = /** @type {any} */ (new FakeWorker());
  const messages = /** @type {any[]} */ ([{ data: { event: "stage", name: "model" } }]);
  const failed = /** @type {any} */ ({ message: "early" });
  const rpc = new Rpc(new URL("https://tallow.test/"), Infinity, { worker, messages, failed });
  /** @type {any[]} */
  const events = [];
  rpc.on("stage", (stage) => events.push(stage.name));
  rpc.on("close", ({ reason }) => events.push(reason.entry));
  await turn();
  assert.deepEqual(events, ["model", "workerFailed"]);
  assert.equal(workers.length, 1);
});

test("errors are sent with their type and message", () => {
  assert.deepEqual(describeError(new RangeError("too long")), {
    type: "RangeError",
    words: "too long",
  });
  const fault = words("unexpected");
  assert.deepEqual(describeError(new TypeError("x is undefined")), {
    type: "TypeError",
    words: fault,
  });
  const nameless = { name: "PythonError", type: "AttributeError", message: "AttributeError: no x" };
  assert.deepEqual(describeError(nameless), { type: "AttributeError", words: fault });
  const missing = words("missing", "a.bin");
  assert.deepEqual(describeError(new LocalizedError(missing)).words, missing);
  const traceback = `Traceback (most recent call last):
  File "x.py", line 1
tallow.errors.OnnxError: first
During handling of the above exception, another occurred:
tallow.errors.OnnxError: the file is
cut short
`;
  const python = { name: "PythonError", type: "OnnxError", message: traceback };
  assert.deepEqual(describeError(python), { type: "OnnxError", words: "the file is\ncut short" });
  const bare = { name: "PythonError", type: "MemoryError", message: "Traceback\nMemoryError\n" };
  assert.deepEqual(describeError(bare), { type: "MemoryError", words: "MemoryError" });
});
