// @ts-check
/**
 * A worker of the pool (pool.js). It waits for jobs without returning to its event loop, which it
 * does only for mail: programs and jobs that are new, or gone.
 */

import {
  ASLEEP,
  begin,
  callOf,
  cuts,
  DONE,
  jobOf,
  MAIL,
  STOPPED,
  WAITING,
  WORK,
} from "./claims.js";

/**
 * @typedef {import("./claims.js").Kernel} Kernel
 *
 * @typedef {object} Mail
 * @property {Start} [start]  in the first one
 * @property {{number: number, module: WebAssembly.Module, memory: WebAssembly.Memory}[]} programs
 * @property {{id: number, program: number, kernel: Kernel, addresses: number[],
 *   scratch: Scratch}[]} jobs
 * @property {number[]} gone  programs
 *
 * @typedef {{words: Int32Array, number: number, threads: number}} Start  number: of this thread
 *
 * @typedef {{start: number, size: number}} Scratch  the address of the first thread's scratch
 *   memory, which others' follow, and the bytes of each
 */

/** How long a worker looks for the next job before it sleeps: longer than most steps take. */
const AWAKE_MS = 1;

/** @type {Start} */
let start;

let received = 0;

/** @type {Map<number, WebAssembly.Exports>} */
const programs = new Map();

/** @type {Map<number, import("./claims.js").Job & {program: number}>} */
const jobs = new Map();

globalThis.onmessage = (/** @type {MessageEvent<Mail>} */ { data }) => {
  received += 1;
  start ??= /** @type {Start} */ (data.start);
  try {
    read(data);
  } catch (error) {
    console.warn(error); // other threads compute the jobs that this one does not know
  }
  work(start.words);
};

/** @param {Mail} mail */
function read(mail) {
  for (const number of mail.gone) {
    programs.delete(number);
    for (const [id, { program }] of jobs) if (program === number) jobs.delete(id);
  }
  for (const { number, module, memory } of mail.programs) {
    programs.set(number, new WebAssembly.Instance(module, { tallow: { memory } }).exports);
  }
  for (const { id, program, kernel, addresses, scratch } of mail.jobs) {
    const exports = programs.get(program);
    if (!exports) continue;
    const call = callOf(exports, kernel, addresses, scratch.start + start.number * scratch.size);
    jobs.set(id, { id, program, call, cuts: cuts(kernel.units ?? 0, start.threads) });
  }
}

/**
 * Compute parts of jobs until there is mail.
 * @param {Int32Array} words
 */
function work(words) {
  for (;;) {
    const word = Atomics.load(words, WORK);
    if (Atomics.load(words, MAIL) !== received) return;
    const job = jobs.get(jobOf(word));
    const part = job ? begin(words, job) : -1;
    if (job && part >= 0) compute(words, job, part);
    else idle(words, word);
  }
}

/**
 * @param {Int32Array} words
 * @param {import("./claims.js").Job} job
 * @param {number} part
 */
function compute(words, { call, cuts }, part) {
  try {
    call(cuts[part], cuts[part + 1]);
  } catch {
    Atomics.store(words, STOPPED, part + 1); // the pool finds out why
  }
  Atomics.add(words, DONE, 1);
  if (Atomics.load(words, WAITING)) Atomics.notify(words, DONE);
}

/**
 * Return when the word WORK is another one.
 * @param {Int32Array} words
 * @param {number} word
 */
function idle(words, word) {
  const until = performance.now() + AWAKE_MS;
  do {
    for (let turn = 0; turn < 50; turn++) if (Atomics.load(words, WORK) !== word) return;
  } while (performance.now() < until);
  Atomics.add(words, ASLEEP, 1);
  Atomics.wait(words, WORK, word);
  Atomics.sub(words, ASLEEP, 1);
}
