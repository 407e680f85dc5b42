// @ts-check
/** Formats numbers for the page, in the same way for every language. */

/** @param {number} bytes */
export const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

/** @param {number} count */
export function bytes(count) {
  if (count < 1000) return `${count} B`;
  return count < 1e6 ? `${(count / 1000).toFixed(1)} kB` : `${megabytes(count)} MB`;
}

/** The time of an answer. @param {number} ms */
export function time(ms) {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  return `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}

/** The time of a kernel. @param {number} ms */
export const milliseconds = (ms) => `${ms.toFixed(ms < 10 ? 3 : 1)} ms`;

/** @param {number} share */
export const percent = (share) => `${(share * 100).toFixed(1)} %`;

/** @param {number} gflops */
export const gflops = (gflops) => gflops.toFixed(gflops < 10 ? 2 : 0);

/** @param {number[]} shape */
export const shape = (shape) => shape.join("×");

/** A shape without a batch of one. @param {number[]} shape */
export const picture = ([batch, ...sizes]) => shape(batch === 1 ? sizes : [batch, ...sizes]);

/** A number near 0. @param {number} figure */
export const tiny = (figure) => String(Number(figure.toPrecision(2)));

/** A whole number. @param {number} whole */
export const count = (whole) => whole.toLocaleString("en-US");

/** A value of a tensor. @param {number | bigint} value */
export const value = (value) =>
  typeof value === "bigint" || Number.isInteger(value)
    ? String(value)
    : String(Number(value.toPrecision(5)));
