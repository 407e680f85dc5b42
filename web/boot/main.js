// @ts-check
/**
 * The page: reads its address, makes the widgets, and lets them and the engine know of each other.
 */

import { modelKind, readAddress, viewOf } from "./address.js";
import { Engine } from "../engine/engine.js";
import { missingIn, outdated, startOver } from "./renew.js";
import { words } from "../i18n/messages.js";
import { VIEWS } from "../views/registry.js";
import { Both } from "../widgets/both.js";
import { BootLog } from "../widgets/engine/bootlog.js";
import { DeviceChoice } from "../widgets/engine/device.js";
import { Kernels } from "../widgets/kernels/kernels.js";
import { LanguageChoice } from "../widgets/language.js";
import { Latency } from "../widgets/engine/latency.js";
import { Offline } from "../widgets/engine/offline.js";
import { Status } from "../widgets/engine/status.js";

/** @param {string} id @returns {any} */
const byTestId = (id) => document.querySelector(`[data-testid=${id}]`);

/** @param {string} id @returns {any} */
const byId = (id) => document.getElementById(id);

const address = readAddress();

/** @typedef {import("./address.js").View} View */

/** The time of the answer in each view. @type {Partial<Record<View, number | null>>} */
const times = {};

/** Whether the page has been ready. */
let started = false;

/** Whether a model of the site has answered. */
let answered = false;

/** Milliseconds for which a page that is ready waits for a first question, before it keeps its files. */
const IDLE_MS = 3000;

new LanguageChoice(byTestId("language-select"));
const status = new Status(byTestId("status"), () => {
  engine.retry();
  answerAgain();
});
const offline = new Offline(byTestId("offline-state"), byTestId("install"));
const bootLog = new BootLog(byTestId("boot-log"));
const latency = new Latency(byTestId("latency"));
const device = new DeviceChoice(byTestId("device-select"), byTestId("device-info"), (chosen) => {
  remember("device", chosen);
  engine.switchTo(chosen);
  answerAgain();
});
const engine = new Engine(address.device, {
  status: (now) => {
    status.show(now);
    if (now.state === "ready") {
      started = true;
      offline.announce();
      setTimeout(() => offline.begin(), IDLE_MS);
    } else if (now.state === "error") {
      void renew(now.words);
    }
  },
  started: (now) => {
    device.show(now);
    both.started(now);
    for (const view of Object.values(views)) view.started?.();
  },
  stage: (stage) => bootLog.show(stage),
  compiled: (done, total) => bootLog.compiled(done, total),
  again: (failed, died) => {
    bootLog.note(failed);
    answerAgain(failed, died);
  },
  failed: (failure) => void renew(failure),
  warned: (warnings) => kernels.warn(warnings),
});
const both = new Both(byId("both"), engine);
const kernels = new Kernels(byTestId("kernels-panel"), engine, () => answerAgain());
const views = /** @type {Record<View, import("../views/registry.js").View>} */ (
  Object.fromEntries(
    Object.entries(VIEWS).map(([name, View]) => {
      const view = new View(byId(`view-${name}`), {
        engine,
        model: address.model,
        timed: (ms) => timed(/** @type {View} */ (name), ms),
        chosen: (model) => {
          remember("model", model);
          answerAgain();
        },
      });
      return [name, view];
    }),
  )
);

function showView() {
  const now = viewOf();
  for (const name of /** @type {View[]} */ (Object.keys(views))) {
    byId(`view-${name}`).hidden = name !== now;
    byId(`to-${name}`).setAttribute("aria-current", name === now ? "page" : "false");
  }
  showPanels();
  showTime(now);
  void engine.prepare(() => views[now].model());
}

/** The panels about answers of the site's models: from the first of these on. */
function showPanels() {
  const about = answered && modelKind(viewOf());
  for (const part of [byId("both"), byTestId("kernels-panel")]) part.hidden = !about;
}

/**
 * The device, the model or a failure has changed: what is on the page wants a new answer.
 * @param {import("../i18n/messages.js").Words} [begun]  what is being done about it
 * @param {boolean} [died]  whether the worker was what failed
 */
function answerAgain(begun = words("preparing"), died = false) {
  status.show({ state: "loading", words: begun });
  void engine.prepare(() => views[viewOf()].model(), begun);
  for (const view of Object.values(views)) view.answer(died);
}

/**
 * Something failed. If that is because the server has a newer version, have that: by itself where
 * nothing of the visitor's would be lost.
 * @param {import("../i18n/messages.js").Words} failure
 */
async function renew(failure) {
  const missing = missingIn(failure);
  if ((started && !missing) || !(await outdated(missing))) return;
  const untouched = Object.values(views).every((view) => view.untouched);
  if (!untouched || !(await startOver(missing))) offline.offer();
}

/**
 * @param {View} view
 * @param {number | null} ms
 */
function timed(view, ms) {
  times[view] = ms;
  if (ms !== null) {
    void offline.begin(); // the first answer had the network for itself
    if (modelKind(view)) answered = true;
    showPanels();
  }
  if (view === viewOf()) showTime(view);
}

/** @param {View} view */
function showTime(view) {
  const ms = times[view] ?? null;
  latency.show(ms);
  const find = /** @type {() => Promise<string>} */ (() => views[view].model());
  const model = ms === null || !modelKind(view) ? null : find;
  kernels.answered(model);
  both.answered(model);
}

/**
 * Keep a choice in the address, so that a reload or a link brings it back.
 * @param {string} key
 * @param {string} value
 */
function remember(key, value) {
  const url = new URL(location.href);
  url.searchParams.set(key, value);
  history.replaceState(null, "", url);
}

/** @param {DataTransfer} transfer  dropped or pasted: for the view that they are for, or this one */
function takeFiles(transfer) {
  const all = /** @type {View[]} */ (Object.keys(views)).filter((name) => views[name].drop);
  const files = [...transfer.files];
  const name =
    all.find((each) => views[each].claims?.(files)) ??
    all.find((each) => each === viewOf()) ??
    all[0];
  location.hash = `#${name}`;
  views[name].drop?.(transfer);
}

/** Files may be dropped anywhere, or pasted; the browser would leave the page for it. */
function takeDrops() {
  let depth = 0;
  const hover = (/** @type {number} */ change) => {
    depth = change === 0 ? 0 : depth + change;
    document.body.classList.toggle("dropping", depth > 0);
  };
  addEventListener("dragenter", () => hover(1));
  addEventListener("dragleave", () => hover(-1));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    hover(0);
    if (event.dataTransfer) takeFiles(event.dataTransfer);
  });
  addEventListener("paste", ({ clipboardData: pasted }) => {
    if (pasted?.files.length) takeFiles(pasted);
  });
}

byId("unstarted").remove();
device.wish(address.device);
addEventListener("hashchange", showView);
takeDrops();
showView();
