// @ts-check
/**
 * How threads share the steps of programs: through a few words of memory that all of them have.
 *
 * A step that threads share is a job, cut into parts. The word WORK holds the present job and the
 * number of its next part, so that a thread that increases it has begun that part and nothing else,
 * however late: what the word says is all that there is to know.
 */

/** The words. */
export const [WORK, DONE, STOPPED, ASLEEP, WAITING, MAIL, WORDS] = [0, 1, 2, 3, 4, 5, 6];

const PART_BITS = 10;
const PART = (1 << PART_BITS) - 1;

/** The number of jobs that there can be. Job 0 is none. */
export const JOBS = 1 << (32 - PART_BITS);

/**
 * @typedef {object} Job
 * @property {number} id
 * @property {(first: number, end: number) => void} call  computes a part, given by its first unit
 *   and the one behind its last
 * @property {number[]} cuts  where parts begin, and where the last one ends
 *
 * @typedef {{function?: string, scratch?: number, units?: number, sizes?: number[]}} Kernel  of a
 *   step: see py/tallow/devices/wasm/target.py
 */

// Why: docs/decisions/threads.md, "A step's job and its next part are one word, which threads
// increase"
/** The word with which a job begins. @param {number} id */
export const wordOf = (id) => id << PART_BITS;

/** @param {number} word  WORK */
export const jobOf = (word) => word >>> PART_BITS;

/**
 * Where the parts begin that threads take one after the other, and where the last one ends. They
 * get smaller, so that all threads end at about the same time, even if one is interrupted; but not
 * smaller than two units if there are two for each thread, since kernels of few units gain by
 * computing several at once. py/tallow/devices/wasm/threads.py cuts in the same way.
 * @param {number} units
 * @param {number} threads
 */
export function cuts(units, threads) {
  const found = [0];
  const few = Math.min(Math.floor(units / threads), 2);
  const least = Math.max(Math.ceil(units / (16 * threads)), few);
  for (let end = 0; end < units; found.push(end)) {
    const left = units - end;
    end += Math.min(Math.max(Math.ceil(left / (2 * threads)), least), left);
  }
  return found;
}

/**
 * Begin the next part of a job.
 * @param {Int32Array} words
 * @param {Job} job
 * @returns {number}  the part; -1 if all have begun, or the job is not the present one
 */
export function begin(words, { id, cuts }) {
  for (;;) {
    const word = Atomics.load(words, WORK);
    const part = word & PART;
    if (jobOf(word) !== id || part >= cuts.length - 1) return -1;
    if (Atomics.compareExchange(words, WORK, word, word + 1) === word) return part;
  }
}

/**
 * A step as a call on one thread.
 * @param {WebAssembly.Exports} exports
 * @param {Kernel} kernel
 * @param {number[]} addresses  of what it reads and writes
 * @param {number} scratch  the address of this thread's scratch memory
 */
export function callOf(exports, kernel, addresses, scratch) {
  const run = /** @type {(...numbers: number[]) => void} */ (exports[kernel.function ?? ""]);
  const own = kernel.scratch === undefined ? addresses : [...addresses, scratch];
  const given = [...own, ...(kernel.sizes ?? [])];
  return (/** @type {number[]} */ ...units) => run(...given, ...units);
}
