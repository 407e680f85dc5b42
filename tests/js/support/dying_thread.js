// @ts-check
/** A worker of Node that begins a part of the first job and ends. */

import { parentPort } from "node:worker_threads";

import { begin, jobOf, WORK } from "../../../web/wasm/claims.js";

parentPort?.on("message", (/** @type {import("../../../web/wasm/thread.js").Mail} */ { start }) => {
  if (!start) return;
  const { words } = start;
  for (;;) {
    const id = jobOf(Atomics.load(words, WORK));
    if (id && begin(words, { id, call: () => {}, cuts: [0, 1, 2, 3] }) >= 0) process.exit();
  }
});
