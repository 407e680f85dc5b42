// @ts-check
/** The worker's start and changes of device (web/worker/start.js): every transition. */

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Queue } from "../../web/worker/queue.js";
import { Start } from "../../web/worker/start.js";
import { deferred, turn } from "./steps.js";

/** What the machine did, in order. @type {string[]} */
let done;

/** Devices by name, which the test opens. @type {Map<string, ReturnType<typeof deferred>>} */
let opened;

/** Models by name, which the test brings. @type {Map<string, ReturnType<typeof deferred>>} */
let brought;

/** @type {Start<any, any>} */
let start;

beforeEach(() => {
  done = [];
  opened = new Map();
  brought = new Map();
  const open = (/** @type {string} */ device) => {
    done.push(`open ${device}`);
    const opening = deferred();
    opened.set(device, opening);
    return opening.promise;
  };
  const bring = async (/** @type {string} */ name, /** @type {Promise<any>} */ opening) => {
    done.push(`bring ${name} for ${await opening}`);
    const bringing = deferred();
    brought.set(name, bringing);
    return bringing.promise;
  };
  const drop = (/** @type {any} */ what) => done.push(`drop ${what}`);
  const leave = () => done.push("leave");
  start = new Start({ open, bring, drop, leave, changes: new Queue() }, "none");
});

/** @param {string} device @param {any} [gpu] */
const arrive = (device, gpu = device) => opened.get(device)?.resolve(gpu);

const use = async (/** @type {any} */ gpu) => {
  done.push(`use ${gpu}`);
  return gpu;
};

test("fresh, there is no device; a change opens one and is ready", async () => {
  assert.equal(start.state, "fresh");
  assert.equal(await start.gpu, "none");
  const change = start.change("webgpu", use);
  assert.equal(start.state, "changing");
  await turn();
  arrive("webgpu");
  assert.equal(await change, "webgpu");
  await turn();
  assert.equal(start.state, "ready");
  assert.equal(start.era, 1);
  assert.deepEqual(done, ["open webgpu", "leave", "use webgpu"]);
});

test("what was begun is not opened a second time", async () => {
  start.begin("webgpu", null);
  assert.equal(start.state, "begun");
  const change = start.change("webgpu", use);
  arrive("webgpu");
  await change;
  assert.deepEqual(done, ["open webgpu", "leave", "use webgpu"]);
  const again = start.change("webgpu", use); // a device that was lost
  await turn();
  arrive("webgpu", "another");
  assert.equal(await again, "another");
  assert.deepEqual(done.slice(3), ["open webgpu", "leave", "use another"]);
});

test("another device than the one that was begun is opened", async () => {
  start.begin("webgpu", null);
  const change = start.change("numpy", use);
  await turn();
  arrive("numpy");
  assert.equal(await change, "numpy");
  assert.deepEqual(done, ["open webgpu", "open numpy", "leave", "use numpy"]);
});

test("a change that fails is told, and the next one begins anew", async () => {
  const failing = start.change("webgpu", () => Promise.reject(new Error("no memory")));
  await turn();
  arrive("webgpu");
  await assert.rejects(failing, /no memory/);
  await start.settled(); // of which nobody else hears
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

test("of quick changes each waits for the one before, and questions for the last", async () => {
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

test("what needs the old device is ended before the new one is opened", async () => {
  const ended = deferred();
  const change = start.change("webgpu", use, () => ended.promise);
  await turn();
  assert.deepEqual(done, []);
  assert.equal(start.era, 0);
  ended.resolve();
  await turn();
  arrive("webgpu");
  await change;
  assert.equal(start.era, 1);
});

test("the first model is fetched before it is asked for", async () => {
  start.begin("webgpu", Promise.resolve("mnist"));
  arrive("webgpu");
  await turn();
  assert.deepEqual(done, ["open webgpu", "bring mnist for webgpu"]);
  const bringing = start.bring("mnist");
  brought.get("mnist")?.resolve("the model");
  assert.equal(await bringing, "the model");
  void start.bring("mnist"); // a second time it is fetched
  await turn();
  assert.deepEqual(done.slice(2), ["bring mnist for webgpu"]);
});

test("where another one is asked for, the first is dropped", async () => {
  start.begin("webgpu", Promise.resolve("mnist"));
  arrive("webgpu");
  await turn();
  const bringing = start.bring("squeezenet1_1");
  await turn();
  brought.get("mnist")?.resolve("the digits");
  brought.get("squeezenet1_1")?.resolve("the photographs");
  assert.equal(await bringing, "the photographs");
  await turn();
  assert.ok(done.includes("drop the digits"));
});

test("a first model that fails is told to who asks for it, and to nobody else", async () => {
  start.begin("webgpu", Promise.resolve("mnist"));
  arrive("webgpu");
  await turn();
  brought.get("mnist")?.reject(new Error("missing"));
  await turn();
  await assert.rejects(start.bring("mnist"), /missing/);
});

test("a name that is not found leaves the page to ask", async () => {
  start.begin("webgpu", Promise.reject(new Error("no list")));
  arrive("webgpu");
  const bringing = start.bring("mnist");
  await turn();
  brought.get("mnist")?.resolve("the model");
  assert.equal(await bringing, "the model");
});

test("begin comes first, and once", async () => {
  start.begin("webgpu", null);
  assert.throws(() => start.begin("webgpu", null), /is begun: it cannot become begun/);
  arrive("webgpu");
  await start.change("webgpu", use);
  await turn();
  assert.throws(() => start.begin("numpy", null), /is ready: it cannot become begun/);
});
