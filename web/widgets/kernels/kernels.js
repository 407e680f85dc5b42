// @ts-check
/**
 * Shows the kernels of the last answer: what each computes, its time, its slots and its WGSL.
 *
 * A profile runs the network again. So it waits until the panel is open and the page has been quiet
 * for a moment, because answers come first.
 */

import { follow } from "../../i18n/show.js";
import { NotReady } from "../../engine/engine.js";
import { Latest } from "../../shared/latest.js";
import * as format from "../../shared/format.js";
import { words, wordsOf } from "../../i18n/messages.js";
import { text } from "../../i18n/text.js";
import { CopyButton } from "../copy_button.js";
import { Message } from "../message.js";
import { SavedFiles } from "../saved_files.js";
import { Tuning } from "./tuning.js";
import { highlight } from "./wgsl.js";

/**
 * @typedef {import("../../shared/contract.js").Kernel} Kernel
 * @typedef {import("../../shared/contract.js").Profile} Profile
 * @typedef {import("../../shared/contract.js").Profiled} Answer
 * @typedef {() => Promise<string>} FindModel
 */

/** The page counts as quiet after this many milliseconds without a new answer. */
const QUIET_MS = 400;

export class Kernels {
  #root;
  #about;
  #found;
  #order;
  #rows;
  #title;
  #facts;
  #code;
  #copy;
  #tuning;
  /** The model of the last answer. @type {FindModel | null} */
  #asked = null;
  /** Whether that answer was not profiled yet. */
  #stale = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {Answer | null} */
  #answer = null;
  #files = new SavedFiles();
  /** The number of the kernel whose code is shown. */
  #chosen = 0;
  /** @type {Latest<FindModel, Answer>} */
  #latest;

  /**
   * @param {HTMLDetailsElement} root
   * @param {import("../../engine/engine.js").Engine} engine
   * @param {() => void} reloaded  called when tuning has changed a model's kernels
   */
  constructor(root, engine, reloaded) {
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    this.#root = root;
    this.#about = new Message(find(".about"));
    this.#found = /** @type {HTMLElement} */ (find(".found"));
    this.#order = /** @type {HTMLSelectElement} */ (find(".order"));
    this.#rows = /** @type {HTMLElement} */ (find("tbody"));
    this.#title = /** @type {HTMLElement} */ (find("h3"));
    this.#facts = /** @type {HTMLElement} */ (find(".facts"));
    this.#code = /** @type {HTMLElement} */ (find("[data-testid=kernels-wgsl]"));
    this.#copy = new CopyButton(
      find("[data-testid=kernels-copy]"),
      "copy",
      () => this.#code.textContent ?? "",
      (_, copied) => {
        if (!copied) getSelection()?.selectAllChildren(this.#code);
      },
    );
    this.#latest = new Latest(
      async (model) => engine.profile(await model()),
      (answer) => this.#show(answer),
      (error) => this.#fail(error),
    );
    this.#tuning = new Tuning(find(".tuning"), engine, {
      started: () => clearTimeout(this.#timer),
      ended: (changed) => (changed ? reloaded() : this.#refresh(0)),
    });
    root.addEventListener("toggle", () => this.#refresh(0));
    this.#order.addEventListener("change", () => this.#list());
    find("[data-testid=kernels-plan]").addEventListener("click", () => this.#save("plan"));
    find("[data-testid=kernels-trace]").addEventListener("click", () => this.#save("trace"));
    follow(root, () => {
      if (this.#answer && this.#root.dataset.state === "ready") this.#show(this.#answer);
    });
    this.answered(null);
  }

  /**
   * The page shows another answer.
   * @param {FindModel | null} model  that gave it; null if the page shows none
   */
  answered(model) {
    this.#asked = model;
    this.#stale = Boolean(model);
    this.#latest.forget();
    if (model) this.#refresh(QUIET_MS);
    else this.#say("idle", words("noKernelsYet"));
  }

  /** Show warnings about the tuning. @param {import("./tuning.js").Warning[]} warnings */
  warn(warnings) {
    this.#tuning.warn(warnings);
  }

  /**
   * Profile, if the panel is open and no tuning is under way.
   * @param {number} delay  milliseconds
   */
  #refresh(delay) {
    clearTimeout(this.#timer);
    if (!this.#stale || !this.#root.open) return;
    this.#say("waiting", words("measuring"));
    if (this.#tuning.running) return;
    this.#timer = setTimeout(() => {
      if (!this.#asked) return;
      this.#stale = false;
      this.#latest.ask(this.#asked);
    }, delay);
  }

  /**
   * @param {"idle" | "waiting" | "ready" | "error"} state
   * @param {import("../../i18n/messages.js").Words} words
   * @param {() => void} [again]
   */
  #say(state, words, again) {
    this.#root.dataset.state = state;
    this.#about.show(words, again);
    this.#found.ariaBusy = String(state === "waiting");
    this.#found.hidden = !this.#answer || state === "idle" || state === "error";
    this.#tuning.offer(state === "ready" ? this.#asked : null);
  }

  /** @param {Error} error */
  #fail(error) {
    this.#files.forget();
    this.#answer = null;
    this.#stale = true;
    if (error instanceof NotReady) this.#say("idle", words("noKernelsYet"));
    else this.#say("error", words("profileFailed", wordsOf(error)), () => this.#refresh(0));
  }

  /** @param {Answer} answer */
  #show(answer) {
    const { profile } = answer;
    const same = this.#answer?.profile.name === profile.name;
    if (answer !== this.#answer) this.#files.forget();
    this.#answer = answer;
    if (!same || this.#chosen > profile.kernels.length) {
      const slowest = Math.max(...profile.kernels.map(({ share }) => share));
      this.#chosen = profile.kernels.find(({ share }) => share === slowest)?.number ?? 0;
    }
    this.#root.dataset.source = profile.source;
    this.#say("ready", text.profiled(profile));
    this.#list();
    this.#choose(this.#chosen);
    if (!same) this.#reveal();
  }

  /** Show the rows in the chosen order. */
  #list() {
    const kernels = [...(this.#answer?.profile.kernels ?? [])];
    if (this.#order.value === "time") kernels.sort((a, b) => b.share - a.share);
    const focused = this.#rows.contains(document.activeElement);
    const largest = Math.max(...kernels.map(({ share }) => share));
    this.#rows.replaceChildren(...kernels.map((kernel) => this.#row(kernel, largest)));
    /** @type {HTMLInputElement | null} */
    const checked = this.#rows.querySelector("input:checked");
    if (focused) checked?.focus();
  }

  /** Scroll the table, but not the page, to the chosen kernel. */
  #reveal() {
    const row = this.#rows.querySelector("tr:has(:checked)");
    const box = this.#rows.closest(".scroll");
    if (!row || !box) return;
    const down = row.getBoundingClientRect().top - box.getBoundingClientRect().top;
    box.scrollTop += down - box.clientHeight / 2;
  }

  /**
   * @param {Kernel} kernel
   * @param {number} largest  the largest share, whose bar has full length
   */
  #row(kernel, largest) {
    const { number, name, anchor, ops, shape, milliseconds, share, gflops } = kernel;
    const row = document.createElement("tr");
    row.setAttribute("role", "row");
    row.dataset.testid = "kernels-row";
    row.dataset.name = name;
    row.dataset.share = String(share);
    // A group of radio buttons is a single tab stop; the arrow keys move between the kernels.
    const input = Object.assign(document.createElement("input"), {
      type: "radio",
      name: "kernel",
      checked: number === this.#chosen,
    });
    input.addEventListener("change", () => this.#choose(number));
    row.addEventListener("click", () => {
      input.click();
      input.focus({ preventScroll: true });
    });
    const label = document.createElement("label");
    label.append(input, part("b", anchor), " ", part("span", format.shape(shape)));
    if (ops.length > 1) label.append(part("small", ops.join(" + ")));
    const track = part("span", "");
    track.className = "track";
    track.style.setProperty("--share", (share / (largest || 1)).toFixed(4));
    const about = this.#answer?.profile.source === "counted" ? "≈ " : "";
    const bytes = `${format.bytes(kernel.read)} → ${format.bytes(kernel.written)}`;
    row.append(
      cell("number", String(number)),
      cell("kernel", label),
      cell("share", track, part("span", format.percent(share))),
      cell("time", about + format.milliseconds(milliseconds)),
      cell("gflops", gflops ? about + format.gflops(gflops) : "–"),
      cell("bytes", bytes),
      cell("slots", `${kernel.reads.join(", ")} →\u00a0${kernel.writes}`),
    );
    return row;
  }

  /** Show the code of this kernel. @param {number} number */
  #choose(number) {
    const answer = this.#answer;
    const kernel = answer?.profile.kernels.find((each) => each.number === number);
    if (!answer || !kernel) return;
    this.#chosen = number;
    this.#title.textContent = `${number} · ${kernel.ops.join(" + ")}`;
    const onGpu = kernel.module >= 0;
    const code = onGpu ? answer.plan.modules[kernel.module] : (kernel.code ?? "");
    const constants = Object.entries(kernel.constants).map(([key, value]) => `${key} = ${value}`);
    const groups = kernel.workgroups.join(" × ");
    this.#facts.textContent = onGpu ? [text.workgroups(groups), ...constants].join(", ") : "";
    this.#copy.button.hidden = !code;
    this.#code.classList.toggle("none", !code);
    this.#code.replaceChildren(code ? highlight(code.trim()) : text.noCode);
    this.#code.scrollTop = 0;
  }

  /** @param {"plan" | "trace"} what */
  #save(what) {
    if (!this.#answer) return;
    const content = this.#answer[what];
    const type = "application/json";
    this.#files.save(
      `${this.#answer.profile.name}.${what}.json`,
      () => new Blob([JSON.stringify(content)], { type }),
    );
  }
}

/**
 * @param {string} tag
 * @param {string} content
 */
function part(tag, content) {
  return Object.assign(document.createElement(tag), { textContent: content });
}

/**
 * @param {string} name
 * @param {...(string | Node)} content
 */
function cell(name, ...content) {
  const made = Object.assign(document.createElement("td"), { className: name });
  made.setAttribute("role", "cell"); // the narrow layout is a grid, which would remove the role
  made.append(...content);
  return made;
}
