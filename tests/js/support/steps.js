// @ts-check
/** Helpers for tests of asynchronous code. */

/** A promise with its resolvers. */
export function deferred() {
  /** @type {(value?: any) => void} */
  let resolve = () => {};
  /** @type {(error: Error) => void} */
  let reject = () => {};
  /** @type {Promise<any>} */
  const promise = new Promise((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(() => {}); // it may not be awaited
  return { promise, resolve, reject };
}

/** Resolves after all pending microtasks. @returns {Promise<void>} */
export const turn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * A promise whose rejection is handled later.
 * @template T
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
export function later(promise) {
  promise.catch(() => {});
  return promise;
}
