// @ts-check
/** The address of another machine, as a visitor writes it (web/widgets/engine/machine.js). */

import assert from "node:assert/strict";
import { test } from "node:test";

import { machine as en } from "../../web/i18n/en/machine.js";
import { machine as zh } from "../../web/i18n/zh/machine.js";
import { machineAt } from "../../web/widgets/engine/machine.js";

for (const [address, name] of [
  ["https://lab.example", "remote:https://lab.example"],
  ["  https://lab.example:8443/gpu/ ", "remote:https://lab.example:8443/gpu"],
  ["lab.example", "remote:https://lab.example"],
  ["lab.example:8443/gpu", "remote:https://lab.example:8443/gpu"],
  ["localhost:8080", "remote:http://localhost:8080"],
  ["127.0.0.1:8080", "remote:http://127.0.0.1:8080"],
  ["remote:http://127.0.0.1:8080", "remote:http://127.0.0.1:8080"],
]) {
  test(`${address} is a machine`, () => assert.deepEqual(machineAt(address), { name }));
}

for (const address of [
  "",
  "https://",
  "ftp://lab.example",
  "https://me@lab.example",
  "two words",
]) {
  test(`"${address}" is no address`, () =>
    assert.deepEqual(machineAt(address), { problem: "unreadable" }));
}

test("the page's policy allows no connection without TLS but with this computer", () => {
  assert.deepEqual(machineAt("http://lab.example:8080"), { problem: "insecure" });
  assert.deepEqual(machineAt("http://192.168.0.7:8080"), { problem: "insecure" });
});

test("the form has the same texts in every language", () => {
  assert.deepEqual(Object.keys(zh), Object.keys(en));
});
