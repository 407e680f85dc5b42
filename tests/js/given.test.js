// @ts-check
/** What is read from files that a visitor gives: arrays, labels; and the values a form begins with. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { fillingOf, lengthOf } from "../../web/prepare/guesses.js";
import { readLabels } from "../../web/prepare/labels.js";
import { readNpy, writeNpy } from "../../web/prepare/npy.js";

/** @param {string} name @param {BlobPart} content */
const file = (name, content) => new File([content], name);

/** @param {string} header @param {BlobPart} elements @param {number} [version] */
function npy(header, elements, version = 1) {
  const length =
    version > 1
      ? [header.length & 255, header.length >> 8, 0, 0]
      : [header.length & 255, header.length >> 8];
  const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, version, 0, ...length];
  return new File([new Uint8Array(magic), header, elements], "a.npy");
}

test("a written .npy file can be read again", async () => {
  for (const [dtype, values, shape] of /** @type {[string, any, number[]][]} */ ([
    ["float32", new Float32Array([1.5, -2, 3, 0, 5, 6]), [2, 3]],
    ["int64", new BigInt64Array([1n, -(2n ** 62n)]), [2]],
    ["uint8", new Uint8Array([7]), []],
    ["float64", new Float64Array(0), [0, 4]],
  ])) {
    const blob = writeNpy(new Uint8Array(values.buffer), dtype, shape);
    const bytes = new Uint8Array(await blob.arrayBuffer());
    assert.equal((bytes.length - values.byteLength) % 64, 0); // the offset of the elements
    const found = await readNpy(file("a.npy", blob));
    assert.deepEqual(
      [found.dtype, found.shape, [.../** @type {any} */ (found.values)]],
      [dtype, shape, [...values]],
    );
  }
});

test(".npy files are read in both byte orders, both axis orders and both versions", async () => {
  const big = new Uint8Array([0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6]);
  for (const version of [1, 2]) {
    const header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }";
    const found = await readNpy(npy(header, big, version));
    assert.deepEqual(
      [found.dtype, found.shape, [.../** @type {any} */ (found.values)]],
      ["int16", [2, 3], [1, 3, 5, 2, 4, 6]],
    );
  }
});

test("a damaged .npy file, or one of an unknown type, is refused by name", async () => {
  const short = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }";
  for (const bad of [
    file("a.npy", "no array"),
    npy(short, new Uint8Array(11)),
    file("a.npy", ""),
  ]) {
    await assert.rejects(readNpy(bad), (error) => {
      assert.deepEqual(/** @type {any} */ (error).words, { entry: "openNotNpy", about: ["a.npy"] });
      return true;
    });
  }
  const texts = "{'descr': '<U2', 'fortran_order': False, 'shape': (1,), }";
  await assert.rejects(readNpy(npy(texts, new Uint8Array(8))), (error) => {
    assert.equal(/** @type {any} */ (error).words.entry, "openNpyType");
    return true;
  });
});

for (const [what, name, content, labels] of /** @type {[string, string, string, string[]][]} */ ([
  ["lines", "a.txt", "\uFEFFcat\r\ndog\r\n", ["cat", "dog"]],
  [
    "lines of ImageNet",
    "a.txt",
    "n02119789 kit fox\nn02100735 English setter",
    ["kit fox", "English setter"],
  ],
  ["a list", "a.json", '["cat", "dog"]', ["cat", "dog"]],
  ["an object by index", "a.json", '{"1": "dog", "0": "cat"}', ["cat", "dog"]],
  ["codes and names", "a.json", '{"0": ["n1", "cat"]}', ["cat"]],
  ["a model's configuration", "a.json", '{"id2label": {"0": "cat"}, "other": 1}', ["cat"]],
  ["a table by index", "a.csv", 'index,label\n1,dog\n0,"cat, ""big"""\n', ['cat, "big"', "dog"]],
  ["a table in order", "a.csv", "name\ncat\ndog", ["cat", "dog"]],
])) {
  test(`labels are read from ${what}`, async () => {
    assert.deepEqual(await readLabels(file(name, content)), labels);
  });
}

test("a file without labels is refused by name", async () => {
  for (const content of ["", "{not json", '{"a": 1}', "3"].slice(0, 3)) {
    await assert.rejects(readLabels(file("a.json", content)), (error) => {
      assert.equal(/** @type {any} */ (error).words.entry, "openNotLabels");
      return true;
    });
  }
});

test("a form begins with useful values", () => {
  const fillings = {
    input_ids: "random",
    attention_mask: "ones",
    token_type_ids: "zeros",
    position_ids: "counting",
    sr: "numbers",
  };
  for (const [name, filling] of Object.entries(fillings)) {
    assert.equal(fillingOf(name, "int64").filling, filling, name);
  }
  assert.equal(fillingOf("state", "float32").filling, "zeros");
  assert.equal(fillingOf("image", "float32").filling, "random");
  for (const [shape, axis, dtype, length] of /** @type {[any[], number, string, number][]} */ ([
    [["n", 3, "height", "width"], 0, "float32", 1],
    [["n", 3, "height", "width"], 3, "float32", 224],
    [[2, "batch_of_states", 128], 1, "float32", 1],
    [[2, "rows", 128], 1, "float32", 1],
    [["n", "samples"], 1, "float32", 512],
    [["n", "tokens"], 1, "int64", 16],
  ])) {
    assert.equal(lengthOf(shape, axis, dtype), length, `${shape}, ${axis}`);
  }
});
