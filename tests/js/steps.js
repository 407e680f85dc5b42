// @ts-check
/** What the tests share: promises that a test resolves, and turns of the loop. */

/** A promise, and how it ends. */
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
  promise.catch(() => {}); // perhaps nobody waits
  return { promise, resolve, reject };
}

/** Resolves when all that can be done now has been done. @returns {Promise<void>} */
export const turn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * A promise whose failure is looked at later.
 * @template T
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
export function later(promise) {
  promise.catch(() => {});
  return promise;
}
