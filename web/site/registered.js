// @ts-check
/**
 * This site's service worker. Until it is registered, a service worker of a site in a parent folder
 * may control the page; we must not talk to that one or remove it.
 */

import { SITE } from "./fetch.js";

const SCRIPT = new URL("service-worker.js", SITE).href;

/** The service worker that controls this page, if it is ours. */
export function controller() {
  const found = navigator.serviceWorker?.controller;
  return found?.scriptURL === SCRIPT ? found : null;
}

/** @returns {Promise<ServiceWorkerRegistration | undefined>} */
export async function registration() {
  const found = await navigator.serviceWorker?.getRegistration(SITE.href);
  return found?.scope === SITE.href ? found : undefined;
}
