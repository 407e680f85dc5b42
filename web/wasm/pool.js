// @ts-check
/**
 * A pool of workers that share the steps of programs with the thread that owns the pool.
 *
 * That thread computes parts of each step too, and waits only for parts that a worker has begun. So
 * a worker that starts late, or that the system does not schedule, costs nothing.
 */

import { DeviceError } from "../gpu/errors.js";
import {
  ASLEEP,
  begin,
  DONE,
  JOBS,
  MAIL,
  STOPPED,
  WAITING,
  wordOf,
  WORDS,
  WORK,
} from "./claims.js";

/**
 * @typedef {import("./claims.js").Job} Job
 * @typedef {import("./claims.js").Kernel} Kernel
 * @typedef {import("./thread.js").Mail} Mail
 *
 * @typedef {object} Thread  a Worker that runs thread.js
 * @property {(mail: Mail) => void} postMessage
 * @property {() => void} terminate
 */

/** How often the pool looks again before it waits for others. */
const LOOKS = 2000;

/** A part takes much less time; a worker that needs more has died. */
const STUCK_MS = 5000;

export class Pool {
  #words = new Int32Array(new SharedArrayBuffer(4 * WORDS));
  /** @type {Thread[]} */
  #workers = [];
  #patience;
  #jobs = 0;
  #programs = 0;
  /** Programs that are in use. */
  #used = 0;
  #retired = false;
  #mails = 0;
  /** What workers do not know yet. @type {Mail} */
  #news = noNews();

  /**
   * @param {number} threads  with the one that owns the pool
   * @param {() => Thread} start
   * @param {number} [patience]
   */
  constructor(threads, start, patience = STUCK_MS) {
    this.threads = threads;
    this.#patience = patience;
    for (let number = 1; number < threads; number++) this.#workers.push(start());
    const words = this.#words;
    this.#send((index) => ({ ...noNews(), start: { words, number: index + 1, threads } }));
  }

  /** Whether it has workers. */
  get open() {
    return this.#workers.length > 0;
  }

  /**
   * Add a program.
   * @param {WebAssembly.Module} module
   * @param {WebAssembly.Memory} memory  shared
   * @returns {number}
   */
  enter(module, memory) {
    const number = ++this.#programs;
    this.#used += 1;
    this.#news.programs.push({ number, module, memory });
    return number;
  }

  /**
   * Add a step of a program.
   * @param {number} program
   * @param {Kernel} kernel
   * @param {number[]} addresses
   * @param {import("./thread.js").Scratch} scratch
   * @returns {number}  its id; 0 if there can be no more
   */
  add(program, kernel, addresses, scratch) {
    if (this.#jobs + 1 >= JOBS) return 0;
    const id = ++this.#jobs;
    this.#news.jobs.push({ id, program, kernel, addresses, scratch });
    return id;
  }

  /** Remove a program. @param {number} program */
  leave(program) {
    this.#used -= 1;
    this.#news.gone.push(program);
    this.#tell();
    if (this.#retired && !this.#used) this.close();
  }

  /** End the workers once no program is left. */
  retire() {
    this.#retired = true;
    if (!this.#used) this.close();
  }

  /** End the workers; the thread that owns the pool goes on alone. */
  close() {
    for (const worker of this.#workers) worker.terminate();
    this.#workers = [];
  }

  /**
   * Compute a job.
   * @param {Job} job
   * @throws {Error}  what a part has thrown; DeviceError if a worker is gone
   */
  run(job) {
    const { call, cuts } = job;
    if (!this.open) return call(0, cuts[cuts.length - 1]);
    if (this.#news.jobs.length) this.#tell();
    const words = this.#words;
    Atomics.store(words, DONE, 0);
    Atomics.store(words, WORK, wordOf(job.id));
    if (Atomics.load(words, ASLEEP)) Atomics.notify(words, WORK);
    let others = cuts.length - 1;
    let failed = false;
    /** @type {unknown} */
    let failure;
    for (let part; (part = begin(words, job)) >= 0; others--) {
      if (failed) continue; // begun, so that no worker begins it
      try {
        call(cuts[part], cuts[part + 1]);
      } catch (error) {
        [failed, failure] = [true, error];
      }
    }
    this.#await(others);
    const stopped = Atomics.exchange(words, STOPPED, 0);
    if (failed) throw failure;
    if (stopped) call(cuts[stopped - 1], cuts[stopped]); // which throws here too, and says why
  }

  /**
   * Wait until workers have done so many parts.
   * @param {number} parts
   */
  #await(parts) {
    const words = this.#words;
    for (let look = 0; look < LOOKS; look++) if (Atomics.load(words, DONE) === parts) return;
    Atomics.store(words, WAITING, 1);
    for (let done; (done = Atomics.load(words, DONE)) !== parts;) {
      const told = Atomics.wait(words, DONE, done, this.#patience);
      if (told === "timed-out" && Atomics.load(words, DONE) === done) {
        this.close();
        throw new DeviceError(
          `a thread has not answered for ${this.#patience / 1000} seconds and was ended`,
        );
      }
    }
    Atomics.store(words, WAITING, 0);
  }

  /** Tell the workers the news. */
  #tell() {
    const news = this.#news;
    this.#news = noNews();
    this.#send(() => news);
  }

  /** @param {(index: number) => Mail} mail */
  #send(mail) {
    const words = this.#words;
    Atomics.store(words, MAIL, ++this.#mails);
    for (const [index, worker] of this.#workers.entries()) worker.postMessage(mail(index));
    Atomics.store(words, WORK, this.#mails & 1); // another word, and no job
    Atomics.notify(words, WORK);
  }
}

/** @returns {Mail} */
const noNews = () => ({ programs: [], jobs: [], gone: [] });
