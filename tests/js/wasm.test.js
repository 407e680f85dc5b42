// @ts-check
/** Plans of WebAssembly that run without Python (web/wasm/), and the choice of a device. */

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { WasmEngine } from "../../web/wasm/engine.js";
import { runsWithoutPython, WasmProgram } from "../../web/wasm/program.js";
import { openDevice } from "../../web/worker/devices.js";

/** A section: its number, its length and its bytes. @param {number} id @param {number[]} content */
const section = (id, ...content) => [id, content.length, ...content];

/** The bytes of a name, after their number. @param {string} name */
const named = (name) => [name.length, ...new TextEncoder().encode(name)];

/** `k1` stores at its second address the int32 at the first one plus 1; `k2` traps. */
const MODULE = new Uint8Array([
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, 1, 0x60, 2, 0x7f, 0x7f, 0),
  ...section(2, 1, ...named("tallow"), ...named("memory"), 2, 0, 0),
  ...section(3, 2, 0, 0),
  ...section(7, 2, ...named("k1"), 0, 0, ...named("k2"), 0, 1),
  ...section(
    10,
    2,
    ...[14, 0, 0x20, 1, 0x20, 0, 0x28, 2, 0, 0x41, 1, 0x6a, 0x36, 2, 0, 0x0b].with(0, 15),
    ...[3, 0, 0x00, 0x0b],
  ),
]);

/**
 * A plan of two int32 slots, and a weight that `prepare` increases into a third.
 * @param {string} last  the function of its last step
 * @returns {any}
 */
const plan = (last = "k1") => ({
  name: "plus",
  slots: [
    { bytes: 4, kind: "input" },
    { bytes: 4, kind: "output" },
    { bytes: 4, kind: "weight" },
    { bytes: 4, kind: "prepared" },
  ],
  inputs: [{ name: "x", slot: 0, bytes: 4 }],
  outputs: [
    { name: "y", slot: 1, bytes: 4 },
    { name: "w", slot: 3, bytes: 4 },
  ],
  modules: [Buffer.from(MODULE).toString("base64")],
  prepare: [{ name: "add", bindings: [2, 3], kernel: { function: "k1" } }],
  run: [{ name: "add", bindings: [0, 1], kernel: { function: last } }],
  states: [],
  copies: [],
});

const int32 = (/** @type {number} */ value) => new Uint8Array(new Int32Array([value]).buffer);

const WEIGHTS = {
  ready: () => {},
  lend: (/** @type {number} */ index, /** @type {(bytes: Uint8Array) => void} */ use) =>
    use(int32(40 + index)),
};

const ENGINE = new WasmEngine(1, null);

const load = (/** @type {any} */ which) => WasmProgram.load(which, WEIGHTS, ENGINE, "engine");

test("a plan is prepared once and run many times", async () => {
  assert.ok(runsWithoutPython(plan()));
  const program = await load(plan());
  for (const value of [7, -3]) {
    const [y, w] = await program.run([int32(value)]);
    assert.deepEqual([...new Int32Array(y)], [value + 1]);
    assert.deepEqual([...new Int32Array(w)], [41]);
  }
  const { kernels, dispatches, runs, adapter } = program.stats;
  assert.deepEqual(
    { kernels, dispatches, runs, adapter },
    {
      kernels: 2,
      dispatches: 1,
      runs: 2,
      adapter: "engine",
    },
  );
});

test("a step without a function needs Python", () => {
  const other = plan();
  other.run[0].kernel = {};
  assert.ok(!runsWithoutPython(other));
});

test("a plan that keeps a state needs Python", () => {
  const other = plan();
  other.states = [{ name: "count", slot: 1, bytes: 4 }];
  assert.ok(!runsWithoutPython(other));
});

test("a closed program runs no more, and a module that is refused is named", async () => {
  const program = await load(plan());
  program.close();
  await assert.rejects(program.run([int32(1)]), /^DeviceError: plus: the program is closed$/);
  const other = plan();
  other.modules = [Buffer.from("no module").toString("base64")];
  await assert.rejects(load(other), {
    name: "DeviceError",
    message: /^plus: this browser refused/,
  });
});

test("an input of another size is refused by name", async () => {
  const program = await load(plan());
  await assert.rejects(program.run([new Uint8Array(3)]), {
    name: "DeviceError",
    message: "plus: the input x has 3 bytes instead of 4",
  });
});

test("a trap is an error of the device", async () => {
  const program = await load(plan("k2"));
  await assert.rejects(program.run([int32(1)]), {
    name: "DeviceError",
    message: /^plus: WebAssembly stopped: unreachable/,
  });
});

test("a plan that does not fit says what it needs", async () => {
  const large = plan();
  large.slots[0].bytes = 5e9;
  await assert.rejects(load(large), {
    name: "OutOfMemoryError",
    message: /^plus cannot fit: it needs 5,000,\d{3},\d{3} bytes of WebAssembly's memory/,
  });
});

// ---- the choice of a device -------------------------------------------------------------------

/** Replace navigator.gpu. @param {any} gpu */
const haveGpu = (gpu) => {
  Object.defineProperty(globalThis, "navigator", { value: { gpu }, configurable: true });
  Object.assign(globalThis, { isSecureContext: true });
};

beforeEach(() => haveGpu(undefined));

test("without a GPU the best device is WebAssembly, with the reason", async () => {
  const { device, words, runner } = await openDevice("best");
  assert.equal(device, "wasm");
  assert.deepEqual(words, { entry: "noGpuHere", about: [] });
  assert.match(runner?.info.name ?? "", /^WebAssembly/);
});

test("WebAssembly and NumPy can be requested, and need no reason", async () => {
  for (const wanted of /** @type {const} */ (["wasm", "numpy"])) {
    const { device, words, gpu } = await openDevice(wanted);
    assert.equal(device, wanted);
    assert.equal(words, null);
    assert.equal(gpu.reason, "WebGPU was not requested.");
  }
});

test("where WebAssembly is blocked, the reason is told", async () => {
  const { WebAssembly: blocked } = globalThis;
  Object.assign(globalThis, { WebAssembly: undefined });
  try {
    const { device, refused } = await openDevice("best");
    assert.equal(device, "numpy");
    assert.equal(refused, "webgpu");
  } finally {
    Object.assign(globalThis, { WebAssembly: blocked });
  }
});

test("without SIMD, NumPy computes, and the reason is told", async () => {
  const { validate } = WebAssembly;
  WebAssembly.validate = () => false;
  try {
    const { device, words, refused, runner } = await openDevice("wasm");
    assert.equal(device, "numpy");
    assert.equal(refused, "wasm");
    assert.deepEqual(words, { entry: "noSimd", about: [] });
    assert.equal(runner, null);
  } finally {
    WebAssembly.validate = validate;
  }
});

test("an adapter on the CPU is used only on request", async () => {
  const device = { lost: new Promise(() => {}), addEventListener: () => {} };
  const info = { vendor: "google", architecture: "swiftshader" };
  const adapter = { features: new Set(), limits: {}, info, requestDevice: async () => device };
  haveGpu({ requestAdapter: async () => adapter });
  const best = await openDevice("best");
  assert.equal(best.device, "wasm");
  assert.equal(best.words, null);
  const { device: asked, gpu, runner } = await openDevice("webgpu");
  assert.equal(asked, "webgpu");
  await gpu.keepTuning("fastest").catch(() => {}); // Node.js has no storage
  assert.equal(runner?.tuning, "fastest");
});
