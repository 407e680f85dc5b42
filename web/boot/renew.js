// @ts-check
/**
 * A way out for a page that lacks a file because its version is gone: the server has a newer one, and
 * the old files no more. The page was open when that came, or the service worker of an older version
 * gave it, of which the browser has lost a part.
 */

import { SITE } from "../shared/fetch.js";
import { markOf } from "../shared/names.js";
import { registration } from "./registered.js";

/** @typedef {import("../i18n/messages.js").Words} Words */

/** What names the files of a version; the server is asked for these anew. */
const LISTS = ["./", "models/manifest.json"];

/** In the session's storage: the files for whose sake the page was started over. */
const STARTED_OVER = `tallow-started-over ${SITE.pathname}`;

/**
 * The path of the file that was missing from the server, if that is what these words say.
 * @param {Words | number} said
 * @returns {string}
 */
export function missingIn(said) {
  if (typeof said !== "object") return "";
  if (said.entry === "missing") return String(said.about[0]);
  return said.about.map(missingIn).find(Boolean) ?? "";
}

/**
 * Does the server have a newer version than the one that this page is of?
 * @param {string} missing  the path of a file that the server has not; "" if none is known
 * @returns {Promise<boolean>}  false where that can't be told
 */
export async function outdated(missing) {
  try {
    const worker = await registration();
    if (worker?.active) {
      await worker.update();
      return Boolean(worker.installing ?? worker.waiting);
    }
    // What no list names, this page's own script does, which the first list names.
    const mark = markOf(missing.startsWith("models/") ? missing : import.meta.url);
    if (!mark) return false;
    const lists = await Promise.all(LISTS.map((path) => fetch(path, { cache: "no-cache" })));
    const told = await Promise.all(lists.map((list) => list.text()));
    return lists.every(({ ok }) => ok) && !told.some((list) => list.includes(mark));
  } catch {
    return false; // without a network, or without storage, there is nothing newer to be had
  }
}

/**
 * Start over with the server's version, which is newer; never rejects. It happens once: the page that
 * comes then has no service worker, or misses the same file again.
 * @param {string} missing  see outdated()
 * @returns {Promise<boolean>}  whether the page is about to go
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
    return false; // where it can't be known that this happens once, it does not happen
  }
}
