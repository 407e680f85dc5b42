// @ts-check
/** File names that contain a hash of the content, as made by py/tallow_build/page/site.py. */

export const HASHED = /-[0-9a-f]{10}[./]/;

/**
 * @param {string} path
 * @returns {string}  the hash in it, as it appears in lists of files; "" if none
 */
export const markOf = (path) => HASHED.exec(path)?.[0].slice(0, -1) ?? "";
