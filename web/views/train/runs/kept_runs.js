// @ts-check
/**
 * The runs that the browser keeps, in the origin-private file system: a folder for each, whose
 * files py/tallow_page/train/runs.py describes. The worker writes there; a file is written beside
 * its name and renamed.
 */

import { SITE } from "../../../site/fetch.js";

/** @typedef {import("../../../shared/contract.js").TrainRun} TrainRun */

/** An origin may have several sites, at other paths. */
const FOLDERS = ["tallow", "runs", encodeURIComponent(SITE.href)];

const PART = ".part";

/** @param {string} run */
const lockOf = (run) => `tallow:run:${SITE.href}:${run}`;

/** @param {boolean} create @returns {Promise<any>} */
async function root(create) {
  /** @type {any} */
  let folder = await navigator.storage.getDirectory();
  for (const name of FOLDERS) folder = await folder.getDirectoryHandle(name, { create });
  return folder;
}

/** @param {string} run @param {boolean} [create] @returns {Promise<any>}  null if there is none */
async function folderOf(run, create = false) {
  try {
    return await (await root(create)).getDirectoryHandle(run, { create });
  } catch (error) {
    if (/** @type {any} */ (error).name === "NotFoundError") return null;
    throw error;
  }
}

/** @param {any} folder @returns {Promise<string[]>} */
async function namesIn(folder) {
  const names = [];
  for await (const name of folder.keys()) names.push(name);
  return names.sort();
}

/** The names of a run's files. @param {string} run */
export async function files(run) {
  const folder = await folderOf(run);
  return folder ? (await namesIn(folder)).filter((name) => !name.endsWith(PART)) : [];
}

/** @param {string} run @param {string} file */
export async function read(run, file) {
  const folder = await folderOf(run);
  const blob = await (await folder.getFileHandle(file)).getFile();
  return new Uint8Array(await blob.arrayBuffer());
}

/**
 * Write a file as a whole.
 * @param {string} run
 * @param {string} file
 * @param {Uint8Array<ArrayBuffer>} content
 * @returns {Promise<string>}  "" or why it failed: "full" without space; the old one stays then
 */
export async function write(run, file, content) {
  try {
    const folder = await folderOf(run, true);
    const handle = await folder.getFileHandle(`${file}${PART}`, { create: true });
    const access = await handle.createSyncAccessHandle();
    try {
      access.truncate(0);
      if (access.write(content, { at: 0 }) < content.length) return "full";
      access.flush();
    } finally {
      access.close();
    }
    await handle.move(file);
    return "";
  } catch (error) {
    const { name, message } = /** @type {any} */ (error);
    return name === "QuotaExceededError" ? "full" : message || name;
  }
}

/** Remove a file. @param {string} run @param {string} file */
export async function drop(run, file) {
  await (await folderOf(run))?.removeEntry(file).catch(() => {});
}

/** Remove a run. @param {string} run */
export async function remove(run) {
  await (await root(true)).removeEntry(run, { recursive: true });
}

/**
 * What is kept, the newest first. Of a damaged run only its folder's name is known.
 * @returns {Promise<(TrainRun | {run: string, damaged: true})[]>}
 */
export async function all() {
  const names = await namesIn(await root(true));
  const runs = names.reverse().map(async (run) => {
    try {
      return { ...JSON.parse(new TextDecoder().decode(await read(run, "about.json"))), run };
    } catch {
      return { run, damaged: /** @type {const} */ (true) };
    }
  });
  return Promise.all(runs);
}

/** Give a run another name. @param {string} run @param {string} name */
export async function rename(run, name) {
  const about = JSON.parse(new TextDecoder().decode(await read(run, "about.json")));
  await write(run, "about.json", new TextEncoder().encode(JSON.stringify({ ...about, name })));
}

/**
 * Work on a run while no other tab does.
 * @template T
 * @param {string} run
 * @param {() => Promise<T>} work
 * @returns {Promise<T | null>}  null if another tab has it
 */
export async function alone(run, work) {
  return navigator.locks.request(lockOf(run), { ifAvailable: true }, (lock) =>
    lock ? work() : null,
  );
}
