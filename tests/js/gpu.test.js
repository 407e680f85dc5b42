// @ts-check
/** web/gpu is part of the Python wheel, without the page: it imports nothing from outside. */

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { test } from "node:test";

import { openDevice } from "../../web/gpu/device.js";
import { DeviceError, DeviceUnavailableError } from "../../web/gpu/errors.js";
import { say, wordsOf } from "../../web/i18n/messages.js";
import { choose } from "../../web/i18n/languages.js";

const GPU = new URL("../../web/gpu/", import.meta.url);

/** Paths in imports, re-exports, types in comments and new URL(). */
const NAMED = /(?:\bfrom\s+|\bimport\s+|\bimport\(\s*|new URL\(\s*)["'`]([^"'`]+)["'`]/g;

test("the runner imports nothing from outside its folder", async () => {
  const files = (await readdir(GPU)).filter((name) => name.endsWith(".js"));
  assert.ok(files.length > 5, `only ${files}`);
  for (const file of files) {
    const code = await readFile(new URL(file, GPU), "utf8");
    for (const [, name] of code.matchAll(NAMED)) {
      assert.match(name, /^\.\/[\w.-]+$/, `${file} names ${name}`);
    }
  }
});

/**
 * The error of openDevice() with this navigator.gpu.
 * @param {any} gpu
 * @param {boolean} isSecureContext
 * @returns {Promise<any>}
 */
async function failure(gpu, isSecureContext = true) {
  Object.defineProperty(globalThis, "navigator", { value: { gpu }, configurable: true });
  Object.assign(globalThis, { isSecureContext });
  return openDevice().then(
    () => assert.fail("a device was opened"),
    (error) => error,
  );
}

/** @param {string} message */
const refusing = (message) => ({
  requestAdapter: async () => ({
    features: new Set(),
    limits: {},
    requestDevice: () => Promise.reject(new Error(message)),
  }),
});

test("errors of opening a device have a code and a message, which the page translates", async () => {
  for (const [code, found, chinese] of [
    ["NO_WEBGPU", await failure(undefined), /没有 WebGPU/],
    ["INSECURE_PAGE", await failure(undefined, false), /https/],
    ["NO_ADAPTER", await failure({ requestAdapter: async () => null }), /没有找到/],
    ["ADAPTER_REFUSED", await failure(refusing("too hot")), /too hot/],
  ]) {
    assert.ok(found instanceof DeviceUnavailableError && found instanceof DeviceError);
    assert.equal(found.code, code);
    assert.match(found.message, /WebGPU/);
    choose("en");
    assert.equal(say(wordsOf(found)), found.message);
    choose("zh");
    assert.match(say(wordsOf(found)), chinese);
    choose("en");
  }
});
