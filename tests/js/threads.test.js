// @ts-check
/** Threads that share the steps of programs (web/wasm/), in workers of Node. */

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { Worker } from "node:worker_threads";

import { ASLEEP, callOf, cuts, WORK } from "../../web/wasm/claims.js";
import { WasmEngine, withSharedMemory } from "../../web/wasm/engine.js";
import { Pool } from "../../web/wasm/pool.js";
import { WasmProgram } from "../../web/wasm/program.js";

/** A section: its number, its length and its bytes. @param {number} id @param {number[]} content */
const section = (id, ...content) => [id, content.length, ...content];

/** The bytes of a name, after their number. @param {string} name */
const named = (name) => [name.length, ...new TextEncoder().encode(name)];

/** @param {number[]} code */
const body = (...code) => [code.length + 2, 0, ...code, 0x0b];

const LAST = [0x41, 0xff, 0x1f];
const UNIT = [0x20, 0, 0x20, 1, 0x41, 2, 0x74, 0x6a]; // the address of the word of this unit

/**
 * `count` adds 1 to the int32 of each unit, from an address on. `trap` stops at unit 4095, the last one. Both take
 * the address, the first unit, and the one behind the last.
 */
const MODULE = new Uint8Array([
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, 1, 0x60, 3, 0x7f, 0x7f, 0x7f, 0),
  ...section(2, 1, ...named("tallow"), ...named("memory"), 2, 1, 0, 0x80, 0x80, 4),
  ...section(3, 2, 0, 0),
  ...section(7, 2, ...named("count"), 0, 0, ...named("trap"), 0, 1),
  ...section(
    10,
    2,
    ...body(
      ...[0x03, 0x40, ...UNIT, ...UNIT, 0x28, 2, 0, 0x41, 1, 0x6a, 0x36, 2, 0],
      ...[0x20, 1, 0x41, 1, 0x6a, 0x22, 1, 0x20, 2, 0x49, 0x0d, 0, 0x0b],
    ),
    ...body(0x20, 2, ...LAST, 0x4b, 0x04, 0x40, 0, 0x0b),
  ),
]);

const SIZE = 4096;

/** @type {Worker[]} */
const workers = [];

/**
 * A pool whose workers run a file, and the words that they share.
 * @param {number} threads
 * @param {string} [file]
 * @param {number} [patience]
 */
function poolOf(threads, file = "./support/node_thread.js", patience = undefined) {
  /** @type {{words: Int32Array}} */
  const shared = { words: new Int32Array() };
  const pool = new Pool(threads, () => startThread(file, shared), patience);
  return { pool, ...shared };
}

/**
 * @param {string} file
 * @param {{words: Int32Array}} [shared]
 * @returns {import("../../web/wasm/pool.js").Thread}
 */
function startThread(file, shared) {
  const worker = new Worker(new URL(file, import.meta.url));
  workers.push(worker);
  return {
    postMessage: (mail) => {
      if (mail.start && shared) shared.words = mail.start.words;
      worker.postMessage(mail);
    },
    terminate: () => void worker.terminate(),
  };
}

/** @param {number} threads */
const engineOf = (threads) =>
  new WasmEngine(threads, () => startThread("./support/node_thread.js"));

afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.terminate())));

/**
 * A step of a program of its own. This thread computes one part, once `begun` parts have begun.
 * @param {ReturnType<typeof poolOf>} shared
 * @param {string} name
 * @param {number} [begun]  all of them unless given
 */
function stepOf({ pool, words }, name, begun) {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const module = new WebAssembly.Module(withSharedMemory(MODULE));
  const { exports } = new WebAssembly.Instance(module, { tallow: { memory } });
  const program = pool.enter(module, memory);
  const own = callOf(exports, { function: name }, [64], 0);
  const parts = cuts(SIZE, pool.threads);
  /** The parts that this thread computes, by their first unit. @type {number[]} */
  const mine = [];
  const job = {
    id: pool.add(program, { function: name, units: SIZE }, [64], { start: 0, size: 0 }),
    cuts: parts,
    call: (/** @type {number} */ first, /** @type {number} */ end) => {
      mine.push(first);
      while (pool.open && partOf(words) < (begun ?? parts.length - 1));
      own(first, end);
    },
  };
  const bytes = new Uint8Array(memory.buffer);
  return { job, mine, bytes, program, run: () => pool.run(job) };
}

/** How many parts of the present job have begun. @param {Int32Array} words */
const partOf = (words) => Atomics.load(words, WORK) & 1023;

/** How often the units were computed. @param {{bytes: Uint8Array}} of */
const countsOf = ({ bytes }) => new Set(new Int32Array(bytes.buffer, 64, SIZE));

for (const threads of [1, 2, 3, 64]) {
  test(`parts are all units, for ${threads} threads`, () => {
    for (const units of [1, 2, 3, 9, 10, 64, 523, 100_000, 2 ** 31 - 1]) {
      const found = cuts(units, threads);
      assert.equal(found[0], 0);
      assert.equal(found.at(-1), units);
      assert.ok(found.every((cut, index) => index === 0 || cut > found[index - 1]));
      assert.ok(found.length <= 1024, `${found.length} parts`);
    }
  });
}

for (const threads of [1, 2, 3]) {
  test(`each unit of a step is computed once by ${threads} threads`, () => {
    const instance = engineOf(threads).instance(MODULE, 1, true);
    assert.equal(instance.threads, threads);
    const step = instance.bound({ function: "count", units: SIZE }, [64], 0);
    for (let run = 1; run <= 2000; run++) {
      step();
      assert.deepEqual(countsOf(instance), new Set([run]));
    }
  });
}

test("workers compute what this thread leaves, awake or asleep", () => {
  const shared = poolOf(3);
  const steps = [stepOf(shared, "count"), stepOf(shared, "count")];
  for (let run = 1; run <= 50; run++) {
    for (const step of steps) {
      step.run();
      assert.ok(step.mine.length <= run);
      assert.deepEqual(countsOf(step), new Set([run]));
      while (run % 2 && Atomics.load(shared.words, ASLEEP) < 2);
    }
  }
});

test("a program that left is forgotten, and one that is new is known", () => {
  const shared = poolOf(2);
  const before = stepOf(shared, "count");
  before.run();
  shared.pool.leave(before.program);
  const after = stepOf(shared, "count");
  after.run();
  assert.deepEqual(countsOf(after), new Set([1]));
  assert.deepEqual(countsOf(before), new Set([1]));
});

test("what stops a worker stops the run, and the next one is as usual", () => {
  const shared = poolOf(2);
  const [trap, count] = [stepOf(shared, "trap"), stepOf(shared, "count")];
  for (let run = 1; run <= 5; run++) {
    assert.throws(trap.run, { name: "RuntimeError", message: "unreachable" });
    count.run();
    assert.deepEqual(countsOf(count), new Set([run]));
  }
});

test("a worker that ends within a step is an error; then this thread goes on alone", () => {
  const shared = poolOf(2, "./support/dying_thread.js", 100);
  const step = stepOf(shared, "count", 2);
  assert.throws(step.run, {
    name: "DeviceError",
    message: "a thread has not answered for 0.1 seconds and was ended",
  });
  assert.ok(!shared.pool.open);
  step.bytes.fill(0);
  step.run();
  assert.deepEqual(countsOf(step), new Set([1]));
});

test("another number of threads holds for what is loaded from then on", () => {
  const engine = engineOf(3);
  const before = engine.instance(MODULE, 1, true);
  engine.useThreads(2);
  const after = engine.instance(MODULE, 1, true);
  engine.useThreads(1);
  assert.deepEqual([before.threads, after.threads, engine.threads], [3, 2, 1]);
  for (const each of [before, after]) {
    each.bound({ function: "count", units: SIZE }, [64], 0)();
    assert.deepEqual(countsOf(each), new Set([1]));
    each.close();
  }
});

for (const threads of [1, 3]) {
  test(`programs share a memory, each its part, by ${threads} threads`, () => {
    const engine = engineOf(threads);
    const shared = engine.threads > 1;
    const memory = new WebAssembly.Memory({ initial: 2, maximum: 2, shared });
    const module = engine.module(MODULE, shared);
    const half = 65536;
    const parts = [0, half].map((start) => engine.placed(module, memory, start, shared));
    for (const run of [0, 1, 2]) {
      const at = run % 2;
      parts[at].bound({ function: "count", units: SIZE }, [at * half + 64], 0)();
      const words = [0, half].map((start) => new Int32Array(memory.buffer, start + 64, SIZE));
      const counts = words.map((each) => [...new Set(each)]);
      assert.deepEqual(counts, [[run === 2 ? 2 : 1], [run ? 1 : 0]]);
    }
    assert.deepEqual(parts[1].bytes.subarray(half + 64, half + 68), new Uint8Array([1, 0, 0, 0]));
    for (const part of parts) part.close();
  });
}

test("where threads can't share memory there is one", () => {
  const engine = new WasmEngine(2, null);
  assert.equal(engine.threads, 1);
  engine.useThreads(3);
  assert.equal(engine.threads, 1);
});

test("a plan has scratch memory for each thread, before its slots", async () => {
  const plan = {
    name: "plus",
    slots: [{ bytes: 4 * SIZE, kind: "output" }],
    inputs: [],
    outputs: [{ name: "y", slot: 0, bytes: 4 * SIZE }],
    modules: [Buffer.from(MODULE).toString("base64")],
    prepare: [],
    run: [{ name: "add", bindings: [0], kernel: { function: "count", units: SIZE, scratch: 65 } }],
    states: [],
    copies: [],
  };
  const weights = { ready: () => {}, lend: () => {} };
  const program = await WasmProgram.load(/** @type {any} */ (plan), weights, engineOf(2), "engine");
  assert.deepEqual(program.offsets, [2 * 128]);
  program.close();
});
