// @ts-check
/** The conversations that the browser keeps for the Write view (web/views/write/talks.js). */

import assert from "node:assert/strict";
import { test } from "node:test";

import { words } from "../../web/i18n/messages.js";
import { Talks } from "../../web/views/write/talks.js";

const KEY = "tallow.talk / ";

/** @param {string[]} contents  of the visitor and of the model, in turn */
const said = (...contents) =>
  contents.map((content, at) => ({
    role: /** @type {"user" | "assistant"} */ (at % 2 ? "assistant" : "user"),
    content,
  }));

/** A browser's storage with these entries. @param {Record<string, string>} entries */
function storageOf(entries) {
  const all = /** @type {any} */ ({ ...entries });
  const hidden = {
    getItem: (/** @type {string} */ key) => all[key] ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ text) => void (all[key] = text),
    removeItem: (/** @type {string} */ key) => void delete all[key],
  };
  for (const [name, value] of Object.entries(hidden)) Object.defineProperty(all, name, { value });
  return all;
}

/** @param {any} storage */
function opened(storage) {
  /** @type {any[]} */
  const notes = [];
  const talks = new Talks(
    () => storage,
    "/",
    (note) => notes.push(note),
  );
  return { talks, notes };
}

for (const text of [
  '{"at": 1, "messages": [{"role": "user", "con',
  "[]",
  "null",
  '{"at": 1, "messages": [{"role": "user", "content": 3}]}',
  '{"at": 1, "messages": [{"role": "robot", "content": "a"}]}',
  '{"at": 1, "messages": [null]}',
  '{"at": "now", "messages": []}',
  '{"at": 1}',
]) {
  test(`a damaged conversation is said and left as it is: ${text}`, () => {
    const whole = JSON.stringify({ at: 1, messages: said("One?", "1") });
    const storage = storageOf({ [`${KEY}a`]: whole, [`${KEY}bad`]: text });
    const { talks, notes } = opened(storage);
    assert.deepEqual(notes, [words("writeDamaged", 1)]);
    assert.deepEqual(talks.list(), [{ id: "a", name: "One?" }]);
    assert.equal(storage[`${KEY}bad`], text);
  });

  test(`an earlier version's conversation that is damaged is left as it is: ${text}`, () => {
    const storage = storageOf({ "tallow.talk": text });
    const { talks, notes } = opened(storage);
    if (text === "[]") {
      assert.deepEqual(notes, []); // a conversation without messages
      assert.equal(storage["tallow.talk"], undefined);
    } else {
      assert.deepEqual(notes, [words("writeDamaged", 1)]);
      assert.equal(storage["tallow.talk"], text);
    }
    assert.deepEqual(talks.list(), []);
  });
}
