// @ts-check
/**
 * Recovers a page whose files are gone from the server because a newer version was deployed. Either
 * the page was open at that time, or it came from an older service worker's cache, of which the
 * browser has evicted a part.
 */

import { SITE } from "../site/fetch.js";
import { markOf } from "../shared/names.js";
import { registration } from "../site/registered.js";

/** @typedef {import("../i18n/messages.js").Words} Words */

/** Files that name the other files of a version. They are fetched again from the server. */
const LISTS = ["./", "models/manifest.json"];

/** Key in the session storage: the missing files for which the page has already started over. */
const STARTED_OVER = `tallow-started-over ${SITE.pathname}`;

/**
 * The path of the file that was missing from the server, if this message is about one.
 * @param {Words | number} message
 * @returns {string}
 */
export function missingIn(message) {
  if (typeof message !== "object") return "";
  if (message.entry === "missing") return String(message.about[0]);
  return message.about.map(missingIn).find(Boolean) ?? "";
}

/**
 * Does the server have a newer version of this page?
 * @param {string} missing  the path of a file that the server lacks; "" if unknown
 * @returns {Promise<boolean>}  false if unknown
 */
export async function outdated(missing) {
  try {
    const worker = await registration();
    if (worker?.active) {
      await worker.update();
      return Boolean(worker.installing ?? worker.waiting);
    }
    // A file that no list names belongs to the version of this script, which the first list names.
    const mark = markOf(missing.startsWith("models/") ? missing : import.meta.url);
    if (!mark) return false;
    const lists = await Promise.all(LISTS.map((path) => fetch(path, { cache: "no-cache" })));
    const texts = await Promise.all(lists.map((list) => list.text()));
    return lists.every(({ ok }) => ok) && !texts.some((text) => text.includes(mark));
  } catch {
    return false; // no network or no storage: no newer version is available
  }
}

/**
 * Reload the page from the server, which has a newer version; never rejects. This happens only
 * once: the next page either has no service worker or misses the same file again.
 * @param {string} missing  see outdated()
 * @returns {Promise<boolean>}  whether the page is about to reload
 */
export async function startOver(missing) {
  try {
    const worker = await registration();
    if (worker) {
      await worker.unregister();
    } else {
      const before = sessionStorage.getItem(STARTED_OVER)?.split(" ") ?? [];
      if (before.includes(missing)) return false;
      sessionStorage.setItem(STARTED_OVER, [...before, missing].join(" "));
    }
    location.reload();
    return true;
  } catch {
    return false; // without storage we could reload forever
  }
}
