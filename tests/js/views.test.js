// @ts-check
/** Parts of views and widgets that work without a document. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { choose } from "../../web/i18n/languages.js";
import { Latest } from "../../web/shared/latest.js";
import { occlude } from "../../web/views/classify/occlusion.js";
import { toCsv, toJson } from "../../web/views/classify/results.js";
import { CopyButton } from "../../web/widgets/copy_button.js";
import { deferred, turn } from "./support/steps.js";

choose("en");

test("a sliding square finds what matters to a model that sees one white corner", async () => {
  const size = 80;
  const pixels = new Uint8ClampedArray(size * size * 4);
  for (let y = 60; y < 80; y++) pixels.fill(255, y * size * 4, (y * size + 20) * 4);
  const ask = async (/** @type {Uint8ClampedArray} */ covered) => {
    let white = 0;
    for (let i = 0; i < covered.length; i += 4) white += covered[i] === 255 ? 1 : 0;
    return white / 400;
  };
  const heat = await occlude(pixels, 1, ask, () => true);
  assert.ok(heat);
  const at = (/** @type {number} */ x, /** @type {number} */ y) => heat.drop[y * size + x];
  assert.deepEqual([heat.size, heat.largest, heat.row, heat.column], [size, 1, 8, 0]);
  assert.equal(at(0, 79), 1);
  assert.ok(at(19, 60) > 0 && at(19, 60) < 1);
  assert.deepEqual([at(79, 0), at(40, 20)], [0, 0]);
  assert.equal(await occlude(pixels, 1, ask, (done) => done < 5), null);
});

// ---- results to copy --------------------------------------------------------------------------

/** @param {string} name */
const result = (name) => ({
  name,
  model: "m",
  failure: null,
  rows: [{ index: 3, label: name, probability: 0.25 }],
});

test("CSV preserves any name and contains no formula", () => {
  const names = [
    "a,b.png",
    'say "hi".png',
    "two\nlines.png",
    "=1+1",
    "+1",
    "-1",
    "@x",
    "\t=1",
    "plain",
  ];
  const [head, ...lines] = toCsv(names.map(result)).split("\r\n");
  assert.equal(head, "file,model,rank,index,label,probability,error");
  const safe = names.map((name, i) => (i > 2 && i < 8 ? `'${name}` : name));
  const quoted = safe.map((name) => `"${name.replaceAll('"', '""')}"`);
  assert.deepEqual(lines, [...quoted.map((name) => `${name},"m",1,3,${name},0.250000,`), ""]);
});

test("failures appear in both formats with their reason", () => {
  const failed = { name: "a.png", model: null, rows: [], failure: "no picture" };
  assert.match(toCsv([failed]), /"a\.png",,,,,,"no picture"\r\n/);
  const files = JSON.parse(toJson([failed, result("b.png")]));
  assert.deepEqual(files[0], { file: "a.png", error: "no picture" });
  assert.deepEqual(files[1], { file: "b.png", model: "m", classes: result("b.png").rows });
});

test("each button shows for its own time that it copied", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {string[]} */
  const copied = [];
  let allowed = true;
  Object.defineProperty(globalThis, "navigator", {
    configurable: true,
    value: {
      clipboard: {
        writeText: async (/** @type {string} */ content) => {
          if (!allowed) throw new Error("no");
          copied.push(content);
        },
      },
    },
  });
  const made = /** @type {const} */ (["copyJson", "copyCsv"]).map((entry) => {
    const button = {
      textContent: "",
      press: () => {},
      addEventListener: (/** @type {string} */ _, /** @type {() => void} */ press) =>
        (button.press = press),
    };
    /** @type {boolean[]} */
    const tried = [];
    new CopyButton(
      /** @type {any} */ (button),
      entry,
      () => entry,
      (_, was) => tried.push(was),
    );
    return { button, tried };
  });
  const [json, csv] = made;
  const press = async (/** @type {typeof json} */ one) => {
    one.button.press();
    await turn();
  };
  const labels = () => made.map(({ button }) => button.textContent);
  await press(json);
  assert.deepEqual(labels(), ["Copied", "Copy as CSV"]);
  context.mock.timers.tick(1000);
  await press(csv);
  assert.deepEqual(labels(), ["Copied", "Copied"]);
  await press(json); // restarts its time
  context.mock.timers.tick(1000);
  assert.deepEqual(labels(), ["Copied", "Copied"]);
  context.mock.timers.tick(1000);
  assert.deepEqual(labels(), ["Copy as JSON", "Copy as CSV"]);
  assert.deepEqual(copied, ["copyJson", "copyCsv", "copyJson"]);
  allowed = false;
  await press(csv);
  assert.match(labels()[1], /keyboard/);
  assert.deepEqual(csv.tried, [true, false]);
});

// ---- the latest question ----------------------------------------------------------------------

test("only the newest waiting question is asked, and answers come in order", async () => {
  /** @type {any[]} */
  const done = [];
  const answers = new Map([1, 2, 3, 4].map((question) => [question, deferred()]));
  const latest = new Latest(
    (question) => {
      done.push(`ask ${question}`);
      return /** @type {Promise<string>} */ (answers.get(question)?.promise);
    },
    (answer, question) => done.push(`${question}: ${answer}`),
    (error, question) => done.push(`${question}: ${error.message}`),
  );
  for (const question of [1, 2, 3]) latest.ask(question);
  assert.equal(latest.waiting, true);
  answers.get(1)?.resolve("one");
  await turn();
  assert.deepEqual(done.splice(0), ["ask 1", "1: one", "ask 3"]);
  assert.equal(latest.waiting, false);
  answers.get(3)?.reject(new Error("no"));
  await turn();
  assert.deepEqual(done.splice(0), ["3: no"]);
  latest.ask(4);
  latest.forget();
  answers.get(4)?.resolve("late");
  await turn();
  assert.deepEqual(done, ["ask 4"]); // its answer is ignored
});
