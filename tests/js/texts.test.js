// @ts-check
/**
 * The page's texts (web/i18n/): shown in the current language, and available where they are needed.
 */

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { test } from "node:test";

import {
  choice,
  classify,
  draw,
  files,
  find,
  listen,
  messages,
  open,
  panels,
  train,
  write,
} from "./support/english.js";
import { page } from "../../web/i18n/zh/page.js";
import * as classifyInChinese from "../../web/views/classify/texts/zh.js";
import * as drawInChinese from "../../web/views/draw/texts/zh.js";
import * as findInChinese from "../../web/views/find/texts/zh.js";
import * as listenInChinese from "../../web/views/listen/texts/zh.js";
import * as openInChinese from "../../web/views/open/texts/zh.js";
import * as trainInChinese from "../../web/views/train/texts/zh.js";
import * as writeInChinese from "../../web/views/write/texts/zh.js";
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

const sides = (await readdir(new URL("../../web/views/", import.meta.url), { recursive: true }))
  .filter((path) => /^\w+\/worker\.js$/.test(path))
  .map((path) => `views/${path}`);
assert.ok(sides.length > 2);

for (const entry of [
  ...["worker/main.js", "worker/script.js", "boot/python.js", "boot/begin.js", ...sides],
]) {
  test(`${entry} uses only the worker's texts`, async () => {
    const used = await entriesOf(new URL(`../../web/${entry}`, import.meta.url));
    assert.ok(used.size > 1 || sides.includes(entry), `only ${[...used.keys()]}`);
    assert.ok(![...used.keys()].some((module) => module.includes("/i18n/zh/")));
    const missing = [...used.values()].flat().filter((name) => name && !(name in messages));
    assert.deepEqual(missing, []);
  });
}

test("Find says that one can ask once something can be found", () => {
  for (const { findEmbedding } of [find, findInChinese.texts]) {
    const [none, some] = [findEmbedding(0, 9, 0), findEmbedding(4, 9, 0)];
    assert.doesNotMatch(none, /ask|提问/);
    assert.match(some, /ask|提问/);
  }
});

test("Find says how many files wait while it reads one", () => {
  assert.equal(find.findReading("a.txt", 0), "Reading a.txt…");
  assert.match(find.findReading("a.txt", 1), / 1 more waits\.$/);
  for (const { findReading } of [find, findInChinese.texts])
    assert.match(findReading("a.txt", 1234), /1,234/);
});

test("names of entries are unique", () => {
  const views = [draw, classify, find, listen, open, train, write];
  const all = [messages, panels, files, choice, ...views].flatMap((table) => Object.keys(table));
  assert.deepEqual(
    all.filter((name, i) => all.indexOf(name) !== i),
    [],
  );
});

/** The entries that a document of web/ names. */
async function named(/** @type {string} */ path) {
  const html = await readFile(new URL(`../../web/${path}`, import.meta.url), "utf8");
  return [...html.matchAll(/\bdata-text[a-z-]*="(\w+)"/g)].map(([, entry]) => entry);
}

test("every view has a name in the menu, in both languages", async () => {
  const names = sides.map((path) => path.replace("worker.js", "view.json"));
  for (const path of names) {
    const { menu } = JSON.parse(
      await readFile(new URL(`../../web/${path}`, import.meta.url), "utf8"),
    );
    assert.match(menu.en, /^[A-Z]/);
    assert.match(menu.zh, /^\p{Script=Han}+$/u);
  }
});

test("the HTML names every translated entry, and a view only its own and the page's", async () => {
  const index = await named("index.html");
  const views = {
    draw: drawInChinese,
    classify: classifyInChinese,
    find: findInChinese,
    listen: listenInChinese,
    open: openInChinese,
    train: trainInChinese,
    write: writeInChinese,
  };
  /** @type {string[]} */
  const all = [...index];
  for (const [name, { page: own }] of Object.entries(views)) {
    const entries = await named(`views/${name}/${name}.html`);
    assert.deepEqual(
      entries.filter((entry) => !(entry in { ...page, ...own })),
      [],
    );
    assert.deepEqual(
      Object.keys(own).filter((entry) => !entries.includes(entry)),
      [],
    );
    all.push(...entries.filter((entry) => !(entry in own)));
  }
  assert.deepEqual(
    index.filter((entry) => !(entry in page)),
    [],
  );
  assert.deepEqual(
    Object.keys(page).filter((entry) => !all.includes(entry)),
    [],
  );
  assert.ok(all.length > 30);
});

test("what stands below the views shows none of their texts, and no view another's", async () => {
  const folders = { draw, classify, listen, open, train, write };
  /** @type {string[]} */
  const wrong = [];
  for (const path of await readdir(new URL("../../web/", import.meta.url), { recursive: true })) {
    if (!path.endsWith(".js") || /^i18n\/|\/texts\//.test(path)) continue;
    const code = await readFile(new URL(`../../web/${path}`, import.meta.url), "utf8");
    for (const [view, table] of Object.entries(folders)) {
      if (path.startsWith(`views/${view}/`)) continue;
      for (const entry of Object.keys(table))
        if (new RegExp(`\\btext\\.${entry}\\b|words\\(\\s*"${entry}"`).test(code))
          wrong.push(`${path}: ${entry}`);
    }
  }
  assert.deepEqual(wrong, []);
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
  const { REFUSED, ...chinese } = worded(openInChinese.texts.openReasons);
  assert.equal(REFUSED, "{0}");
  assert.deepEqual(Object.keys(chinese), Object.keys(english).slice(0, -1));
  for (const words of Object.values(chinese)) assert.match(words, /\p{Script=Han}/u);
});

test("the language is the first of the visitor's that has a table", () => {
  assert.equal(languageFor(["fr-FR", "zh-TW", "en"]), "zh");
  assert.equal(languageFor(["EN-us", "zh"]), "en");
  assert.equal(languageFor(["fr", "constructor"]), "en");
});
