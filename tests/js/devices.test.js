/** Devices are records: no other module of the page compares their names. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { BEST, DEVICES, FALLBACK, isDevice } from "../../web/shared/devices.js";

const WEB = new URL("../../web/", import.meta.url);

test("the fallback is a device, and the best device is not the name of one", () => {
  assert.ok(!isDevice(BEST));
  assert.ok(!DEVICES[FALLBACK].onGpu);
  assert.ok(isDevice("webgpu") && isDevice("numpy"));
  assert.ok(!isDevice("toString") && !isDevice(null) && !isDevice(""));
});

test("another machine is left for this one, by the fallback", () => {
  const others = Object.entries(DEVICES).filter(([, { elsewhere }]) => elsewhere);
  assert.equal(others.length, 1);
  for (const [, { instead, onGpu, needsNumpy }] of others) {
    assert.equal(instead, FALLBACK);
    assert.ok(!onGpu && !needsNumpy);
  }
});

test("names of devices are compared in the registry alone", () => {
  const names = Object.keys(DEVICES).join("|");
  const compared = new RegExp(`[!=]==? ?["'](${names})["']|["'](${names})["'] ?[!=]==?`);
  // Python's packages have names, too.
  const allowed = new Set(["worker/python.js"]);
  const found = readdirSync(WEB, { recursive: true })
    .map(String)
    .filter((path) => path.endsWith(".js") && !allowed.has(path))
    .filter((path) => compared.test(readFileSync(new URL(path, WEB), "utf-8")));
  assert.deepEqual(found, []);
});
