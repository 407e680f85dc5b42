// @ts-check
/** The page's texts (web/i18n/): said in the language of now, and there where they are needed. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { classify, draw, messages, open, page, panels } from "./english.js";
import { choose, languageFor } from "../../web/i18n/languages.js";
import { LocalizedError, say, words, wordsOf } from "../../web/i18n/messages.js";

/** What a module and all that it imports say by name. @param {URL} module */
async function saidBy(module, seen = new Map()) {
  if (seen.has(module.href)) return seen;
  const code = await readFile(module, "utf8").catch(() => ""); // what the build makes
  const named = [...code.matchAll(/\b(?:words|explained)\(\s*(?:\w+ \? )?"(\w+)"(?: : "(\w+)")?/g)];
  const reads = /import \{[^}]*\btext\b[^}]*\} from "[^"]*i18n\/text\.js"/.test(code);
  const read = reads ? [...code.matchAll(/(?<!\/)\btext\.(\w+)/g)] : [];
  seen.set(module.href, [...named.flatMap(([, ...found]) => found), ...read.map(([, one]) => one)]);
  for (const [, path] of code.matchAll(/^(?:import|export)\b[^;]*?from "(\.[^"]+\.js)"/gm)) {
    await saidBy(new URL(path, module), seen);
  }
  return seen;
}

for (const entry of ["worker/main.js", "worker/script.js", "boot/python.js", "boot/begin.js"]) {
  test(`${entry} has all that it says, without the page's texts`, async () => {
    const said = await saidBy(new URL(`../../web/${entry}`, import.meta.url));
    assert.ok(said.size > 2, `only ${[...said.keys()]}`);
    assert.ok(![...said.keys()].some((module) => module.includes("/i18n/zh/")));
    const missing = [...said.values()].flat().filter((name) => name && !(name in messages));
    assert.deepEqual(missing, []);
  });
}

test("no entry hides another of the same name", () => {
  const all = [messages, panels, draw, classify, open].flatMap((table) => Object.keys(table));
  assert.deepEqual(
    all.filter((name, i) => all.indexOf(name) !== i),
    [],
  );
  assert.ok(Object.keys(page).length > 50);
});

test("words are said in the language of now, and so are errors that hold them", () => {
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

test("the language is the first of the visitor's that there is", () => {
  assert.equal(languageFor(["fr-FR", "zh-TW", "en"]), "zh");
  assert.equal(languageFor(["EN-us", "zh"]), "en");
  assert.equal(languageFor(["fr", "constructor"]), "en");
});
