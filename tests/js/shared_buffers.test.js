// @ts-check
/** Weights that programs have in common on a device that counts its buffers. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { ProgramMemory } from "../../web/gpu/program_memory.js";
import { SharedBuffers } from "../../web/gpu/shared_buffers.js";

Object.assign(globalThis, {
  GPUBufferUsage: { STORAGE: 1, COPY_DST: 2, COPY_SRC: 4, UNIFORM: 8, MAP_READ: 16 },
});

/** A runner whose device notes which buffers are there and what is uploaded. */
function runnerOf() {
  /** @type {Set<any>} */
  const held = new Set();
  /** @type {string[]} */
  const uploaded = [];
  const device = {
    limits: { minUniformBufferOffsetAlignment: 256 },
    createBuffer: (/** @type {{size: number, label: string}} */ { size, label }) => {
      const buffer = { size, label, destroy: () => held.delete(buffer) };
      held.add(buffer);
      return buffer;
    },
    queue: { writeBuffer: (/** @type {any} */ { label }) => void uploaded.push(label) },
  };
  return { runner: /** @type {any} */ ({ device, shared: new SharedBuffers() }), held, uploaded };
}

/** Slot 0 is a weight of which `prepare` makes slot 1, slot 2 a weight of runs, slot 3 the output. */
const PLAN = /** @type {any} */ ({
  name: "plan",
  slots: [
    { bytes: 64, kind: "weight" },
    { bytes: 64, kind: "prepared" },
    { bytes: 64, kind: "weight" },
    { bytes: 64, kind: "output" },
  ],
  inputs: [],
  outputs: [{ name: "y", slot: 3, bytes: 64 }],
  states: [],
  copies: [],
  prepare: [{ name: "turn", bindings: [0, 1], kernel: {} }],
  run: [{ name: "add", bindings: [1, 2, 3], kernel: {} }],
});

/** @type {import("../../web/gpu/program.js").Weights} */
const WEIGHTS = { ready: () => {}, lend: (_, use) => use(new Uint8Array(64)) };

/**
 * What loading does with a program's memory.
 * @param {any} runner
 * @param {[number, number][]} numbers  of slots
 */
function loaded(runner, numbers) {
  const memory = new ProgramMemory(runner, PLAN, new Map(numbers));
  const persistent = memory.persistentSlots();
  memory.claim(persistent);
  memory.allocate(WEIGHTS, persistent);
  let steps = 0;
  for (const part of memory.prepareParts(persistent)) {
    for (const slot of part.missing) memory.create(slot, WEIGHTS);
    steps += part.steps.length;
    memory.end(part);
  }
  return { memory, steps };
}

/** @type {[number, number][]} */
const NUMBERS = [
  [0, 7],
  [1, 8],
  [2, 9],
];

test("programs have one buffer for what is the same, and compute it once", () => {
  const { runner, held, uploaded } = runnerOf();
  const first = loaded(runner, NUMBERS);
  assert.equal(first.steps, 1);
  assert.equal(held.size, 3); // the weight that only `prepare` read is gone
  assert.equal(uploaded.length, 2);
  const second = loaded(runner, NUMBERS);
  assert.equal(second.steps, 0);
  assert.equal(uploaded.length, 2);
  assert.equal(held.size, 4); // an output more
  assert.equal(second.memory.buffers[1], first.memory.buffers[1]);
  assert.equal(second.memory.buffers[2], first.memory.buffers[2]);
  assert.notEqual(second.memory.buffers[3], first.memory.buffers[3]);
});

test("a buffer lives until the last program that uses it is closed", () => {
  const { runner, held } = runnerOf();
  const [first, second] = [loaded(runner, NUMBERS), loaded(runner, NUMBERS)];
  first.memory.close();
  assert.ok(held.has(second.memory.buffers[1]) && held.has(second.memory.buffers[2]));
  first.memory.close(); // again, which changes nothing
  assert.equal(held.size, 3);
  second.memory.close();
  assert.equal(held.size, 0);
  assert.equal(runner.shared.byNumber.size, 0);
  assert.equal(loaded(runner, NUMBERS).steps, 1);
});

test("what another program has not computed yet is computed, into the same buffer", () => {
  const { runner, held, uploaded } = runnerOf();
  const memory = new ProgramMemory(runner, PLAN, new Map(NUMBERS));
  const persistent = memory.persistentSlots();
  memory.claim(persistent);
  memory.allocate(WEIGHTS, persistent); // and waits for its pipelines, say
  const other = loaded(runner, NUMBERS);
  assert.equal(other.steps, 1);
  assert.equal(other.memory.buffers[1], memory.buffers[1]);
  assert.equal(uploaded.length, 2);
  other.memory.close();
  memory.close();
  assert.equal(held.size, 0);
});

test("without numbers programs share nothing", () => {
  const { runner, held } = runnerOf();
  const [first, second] = [loaded(runner, []), loaded(runner, [])];
  assert.deepEqual([first.steps, second.steps], [1, 1]);
  assert.equal(held.size, 6);
  first.memory.close();
  second.memory.close();
  assert.equal(held.size, 0);
});
