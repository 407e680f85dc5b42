// @ts-check
/**
 * The page's first worker. Either begin.js or the engine starts it, whichever runs first; the
 * engine then takes it over.
 */

import { readAddress } from "./address.js";

/**
 * @typedef {import("./address.js").Address & {controlled: boolean}} BeginArgs  controlled: whether
 *   a service worker controls the page, and has therefore cached all its files
 *
 * @typedef {object} FirstWorker
 * @property {Worker} worker
 * @property {MessageEvent[]} messages  those that arrived before the engine took over
 * @property {ErrorEvent | null} failed
 */

/** The file of the page's workers. */
export const WORKER = new URL("../worker/main.js", import.meta.url);

/** Shared by two bundles: undefined before the worker is started, null once it is taken. */
const shared = /** @type {{firstWorker?: FirstWorker | null}} */ (globalThis);

/** Start the worker once, and send it what the page's address asks for. */
export function startFirstWorker() {
  if (shared.firstWorker !== undefined) return;
  const worker = new Worker(WORKER, { type: "module" });
  /** @type {FirstWorker} */
  const first = { worker, messages: [], failed: null };
  worker.onmessage = (event) => first.messages.push(event);
  worker.onerror = (event) => (first.failed = event);
  const controlled = Boolean(navigator.serviceWorker?.controller);
  worker.postMessage({ action: "begin", args: { ...readAddress(), controlled } });
  shared.firstWorker = first;
}

/** @returns {FirstWorker | undefined}  undefined from the second call on */
export function takeFirstWorker() {
  startFirstWorker();
  const first = shared.firstWorker ?? undefined;
  shared.firstWorker = null;
  return first;
}
