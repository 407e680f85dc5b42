// @ts-check
/** The Train view: what runs differ in, what its parts share, times, why a run failed. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { RemoteError } from "../../web/engine/rpc.js";
import { choose } from "../../web/i18n/languages.js";
import { say } from "../../web/i18n/messages.js";
import { differences } from "../../web/views/train/runs/differences.js";
import { isClosed, whyNot, whyStopped } from "../../web/views/train/reason.js";
import { seconds } from "../../web/views/train/seconds.js";
import { short } from "../../web/views/train/short.js";
import { LENET, Training, USUAL } from "../../web/views/train/training.js";
import "./support/english.js";

choose("en");

test("runs differ in settings of any depth", () => {
  const one = structuredClone(USUAL);
  const other = structuredClone(USUAL);
  assert.deepEqual(differences([{ settings: one }, { settings: other }]), []);
  other.epochs = 3;
  other.optimizer.lr = 0.01;
  other.data.count = 500;
  other.augment = ["shift", "rotate"];
  other.layers = [{ kind: "flatten" }, { kind: "linear", out: 10 }];
  const found = Object.fromEntries(differences([{ settings: one }, { settings: other }]));
  assert.deepEqual(found.epochs, ["1", "3"]);
  assert.deepEqual(found["optimizer lr"], ["0.15", "0.01"]);
  assert.deepEqual(found["data count"], ["–", "500"]);
  assert.deepEqual(found.augment, ["–", "shift, rotate"]);
  assert.equal(found.layers[1], "flatten, linear 10");
  assert.match(found.layers[0], /^conv2d 6 5 2, tanh, avgpool2d 2, /);
  assert.equal(Object.keys(found).length, 5);
});

test("a setting that one run lacks is a difference", () => {
  const found = differences([{ settings: { a: 1 } }, { settings: { a: 1, b: { c: 2 } } }]);
  assert.deepEqual(found, [["b c", ["–", "2"]]]);
});

test("another setting or other data are another run", () => {
  const training = new Training(/** @type {any} */ ({}));
  /** @type {string[]} */
  const told = [];
  for (const event of ["settings", "data", "state"]) training.on(event, () => told.push(event));
  training.run = "a";
  training.become("paused");
  training.change({ epochs: 2 });
  assert.equal(training.run, null);
  training.run = "b";
  training.learnFrom({ published: "mnist" }, "mnist");
  assert.equal(training.run, null);
  assert.equal(training.settings.epochs, 2);
  assert.equal(USUAL.epochs, 1);
  assert.deepEqual(told, ["state", "settings", "data"]);
  assert.equal(LENET.at(-1)?.out, 10);
});

test("figures fit beside each other, whatever their size", () => {
  const losses = [0, 2.302585, 0.012345678, 0.00035903, 1e-38, 99999, 123456, 3.4e38];
  assert.deepEqual(
    losses.map((loss) => short(loss)),
    ["0", "2.3026", "0.012346", "3.59e-4", "1e-38", "99999", "1.23e5", "3.40e38"],
  );
  assert.equal(short(0.0003, "0.0003"), "0.0003");
  assert.equal(short(0.0000021, "0.0000021"), "2.10e-6");
});

test("reports are told with their details", () => {
  const training = new Training(/** @type {any} */ ({}));
  /** @type {any[]} */
  const looks = [];
  training.on("look", (look) => looks.push(look));
  training.tell("look", { step: 3 });
  assert.deepEqual(looks, [{ step: 3 }]);
});

test("seconds are minutes, and hours where there are so many", () => {
  assert.equal(seconds(0), "0:00");
  assert.equal(seconds(61.4), "1:01");
  assert.equal(seconds(3599.6), "1:00:00");
  assert.equal(seconds(36_610), "10:10:10");
  assert.equal(seconds(-3), "0:00");
});

test("why a run stopped is said in the page's words", () => {
  const text = "as Python says it";
  const said = (/** @type {any} */ reason, /** @type {number} */ step) =>
    say(whyStopped({ text, step: null, ...reason }, step));
  assert.match(
    said({ code: "loss", step: 12 }, 10),
    /loss of step 12 .* that of step 10, its last/,
  );
  assert.match(said({ code: "loss", step: 12 }, 14), /no checkpoint was kept before/);
  assert.match(said({ code: "full" }, 3), /storage is full/);
  assert.match(said({ code: "storage" }, 3), /does not keep the run: as Python says it/);
});

test("only a run that has lost its parameters is closed", () => {
  const closed = (/** @type {any} */ reason) => isClosed(reason, 10);
  assert.ok(closed({ code: "loss", text: "", step: 7 }));
  assert.ok(!closed({ code: "loss", text: "", step: 12 }));
  assert.ok(!closed({ code: "full", text: "", step: null }));
  assert.ok(!closed(null));
});

test("why a run could not begin is said in the page's words, where it has some", () => {
  const said = (/** @type {string} */ type) => say(whyNot(new RemoteError(type, "as it says")));
  assert.match(said("BatchError"), /the batch is larger than the data/);
  assert.match(said("CheckpointError"), /all checkpoints of this run are damaged/);
  assert.match(said("PublishedDataError"), /damaged, or their labels are out of range/);
  assert.equal(said("DataError"), "as it says");
});
