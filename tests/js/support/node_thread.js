// @ts-check
/** web/wasm/thread.js in a worker of Node, whose messages come another way. */

import { parentPort } from "node:worker_threads";

import "../../../web/wasm/thread.js";

const { onmessage } = /** @type {any} */ (globalThis);

parentPort?.on("message", (data) => onmessage({ data }));
