// @ts-check
/** Saved plans (web/worker/models/plans.js): found, damaged, outgrown, evicted, refused. */

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { FakeCaches } from "./support/caches.js";

/** Events that the worker sent to the page. @type {any[]} */
let events = [];
let quota = 1e9;
/** @type {FakeCaches} */
let caches;

Object.assign(globalThis, { postMessage: (/** @type {any} */ event) => events.push(event) });
Object.defineProperty(globalThis, "navigator", {
  value: { storage: { estimate: async () => ({ quota }) } },
});

const SITE = new URL("../../web/", import.meta.url).href;
const CACHE = `tallow:plans:3:${SITE}`;

let loads = 0;
/**
 * A fresh copy of the module, as in a new worker.
 * @returns {Promise<typeof import("../../web/worker/models/plans.js")>}
 */
const load = () => import(`../../web/worker/models/plans.js?${loads++}`);

/** @type {Awaited<ReturnType<typeof load>>} */
let plans;

beforeEach(async () => {
  events = [];
  quota = 1e9;
  caches = new FakeCaches();
  Object.assign(globalThis, { caches, isSecureContext: true });
  plans = await load();
});

const WEIGHTS = [
  new Uint8Array(1000).fill(1),
  new Uint8Array(1 << 20).fill(2),
  new Uint8Array(70).fill(3),
];
const SIZES = WEIGHTS.map(({ length }) => length);
const TEXT = JSON.stringify({
  plan: { name: "a" },
  weights: SIZES.map((size, i) => [i, "f", [], size]),
});

/** @param {string} build @param {...unknown} about */
const keyOf = async (build, ...about) => {
  const key = await plans.keyOf(build, ...about);
  assert.ok(key);
  return key;
};

/** Save a plan. @param {import("../../web/worker/models/plans.js").Key} key */
const save = (key, sizes = SIZES, weights = WEIGHTS, text = TEXT) =>
  plans.save(key, text, sizes, (index) => weights[index]);

/**
 * All weights of a saved plan, in order.
 * @param {import("../../web/worker/models/plans.js").Key} key
 */
async function weightsOf(key) {
  const saved = await plans.find(key);
  assert.ok(saved);
  /** @type {Uint8Array[]} */
  const found = [];
  for (let index = 0; index < saved.weights.count; index++) {
    await saved.weights.ready(index);
    saved.weights.lend(index, (bytes) => found.push(bytes));
  }
  return found;
}

/** The bytes of the only entry. */
async function entry() {
  const cache = await caches.open(CACHE);
  const [found] = [...cache.entries].filter(([url]) => !url.includes("?"));
  return found[1];
}

test("a saved plan is found with its weights, only by its own key", async () => {
  const key = await keyOf("build", "mnist", { name: "card" });
  assert.equal(await plans.anySaved(), false);
  assert.equal(await plans.find(key), null);
  assert.equal(await save(key), true);
  assert.equal(await plans.anySaved(), true);
  const saved = await plans.find(key);
  assert.equal(saved?.text, TEXT);
  assert.deepEqual(saved?.record.plan, { name: "a" });
  assert.equal(saved?.bytes, TEXT.length + SIZES.reduce((sum, size) => sum + size));
  assert.deepEqual(await weightsOf(key), WEIGHTS);
  for (const about of [["mnist", { name: "other" }], ["mnist"], []]) {
    assert.equal(await plans.find(await keyOf("build", ...about)), null);
  }
  await plans.forget(key);
  assert.equal(await plans.find(key), null);
  assert.equal((await caches.open(CACHE)).entries.size, 0);
});

test("a weight that is elsewhere has no bytes", async () => {
  const key = await keyOf("build", 1);
  await save(
    key,
    [1000, 0, 70],
    [WEIGHTS[0], WEIGHTS[1], WEIGHTS[2]],
    JSON.stringify({
      weights: [1000, 0, 70].map((size) => [0, "", [], size]),
    }),
  );
  assert.deepEqual(
    (await weightsOf(key)).map(({ length }) => length),
    [1000, 0, 70],
  );
});

/** Ways to damage an entry. @type {Record<string, (bytes: Uint8Array) => Uint8Array>} */
const DAMAGE = {
  "a byte of the text": (bytes) => bytes.with(50, bytes[50] ^ 1),
  "a byte of a weight": (bytes) => bytes.with(bytes.length - 9, bytes[bytes.length - 9] ^ 1),
  "a length": (bytes) => bytes.with(0, 255),
  "cut short in a weight": (bytes) => bytes.slice(0, 40_000),
  "cut short in the text": (bytes) => bytes.slice(0, 60),
  empty: () => new Uint8Array(),
};

test("a weight that is freed meanwhile ends the stream, and nothing is saved", async () => {
  const key = await keyOf("build", 1);
  const gone = Object.assign(new Error("2"), { type: "KeyError" });
  const cache = await caches.open(CACHE);
  let streamed = 0;
  const put = cache.put.bind(cache);
  cache.put = async (url, response) => {
    const whole = await response.clone().arrayBuffer(); // rejects if the stream fails
    streamed = Math.max(streamed, whole.byteLength); // the note of its use is shorter
    await put(url, response);
  };
  await assert.rejects(
    plans.save(key, TEXT, SIZES, (index) => {
      if (index === 2) throw gone;
      return WEIGHTS[index];
    }),
    (error) => error === gone,
  );
  assert.ok(streamed > SIZES[0] + SIZES[1]);
  assert.equal(cache.entries.size, 0);
});

for (const [name, change] of Object.entries(DAMAGE)) {
  test(`damage is detected: ${name}`, async () => {
    const key = await keyOf("build", 1);
    await save(key);
    const found = await entry();
    found.body = change(found.body);
    await assert.rejects(weightsOf(key), { name: "DamagedError", message: /is damaged/ });
  });
}

test("a plan that is evicted while it is read fails with the browser's error", async () => {
  const key = await keyOf("build", 1);
  await save(key);
  const bytes = (await entry()).body;
  for (const before of [0, bytes.length >> 1]) {
    const cache = await caches.open(CACHE);
    const gone = new DOMException("gone", "NotFoundError");
    mock.method(cache, "match", async () => {
      const pieces = before ? [bytes.slice(0, before)] : [];
      const pull = (/** @type {ReadableStreamDefaultController} */ stream) =>
        pieces.length ? stream.enqueue(pieces.shift()) : stream.error(gone);
      return new Response(new ReadableStream({ pull }));
    });
    await assert.rejects(weightsOf(key), { name: "NotFoundError", message: "gone" });
    mock.restoreAll();
  }
});

test("plans of another build are not found, and deleted by the next save", async () => {
  const old = await keyOf("old", "mnist");
  await save(old);
  const key = await keyOf("new", "mnist");
  assert.equal(await plans.find(key), null);
  await save(key);
  assert.equal(await plans.find(old), null);
  assert.ok(await plans.find(key));
});

test("only this site's plans in older formats are deleted", async () => {
  const shared = await caches.open("tallow-plans-2");
  const [hash, other] = ["a".repeat(64), "b".repeat(64)];
  const own = `${SITE}plans/${hash}/${other}`;
  const foreign = `https://tallow.test/inner/plans/${hash}/${other}`;
  for (const url of [own, `${own}?used`, foreign]) await shared.put(url, new Response("old"));
  await caches.open(`tallow:plans:2:${SITE}`);
  await caches.open("tallow:plans:2:https://tallow.test/inner/");
  await caches.open("of another page");
  await save(await keyOf("build", 1));
  assert.deepEqual((await caches.keys()).sort(), [
    "of another page",
    "tallow-plans-2",
    "tallow:plans:2:https://tallow.test/inner/",
    CACHE,
  ]);
  assert.deepEqual(await shared.keys(), [{ url: foreign }]);
  await shared.delete(foreign);
  await save(await keyOf("build", 2));
  assert.equal(await caches.has("tallow-plans-2"), false);
});

test("the least recently used plan is deleted when there is no room", async () => {
  let now = 1000;
  mock.method(Date, "now", () => now++);
  quota = 4 * 3.5e6; // a quarter of it is ours: enough for three plans of a million bytes
  const keys = await Promise.all([1, 2, 3, 4].map((i) => keyOf("build", i)));
  for (const key of keys.slice(0, 3)) assert.equal(await save(key), true);
  await plans.find(keys[0]); // which uses it
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await save(keys[3]), true);
  const left = await Promise.all(keys.map(async (key) => (await plans.find(key)) !== null));
  assert.deepEqual(left, [true, false, true, true]);
  mock.restoreAll();
});

test("a plan larger than all the room is not saved, and nothing is deleted for it", async () => {
  quota = 4 * 1.2e6;
  const key = await keyOf("build", 1);
  assert.equal(await save(key), true);
  const sizes = [...SIZES, 1 << 20];
  assert.equal(await save(await keyOf("build", 2), sizes, [...WEIGHTS, WEIGHTS[1]]), false);
  assert.ok(await plans.find(key));
});

test("two tabs can save the same plan at once", async () => {
  const key = await keyOf("build", 1);
  await Promise.all([save(key), save(key)]);
  assert.deepEqual(await weightsOf(key), WEIGHTS);
  assert.equal((await caches.open(CACHE)).entries.size, 2); // the plan and the note of its use
});

test("if the browser refuses storage, saving fails with its reason and saves nothing", async () => {
  const refuse = async () => {
    throw new DOMException("no storage here", "QuotaExceededError");
  };
  const key = await keyOf("build", 1);
  const cache = await caches.open(CACHE);
  mock.method(cache, "put", refuse);
  await assert.rejects(save(key), /no storage here/);
  assert.equal(cache.entries.size, 0);
  mock.restoreAll();
  mock.method(caches, "open", refuse);
  await assert.rejects(save(key), /no storage here/);
  await assert.rejects(plans.find(key), /no storage here/);
  mock.restoreAll();
  mock.method(caches, "has", refuse);
  assert.equal(await plans.anySaved(), false);
  mock.restoreAll();
});

for (const [name, why, isSecureContext] of /** @type {const} */ ([
  ["stores nothing", "noStorage", true],
  ["stores nothing without https", "insecure", false],
])) {
  test(`a browser that ${name} is reported once`, async () => {
    Object.assign(globalThis, { caches: undefined, isSecureContext });
    assert.equal(await plans.keyOf("build", 1), null);
    assert.equal(plans.storable(), false);
    assert.equal(await plans.anySaved(), false);
    assert.equal(events.length, 1);
    const { event, name, state, why: words } = events[0];
    assert.deepEqual([event, name, state, words.entry], ["stage", "storage", "failed", why]);
  });
}

test("a device that is lost or out of memory is not the plan's fault", async () => {
  const { DeviceError, DeviceLostError, OutOfMemoryError } =
    await import("../../web/gpu/errors.js");
  assert.equal(plans.mayBePlansFault(new DeviceLostError("lost")), false);
  assert.equal(plans.mayBePlansFault(new OutOfMemoryError("too large")), false);
  assert.equal(plans.mayBePlansFault(new DeviceError("refused")), true);
  assert.equal(plans.mayBePlansFault(new TypeError("damaged")), true);
});
