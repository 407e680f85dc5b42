// @ts-check
/**
 * The page's first worker. The page's first module starts it (boot/begin.js), or else its main one;
 * the engine then takes it over.
 */

/**
 * @typedef {object} BeginArgs  what the page's address asks for
 * @property {import("../shared/devices.js").Wanted} device
 * @property {number | null} threads  of WebAssembly; null for the usual number
 * @property {string | null} kind  of the first view's model; null if it uses none of the site's
 * @property {string | null} model  the one for photographs
 * @property {boolean} controlled  whether a service worker controls the page, and has therefore
 *   cached all its files
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

/**
 * Start the worker once, and send it what the page's address asks for.
 * @param {() => BeginArgs} asked
 */
export function startFirstWorker(asked) {
  if (shared.firstWorker !== undefined) return;
  const worker = new Worker(WORKER, { type: "module" });
  /** @type {FirstWorker} */
  const first = { worker, messages: [], failed: null };
  worker.onmessage = (event) => first.messages.push(event);
  worker.onerror = (event) => (first.failed = event);
  worker.postMessage({ action: "begin", args: asked() });
  shared.firstWorker = first;
}

/** @returns {FirstWorker | undefined}  undefined from the second call on */
export function takeFirstWorker() {
  const first = shared.firstWorker ?? undefined;
  shared.firstWorker = null;
  return first;
}
