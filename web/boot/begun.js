// @ts-check
/**
 * The page's first worker, which is started by begin.js or by the engine, whichever comes first, and is
 * the engine's from then on.
 */

import { readAddress } from "./address.js";

/**
 * @typedef {import("./address.js").Address & {controlled: boolean}} Beginning  controlled: by the
 *   service worker, which has kept all files by then
 *
 * @typedef {object} Begun
 * @property {Worker} worker
 * @property {MessageEvent[]} said       what it has said before anybody heard it
 * @property {ErrorEvent | null} failed  how it has failed by then
 */

/** The file of the page's workers. */
export const WORKER = new URL("../worker/main.js", import.meta.url);

/** Where two bundles find each other: undefined before the worker is there, null once it is taken. */
const shared = /** @type {{begun?: Begun | null}} */ (globalThis);

/** Start the worker, and tell it what the page's address asks for; once. */
export function begin() {
  if (shared.begun !== undefined) return;
  const worker = new Worker(WORKER, { type: "module" });
  /** @type {Begun} */
  const begun = { worker, said: [], failed: null };
  worker.onmessage = (event) => begun.said.push(event);
  worker.onerror = (event) => (begun.failed = event);
  const controlled = Boolean(navigator.serviceWorker?.controller);
  worker.postMessage({ action: "begin", args: { ...readAddress(), controlled } });
  shared.begun = begun;
}

/** @returns {Begun | undefined}  the first worker, to the first who asks */
export function takeBegun() {
  begin();
  const begun = shared.begun ?? undefined;
  shared.begun = null;
  return begun;
}
