// @ts-check
/** The published models of a site (web/site/published.js). The server is a fake. */

import assert from "node:assert/strict";
import { test } from "node:test";

const A = "a".repeat(64);
const B = "b".repeat(64);
const LIST = [
  {
    name: "small",
    title: "Small",
    task: "write",
    memory: 9,
    licence: "MIT",
    files: [
      { file: "model.onnx", bytes: 5, sha256: A },
      { file: "config.json", bytes: 2, sha256: B },
    ],
  },
  { name: "ears", title: "Ears", task: "listen", memory: 1, licence: "MIT", files: [] },
];

let status = 503;
let asked = 0;
globalThis.fetch = /** @type {any} */ (
  async () => {
    asked += 1;
    return new Response(JSON.stringify(LIST), { status });
  }
);

const { FetchError, SITE } = await import("../../web/site/fetch.js");
const { published } = await import("../../web/site/published.js");

test("a list that fails is asked for again, then known", async () => {
  await assert.rejects(published("write"), FetchError);
  status = 200;
  asked = 0;
  assert.equal((await published("listen")).length, 1);
  assert.deepEqual(await published("find"), []);
  assert.equal(asked, 1);
});

test("a model has its files' addresses and the bytes of all of them", async () => {
  const base = `${SITE}models/published/small/`;
  assert.deepEqual(await published("write"), [
    {
      name: "small",
      title: "Small",
      bytes: 7,
      memory: 9,
      licence: "MIT",
      files: [
        { name: "model.onnx", url: `${base}model.onnx`, bytes: 5, sha256: A },
        { name: "config.json", url: `${base}config.json`, bytes: 2, sha256: B },
      ],
    },
  ]);
});
