// @ts-check
/** Names of files that hold a hash of the content, as py/tallow_build/site.py gives them. */

export const HASHED = /-[0-9a-f]{10}[./]/;

/** @param {string} path @returns {string}  the hash in it, as lists of files have it; "" if none */
export const markOf = (path) => HASHED.exec(path)?.[0].slice(0, -1) ?? "";
