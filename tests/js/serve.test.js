// @ts-check
/** The worker's end of calls (web/worker/serve.js), with fake messages. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { announce, serve } from "../../web/worker/serve.js";
import { deferred, turn } from "./support/steps.js";

/** What the worker has sent. @type {any[]} */
let sent;

/** Sends the worker a message. @type {(data: any) => void} */
let ask = () => {};

/** The milliseconds of the worker's clock. */
let now = 0;

/** The open actions' contexts and ends, by name. @type {Record<string, any>} */
const running = {};

Object.assign(globalThis, {
  addEventListener: (/** @type {string} */ _, /** @type {any} */ listener) => {
    ask = (data) => void listener({ data });
  },
  postMessage: (/** @type {any} */ message) => sent.push(message),
});

const action = (/** @type {any} */ args, /** @type {any} */ context) => {
  const end = deferred();
  running[args.name] = { ...context, end };
  return end.promise;
};
serve({ wait: action });

beforeEach(() => {
  sent = [];
  now += 1000;
  mock.timers.enable({ apis: ["setTimeout"] });
  mock.method(performance, "now", () => now);
  mock.method(console, "error", () => {});
});

afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

let last = 0;

/** Begins an action. @returns {any}  its context, its end and its id */
function begun() {
  const id = ++last;
  ask({ id, action: "wait", args: { name: id } });
  return { ...running[id], id };
}

/** @param {any} call @param {any} [result] */
async function over(call, result) {
  call.end.resolve(result);
  await turn();
}

test("what was announced before the first call is told to that", async () => {
  announce({ stage: "download", done: 1 });
  announce({ stage: "download", done: 2 });
  announce({ stage: "kernels", done: 7 });
  ask({ action: "wait", args: { name: "nobody waits for it" } });
  announce({ stage: "kernels", done: 8 });
  assert.deepEqual(sent, []);
  const call = begun();
  now += 16;
  mock.timers.tick(16);
  assert.deepEqual(
    sent.flatMap(({ id, progress }) => [id, ...progress]),
    [call.id, { stage: "download", done: 2 }, call.id, { stage: "kernels", done: 8 }],
  );
  await over(call);
});

test("a response has the id of its request", async () => {
  const [one, two] = [begun(), begun()];
  await over(two, "b");
  await over(one, "a");
  assert.deepEqual(sent, [
    { id: two.id, result: "b" },
    { id: one.id, result: "a" },
  ]);
});

test("the first report is sent at once, those that follow within a frame together", async () => {
  const call = begun();
  const { id } = call;
  for (const done of [1, 2, 3]) call.progress({ done });
  assert.deepEqual(sent, [{ id, progress: [{ done: 1 }] }]);
  now += 16;
  mock.timers.tick(16);
  assert.deepEqual(sent[1], { id, progress: [{ done: 2 }, { done: 3 }] });
  now += 16;
  call.progress({ done: 4 });
  assert.deepEqual(sent[2], { id, progress: [{ done: 4 }] });
  await over(call);
});

test("a call without reports says every ten seconds that it goes on", async () => {
  const call = begun();
  const { id } = call;
  for (let second = 0; second < 25; second++) {
    call.progress(null);
    now += 1000;
  }
  assert.deepEqual(sent, Array(3).fill({ id, progress: [] }));
  call.progress({ done: 1 });
  assert.deepEqual(sent.at(-1), { id, progress: [{ done: 1 }] });
  call.progress(null);
  assert.equal(sent.length, 4);
  await over(call);
});

test("all reports come before the response, and a thousand are few messages", async () => {
  const call = begun();
  for (let done = 0; done < 1000; done++) {
    now += 1;
    mock.timers.tick(1);
    call.progress(done);
  }
  await over(call, "end");
  assert.deepEqual(sent.at(-1), { id: call.id, result: "end" });
  const reports = sent.slice(0, -1).flatMap(({ progress }) => progress);
  assert.deepEqual(reports, [...Array(1000).keys()]);
  assert.ok(sent.length < 70, `${sent.length} messages`);
  mock.timers.tick(1000);
  assert.equal(sent.at(-1).result, "end");
});

test("an abort reaches its action alone, and once", async () => {
  const [one, two] = [begun(), begun()];
  let aborts = 0;
  one.signal.addEventListener("abort", () => aborts++);
  ask({ abort: one.id });
  ask({ abort: one.id });
  assert.deepEqual([aborts, one.signal.aborted, two.signal.aborted], [1, true, false]);
  one.end.reject(one.signal.reason);
  await turn();
  assert.equal(sent[0].error.type, "AbortError");
  assert.equal(/** @type {any} */ (console.error).mock.callCount(), 0);
  await over(two);
});

test("an abort of what has ended, or never was, does nothing", async () => {
  const call = begun();
  await over(call, 1);
  ask({ abort: call.id });
  ask({ abort: 12345 });
  await turn();
  assert.equal(call.signal.aborted, false);
  assert.deepEqual(sent, [{ id: call.id, result: 1 }]);
});

test("a failure is logged and sent with its type", async () => {
  const call = begun();
  call.end.reject(new RangeError("too long"));
  await turn();
  assert.deepEqual(sent, [{ id: call.id, error: { type: "RangeError", words: "too long" } }]);
  assert.equal(/** @type {any} */ (console.error).mock.callCount(), 1);
});

test("what concerns all open calls is told to each", async () => {
  announce({ stage: "download", done: 1 }); // to nobody
  const [first, second] = [begun(), begun()];
  announce({ stage: "download", done: 2 });
  const progress = [{ stage: "download", done: 2 }];
  assert.deepEqual(sent, [
    { id: first.id, progress },
    { id: second.id, progress },
  ]);
  await over(first);
  await over(second);
});
