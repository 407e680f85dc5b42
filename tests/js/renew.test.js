// @ts-check
/** A page that lacks a file because the server has a newer version (web/boot/renew.js). */

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { words } from "../../web/i18n/messages.js";
import { markOf } from "../../web/shared/names.js";

const SITE = new URL("../../web/", import.meta.url).href;

/** The page's service worker, if it has one. @type {any} */
let registered;
/** The server's files, by path. @type {Record<string, string | null>} */
let server;
/** @type {Map<string, string>} */
let stored;
let reloads = 0;
let storage = true;

Object.defineProperty(globalThis, "navigator", {
  value: { serviceWorker: { getRegistration: async () => registered } },
});
Object.assign(globalThis, {
  location: { reload: () => (reloads += 1) },
  sessionStorage: {
    getItem: (/** @type {string} */ key) => {
      if (!storage) throw new DOMException("no storage", "SecurityError");
      return stored.get(key) ?? null;
    },
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => stored.set(key, value),
  },
  fetch: async (/** @type {string} */ path) => {
    const text = server[path];
    if (text === undefined) throw new TypeError("no network");
    return new Response(text, { status: text === null ? 404 : 200 });
  },
});

const { missingIn, outdated, startOver } = await import("../../web/boot/renew.js");

beforeEach(() => {
  registered = undefined;
  stored = new Map();
  server = {};
  reloads = 0;
  storage = true;
});

/** A service worker of this site. @param {object} state */
const worker = (state) => ({
  scope: SITE,
  unregistered: 0,
  updates: 0,
  async update() {
    this.updates += 1;
  },
  async unregister() {
    this.unregistered += 1;
    return true;
  },
  ...state,
});

test("the missing file is found in a message, even if nested", () => {
  const missing = words("missing", "models/a-0123456789.onnx");
  assert.equal(missingIn(missing), "models/a-0123456789.onnx");
  assert.equal(
    missingIn(words("workerReplaced", words("workerFailed", missing))),
    missing.about[0],
  );
  assert.equal(missingIn(words("startFailed", "no memory")), "");
  assert.equal(missingIn("as it is"), "");
});

test("markOf() finds the hash in a name", () => {
  assert.equal(markOf("models/a-0123456789.onnx"), "-0123456789");
  assert.equal(markOf("runtime/numpy-0123456789/numpy.whl"), "-0123456789");
  assert.equal(markOf("runtime/numpy-2.4.3.whl"), "");
});

test("the service worker knows whether there is a newer version", async () => {
  for (const [state, newer] of /** @type {[object, boolean][]} */ ([
    [{ active: {} }, false],
    [{ active: {}, waiting: {} }, true],
    [{ active: {}, installing: {} }, true],
  ])) {
    registered = worker(state);
    assert.equal(await outdated(""), newer);
    assert.equal(registered.updates, 1);
  }
});

test("without a service worker, the server's lists show whether the file is outdated", async () => {
  const missing = "models/a-0123456789.onnx";
  server = { "./": "<html>", "models/manifest.json": '"a-0123456789.onnx"' };
  assert.equal(await outdated(missing), false); // it is missing, but not outdated
  server["models/manifest.json"] = '"a-9876543210.onnx"';
  assert.equal(await outdated(missing), true);
  server["models/manifest.json"] = null;
  assert.equal(await outdated(missing), false); // unknown
  server = {};
  assert.equal(await outdated(missing), false);
});

test("a service worker of another site is ignored", async () => {
  registered = worker({ scope: "https://tallow.test/above/", active: {}, waiting: {} });
  assert.equal(await outdated(""), false);
  assert.equal(registered.updates, 0);
});

test("the page starts over once without its service worker, and once per missing file", async () => {
  registered = worker({ active: {} });
  assert.equal(await startOver("a"), true);
  assert.deepEqual([registered.unregistered, reloads], [1, 1]);
  registered = undefined;
  assert.equal(await startOver("a"), true);
  assert.equal(await startOver("b"), true);
  assert.equal(await startOver("a"), false);
  assert.equal(reloads, 3);
});

test("without storage the page does not start over", async () => {
  storage = false;
  assert.equal(await startOver("a"), false);
  assert.equal(reloads, 0);
});
