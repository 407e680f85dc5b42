// @ts-check
/**
 * A way out for a page that can't start because its version is gone: the service worker of an older
 * version gave it, the browser has lost a part of what that one kept, and the server, which has a
 * newer version, has no such file any more.
 */

/**
 * Start over with the server's version, if a service worker keeps an older one; never rejects. The
 * page that comes then has no service worker, so that this happens once.
 */
export async function startOver() {
  try {
    const registration = await navigator.serviceWorker?.getRegistration();
    if (!registration?.active) return;
    await registration.update();
    if (!registration.installing && !registration.waiting) return; // the server has this version
    await registration.unregister();
    location.reload();
  } catch {
    // Without a network, or without storage, there is nothing newer to be had.
  }
}
