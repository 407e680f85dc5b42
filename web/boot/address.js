// @ts-check
/**
 * Reads the page's address: #<view>; ?device=webgpu|wasm|numpy; ?threads=<number>;
 * ?model=<name>.
 */

import { BEST, DEVICES, isDevice, MOST_THREADS } from "../shared/devices.js";
import views from "../runtime/views.js";

/** @returns {string}  the first view if the address names none */
export function viewOf() {
  const names = Object.keys(views);
  return names.find((name) => name === location.hash.slice(1)) ?? names[0];
}

/**
 * The kind of model that a view uses; null if it uses none of the site's models.
 * @param {string} view
 */
export const modelKind = (view) => views[view].model;

/** @typedef {ReturnType<typeof readAddress>} Address */

/**
 * threads: how many compute on WebAssembly; null for the usual number. notThreads: what the address
 * has instead of a number of threads, if anything. model: the one for photographs. kind: of the
 * first view's model.
 */
export function readAddress() {
  const parameters = new URLSearchParams(location.search);
  const asked = parameters.get("device");
  /** @type {import("../shared/devices.js").Wanted} */
  const device = isDevice(asked) && !DEVICES[asked].elsewhere ? asked : BEST;
  const number = parameters.get("threads");
  const valid =
    number !== null && /^\d{1,2}$/.test(number) && +number >= 1 && +number <= MOST_THREADS;
  const threads = valid ? Number(number) : null;
  const notThreads = valid ? null : number;
  const model = parameters.get("model");
  return { device, threads, notThreads, kind: modelKind(viewOf()), model };
}

/** What the first worker is told. */
export function asked() {
  return { ...readAddress(), controlled: Boolean(navigator.serviceWorker?.controller) };
}
