// @ts-check
/** The worker's start and its changes of the device (web/worker/start.js): every transition. */

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Queue } from "../../web/worker/queue.js";
import { Start } from "../../web/worker/start.js";
import { deferred, turn } from "./support/steps.js";

/** The machine's work, in order. @type {string[]} */
let done;

/**
 * Opening devices by name, which the test resolves.
 * @type {Map<string, ReturnType<typeof deferred>>}
 */
let opened;

/**
 * Fetched models by name, which the test resolves.
 * @type {Map<string, ReturnType<typeof deferred>>}
 */
let fetched;

/** @type {Start<any, any>} */
let start;

beforeEach(() => {
  done = [];
  opened = new Map();
  fetched = new Map();
  const open = (/** @type {string} */ device) => {
    done.push(`open ${device}`);
    const opening = deferred();
    opened.set(device, opening);
    return opening.promise;
  };
  const fetchModel = async (/** @type {string} */ name, /** @type {Promise<any>} */ opening) => {
    done.push(`fetchModel ${name} for ${await opening}`);
    const fetching = deferred();
    fetched.set(name, fetching);
    return fetching.promise;
  };
  const drop = (/** @type {any} */ what) => done.push(`drop ${what}`);
  const leave = () => done.push("leave");
  start = new Start(
    { open, fetchModel, drop, leave, changes: new Queue() },
    Promise.resolve("none"),
  );
});

/** @param {string} device @param {any} [gpu] */
const arrive = (device, gpu = device) => opened.get(device)?.resolve(gpu);

const use = async (/** @type {any} */ gpu) => {
  done.push(`use ${gpu}`);
  return gpu;
};

test("at first there is no device; a change opens one and gets ready", async () => {
  assert.equal(start.state, "fresh");
  assert.equal(await start.opening, "none");
  const change = start.change("webgpu", use);
  assert.equal(start.state, "changing");
  await turn();
  arrive("webgpu");
  assert.equal(await change, "webgpu");
  await turn();
  assert.equal(start.state, "ready");
  assert.equal(start.changeCount, 1);
  assert.deepEqual(done, ["open webgpu", "leave", "use webgpu"]);
});

test("a change takes the device that begin() opened", async () => {
  start.begin("webgpu", null);
  assert.equal(start.state, "begun");
  const change = start.change("webgpu", use);
  arrive("webgpu");
  await change;
  assert.deepEqual(done, ["open webgpu", "leave", "use webgpu"]);
  const again = start.change("webgpu", use); // after a loss
  await turn();
  arrive("webgpu", "another");
  assert.equal(await again, "another");
  assert.deepEqual(done.slice(3), ["open webgpu", "leave", "use another"]);
});

test("a change opens another device than begin() did", async () => {
  start.begin("webgpu", null);
  const change = start.change("numpy", use);
  await turn();
  arrive("numpy");
  assert.equal(await change, "numpy");
  assert.deepEqual(done, ["open webgpu", "open numpy", "leave", "use numpy"]);
});

test("a failed change rejects, and the next one starts again", async () => {
  const failing = start.change("webgpu", () => Promise.reject(new Error("no memory")));
  await turn();
  arrive("webgpu");
  await assert.rejects(failing, /no memory/);
  await start.settled(); // does not reject
  await turn();
  assert.equal(start.state, "failed");
  const change = start.change("numpy", use);
  assert.equal(start.state, "changing");
  await turn();
  arrive("numpy");
  await change;
  await turn();
  assert.equal(start.state, "ready");
});

test("each change waits for the one before, and questions for the last", async () => {
  const changes = [start.change("numpy", use), start.change("webgpu", use)];
  let settled = false;
  void start.settled().then(() => (settled = true));
  await turn();
  arrive("numpy");
  await changes[0];
  await turn();
  assert.equal(start.state, "changing");
  assert.equal(settled, false);
  arrive("webgpu");
  await changes[1];
  await turn();
  assert.equal(start.state, "ready");
  assert.equal(settled, true);
  assert.deepEqual(done, [
    "open numpy",
    "leave",
    "use numpy",
    "open webgpu",
    "leave",
    "use webgpu",
  ]);
});

test("work on the old device ends before the new one is opened", async () => {
  const ended = deferred();
  const change = start.change("webgpu", use, () => ended.promise);
  await turn();
  assert.deepEqual(done, []);
  assert.equal(start.changeCount, 0);
  ended.resolve();
  await turn();
  arrive("webgpu");
  await change;
  assert.equal(start.changeCount, 1);
});

test("begin() fetches the first model in advance", async () => {
  start.begin("webgpu", Promise.resolve("mnist"));
  arrive("webgpu");
  await turn();
  assert.deepEqual(done, ["open webgpu", "fetchModel mnist for webgpu"]);
  const fetching = start.fetchModel("mnist");
  fetched.get("mnist")?.resolve("the model");
  assert.equal(await fetching, "the model");
  void start.fetchModel("mnist"); // fetches it again
  await turn();
  assert.deepEqual(done.slice(2), ["fetchModel mnist for webgpu"]);
});

test("the first model is dropped if another is requested", async () => {
  start.begin("webgpu", Promise.resolve("mnist"));
  arrive("webgpu");
  await turn();
  const fetching = start.fetchModel("squeezenet1_1");
  await turn();
  fetched.get("mnist")?.resolve("the digits");
  fetched.get("squeezenet1_1")?.resolve("the photographs");
  assert.equal(await fetching, "the photographs");
  await turn();
  assert.ok(done.includes("drop the digits"));
});

test("the failure of the first model rejects only for its caller", async () => {
  start.begin("webgpu", Promise.resolve("mnist"));
  arrive("webgpu");
  await turn();
  fetched.get("mnist")?.reject(new Error("missing"));
  await turn();
  await assert.rejects(start.fetchModel("mnist"), /missing/);
});

test("if the name is not found, the page asks for the model", async () => {
  start.begin("webgpu", Promise.reject(new Error("no list")));
  arrive("webgpu");
  const fetching = start.fetchModel("mnist");
  await turn();
  fetched.get("mnist")?.resolve("the model");
  assert.equal(await fetching, "the model");
});

test("begin() must come first, and only once", async () => {
  start.begin("webgpu", null);
  assert.throws(() => start.begin("webgpu", null), /is begun: it cannot become begun/);
  arrive("webgpu");
  await start.change("webgpu", use);
  await turn();
  assert.throws(() => start.begin("numpy", null), /is ready: it cannot become begun/);
});
