// @ts-check
/**
 * The page's texts (web/i18n/): shown in the current language, and available where they are needed.
 */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { classify, draw, messages, open, page, panels } from "./support/english.js";
import { open as openInChinese } from "../../web/i18n/zh/open.js";
import { choose, languageFor } from "../../web/i18n/languages.js";
import { LocalizedError, say, words, wordsOf } from "../../web/i18n/messages.js";

/** The entries that a module and its imports use, by module. @param {URL} module */
async function entriesOf(module, seen = new Map()) {
  if (seen.has(module.href)) return seen;
  const code = await readFile(module, "utf8").catch(() => ""); // made by the build
  const named = [...code.matchAll(/\b(?:words|explained)\(\s*(?:\w+ \? )?"(\w+)"(?: : "(\w+)")?/g)];
  const reads = /import \{[^}]*\btext\b[^}]*\} from "[^"]*i18n\/text\.js"/.test(code);
  const read = reads ? [...code.matchAll(/(?<!\/)\btext\.(\w+)/g)] : [];
  seen.set(module.href, [...named.flatMap(([, ...found]) => found), ...read.map(([, one]) => one)]);
  for (const [, path] of code.matchAll(/^(?:import|export)\b[^;]*?from "(\.[^"]+\.js)"/gm)) {
    await entriesOf(new URL(path, module), seen);
  }
  return seen;
}

for (const entry of ["worker/main.js", "worker/script.js", "boot/python.js", "boot/begin.js"]) {
  test(`${entry} uses only the worker's texts`, async () => {
    const used = await entriesOf(new URL(`../../web/${entry}`, import.meta.url));
    assert.ok(used.size > 2, `only ${[...used.keys()]}`);
    assert.ok(![...used.keys()].some((module) => module.includes("/i18n/zh/")));
    const missing = [...used.values()].flat().filter((name) => name && !(name in messages));
    assert.deepEqual(missing, []);
  });
}

test("names of entries are unique", () => {
  const all = [messages, panels, draw, classify, open].flatMap((table) => Object.keys(table));
  assert.deepEqual(
    all.filter((name, i) => all.indexOf(name) !== i),
    [],
  );
  assert.ok(Object.keys(page).length > 50);
});

test("messages and errors are in the current language", () => {
  choose("en");
  const failure = new LocalizedError(words("missing", "a.bin"));
  assert.equal(failure.message, "a.bin is missing from the server (404).");
  choose("zh");
  assert.match(failure.message, /a\.bin/);
  assert.doesNotMatch(failure.message, /missing/);
  assert.deepEqual(wordsOf(failure), words("missing", "a.bin"));
  choose("en");
  assert.equal(say("as it is"), "as it is");
  assert.equal(
    say(words("workerReplaced", words("workerFailed", "no memory"))),
    "The worker failed: no memory. Starting another…",
  );
});

test("every language words each of Python's reasons", async () => {
  const python = new URL("../../py/tallow/formats/onnx/reasons.py", import.meta.url);
  const table = (await readFile(python, "utf8")).match(/^_ENGLISH = \{\n(.*?)^\}/ms)?.[1] ?? "";
  const english = Object.fromEntries(
    [...table.matchAll(/^    "(\w+)": ((?:"[^"]*"\s*)+)/gm)].map(([, code, strings]) => [
      code,
      strings.replace(/"\s*"/g, "").trim().slice(1, -1),
    ]),
  );
  assert.ok(Object.keys(english).length > 5);
  const worded = (/** @type {typeof open.openReasons} */ reasons) =>
    Object.fromEntries(Object.entries(reasons).map(([code, of]) => [code, of("{0}", "{1}")]));
  assert.deepEqual(worded(open.openReasons), english);
  const { REFUSED, ...chinese } = worded(openInChinese.openReasons);
  assert.equal(REFUSED, "{0}");
  assert.deepEqual(Object.keys(chinese), Object.keys(english).slice(0, -1));
  for (const words of Object.values(chinese)) assert.match(words, /\p{Script=Han}/u);
});

test("the language is the first of the visitor's that has a table", () => {
  assert.equal(languageFor(["fr-FR", "zh-TW", "en"]), "zh");
  assert.equal(languageFor(["EN-us", "zh"]), "en");
  assert.equal(languageFor(["fr", "constructor"]), "en");
});
