// @ts-check
/** Published models and data that this site has: what others have made, fetched when it is chosen. */

import { SITE, fetchJson } from "./fetch.js";

/** @typedef {"write" | "find" | "listen" | "voice" | "train"} Task  what it is for; train: data */

/**
 * @typedef {object} Published
 * @property {string} name
 * @property {string} title
 * @property {number} bytes    of all its files
 * @property {number} memory   bytes that it takes while it is open
 * @property {string} licence  as SPDX names it
 * @property {{name: string, url: string, bytes: number, sha256: string}[]} files  what Python's
 *   `opened` takes (tallow_page/published.py); the url is absolute
 */

/** @type {Promise<any[]> | undefined} */
let list;

/**
 * @param {Task} task
 * @returns {Promise<Published[]>}  the models for it, the first of which is the one to begin with
 * @throws {import("./fetch.js").FetchError}
 */
export async function published(task) {
  list ??= fetchJson("models/published.json");
  try {
    const models = await list;
    return models.filter((model) => model.task === task).map(described);
  } catch (error) {
    list = undefined; // so that the next call fetches it again
    throw error;
  }
}

/**
 * @param {any} model  one of models/published.json
 * @returns {Published}
 */
function described({ name, title, memory, licence, files: listed }) {
  const folder = new URL(`models/published/${name}/`, SITE);
  const files = listed.map((/** @type {any} */ { file, ...facts }) => ({
    name: file,
    url: new URL(file, folder).href,
    ...facts,
  }));
  let bytes = 0;
  for (const file of files) bytes += file.bytes;
  return { name, title, bytes, memory, licence, files };
}
