// @ts-check
/** The page: reads its address, makes the widgets, and connects them to the engine. */

import { asked, modelKind, readAddress, viewOf } from "./address.js";
import { Engine } from "../engine/engine.js";
import { startFirstWorker } from "../engine/first_worker.js";
import { missingIn, outdated, startOver } from "./renew.js";
import { addTexts } from "../i18n/languages.js";
import { words } from "../i18n/messages.js";
import { LATER, TEXTS, VIEWS } from "../runtime/pages.js";
import described from "../runtime/views.js";
import { Lazy } from "../views/lazy.js";
import { made } from "../views/made.js";
import { Comparison } from "../widgets/comparison.js";
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
startFirstWorker(asked); // unless begin.js has done it

/** Milliseconds that the last answer took, by view. @type {Record<string, number | null>} */
const times = {};

/** Whether the page was ever ready. */
let started = false;

/** Whether one of the site's models has answered. */
let answered = false;

/** Once ready, the page waits this long for a first question before it caches its files. */
const IDLE_MS = 3000;

addTexts(TEXTS);
new LanguageChoice(byTestId("language-select"));
const status = new Status(byTestId("status"), () => {
  engine.retry();
  answerAgain();
});
const offline = new Offline(byTestId("offline-state"), byTestId("install"));
const bootLog = new BootLog(byTestId("boot-log"));
const latency = new Latency(byTestId("latency"));
const device = new DeviceChoice(
  byTestId("device-select"),
  byTestId("device-info"),
  (chosen, machine) => {
    if (!machine) remember("device", chosen); // no address tells a token
    engine.switchTo(chosen, machine);
    answerAgain();
  },
  address.notThreads,
  (machine) => engine.connect(machine),
);
const engine = new Engine(
  address.device,
  {
    status: (current) => {
      status.show(current);
      if (current.state === "ready") {
        started = true;
        offline.announce();
        setTimeout(() => offline.begin(), IDLE_MS);
      } else if (current.state === "error") {
        void renew(current.words);
      }
    },
    started: (actual) => {
      device.show(actual);
      comparison.started();
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
  },
  {},
  address.threads,
);
const comparison = new Comparison(byId("both"), engine);
const kernels = new Kernels(byTestId("kernels-panel"), engine, () => answerAgain());
/** @type {Record<string, import("../views/view.js").View>} */
const views = Object.fromEntries(
  Object.entries(described).map(([name, { files = [] }]) => {
    const root = byId(`view-${name}`);
    /** @type {import("../views/view.js").Page} */
    const page = {
      engine,
      get model() {
        return readAddress().model;
      },
      timed: (ms) => timed(name, ms),
      chosen: (model, view) => {
        remember("model", model);
        if (view) location.hash = `#${view}`;
        else answerAgain();
      },
    };
    const load = LATER[name];
    return [name, load ? new Lazy(root, page, load, files) : made(VIEWS[name], root, page)];
  }),
);

function showView() {
  const current = viewOf();
  const view = views[current];
  if (view instanceof Lazy) void view.open();
  for (const name of Object.keys(views)) {
    byId(`view-${name}`).hidden = name !== current;
    byId(`to-${name}`).setAttribute("aria-current", name === current ? "page" : "false");
  }
  showPanels();
  showTime(current);
  void engine.prepare(() => views[current].model());
}

/** Show the panels about answers, once one of the site's models has answered. */
function showPanels() {
  const about = answered && modelKind(viewOf());
  for (const part of [byId("both"), byTestId("kernels-panel")]) part.hidden = !about;
}

/**
 * Answer again what is on the page, because the device or the model changed, or something failed.
 * @param {import("../i18n/messages.js").Words} [progress]  what to show meanwhile
 * @param {boolean} [died]  whether the worker failed
 */
function answerAgain(progress = words("preparing"), died = false) {
  status.show({ state: "loading", words: progress });
  void engine.prepare(() => views[viewOf()].model(), progress);
  for (const view of Object.values(views)) view.answer(died);
}

/**
 * Something failed. If the server has a newer version of the page, load it: automatically when the
 * visitor would lose nothing, otherwise on request.
 * @param {import("../i18n/messages.js").Words} failure
 */
async function renew(failure) {
  const missing = missingIn(failure);
  if ((started && !missing) || !(await outdated(missing))) return;
  const untouched = Object.values(views).every((view) => view.untouched);
  if (!untouched || !(await startOver(missing))) offline.offer();
}

/**
 * @param {string} view
 * @param {number | null} ms
 */
function timed(view, ms) {
  times[view] = ms;
  if (ms !== null) {
    void offline.begin(); // not earlier: the first answer needs the network more
    if (modelKind(view)) answered = true;
    showPanels();
  }
  if (view === viewOf()) showTime(view);
}

/** @param {string} view */
function showTime(view) {
  const ms = times[view] ?? null;
  latency.show(ms);
  const find = /** @type {() => Promise<string>} */ (() => views[view].model());
  const model = ms === null || !modelKind(view) ? null : find;
  kernels.answered(model);
  comparison.answered(model);
}

/**
 * Write a choice into the address, so that a reload or a link restores it.
 * @param {string} key
 * @param {string} value
 */
function remember(key, value) {
  const url = new URL(location.href);
  url.searchParams.set(key, value);
  history.replaceState(null, "", url);
}

/**
 * Hand files to the view that claims them, or to the current one.
 * @param {DataTransfer} transfer
 */
function takeFiles(transfer) {
  const all = Object.keys(views).filter((name) => views[name].drop);
  const files = [...transfer.files];
  const name =
    all.find((each) => views[each].claims?.(files)) ??
    all.find((each) => each === viewOf()) ??
    all[0];
  location.hash = `#${name}`;
  views[name].drop?.(transfer);
}

/** Accept files dropped or pasted anywhere; by default the browser would navigate to them. */
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
