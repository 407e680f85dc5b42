// @ts-check
/**
 * The service worker of this very site. One of a site in a folder above may be in charge of the page
 * until this one's own is; it is not ours to ask or to remove.
 */

import { SITE } from "../shared/fetch.js";

const SCRIPT = new URL("service-worker.js", SITE).href;

/** The one that gives this page its files, if that is ours. */
export function controller() {
  const found = navigator.serviceWorker?.controller;
  return found?.scriptURL === SCRIPT ? found : null;
}

/** @returns {Promise<ServiceWorkerRegistration | undefined>} */
export async function registration() {
  const found = await navigator.serviceWorker?.getRegistration(SITE.href);
  return found?.scope === SITE.href ? found : undefined;
}
