// @ts-check
/**
 * The models in a repository of the Hugging Face hub, by the hub's API
 * (huggingface.co/docs/hub/api, "GET /api/models/{repo_id}/revision/{revision}").
 */

import { LocalizedError, words } from "../../i18n/messages.js";

const HUB = "https://huggingface.co";

/** A name, perhaps within the address of its page. */
const NAME = /^(?:https:\/\/huggingface\.co\/)?(\w[\w.-]*\/\w[\w.-]*?)(?:\/tree\/main)?\/?$/;

/** What a part of a model in several files ends with. */
const PART = /-\d{5}-of-\d{5}\.gguf$/;

/** The files that Python reads of a model in safetensors (`_wanted` in py/tallow/hub/named.py). */
const READ = /\.(json|jinja)$|^model(-.*)?\.safetensors$/;

/** @typedef {import("../../site/published.js").Published["files"]} Files */
/** @typedef {{name: string, bytes: number, source: import("./choice.js").Source}} Found */

/** @param {string} text  what a visitor has typed @returns {string | null}  "owner/name" */
export const hubName = (text) => NAME.exec(text.trim())?.[1] ?? null;

/**
 * The models that a repository has.
 * @param {string} name  "owner/name"
 * @param {"gguf" | "safetensors"} kind
 * @returns {Promise<Found[]>}  the smallest first
 * @throws {LocalizedError}  if there is none, or the hub does not answer
 */
export async function modelsAt(name, kind) {
  const listed = await listing(name);
  const found = kind === "gguf" ? inBlocks(name, listed) : whole(name, listed);
  if (!found.length) throw new LocalizedError(words("choiceNoFiles", name, kind));
  return found.sort((a, b) => a.bytes - b.bytes);
}

/** @param {string} name @returns {Promise<{sha: string, siblings: any[]}>} */
async function listing(name) {
  try {
    const response = await fetch(`${HUB}/api/models/${name}/revision/main?blobs=true`);
    // The hub answers 401 for what is not there, since it might be private.
    if ([401, 403, 404].includes(response.status))
      throw new LocalizedError(words("choiceNotAtHub", name));
    if (!response.ok) throw new LocalizedError(words("choiceHubRefused", response.status));
    const { sha, siblings } = (await response.json()) ?? {};
    return { sha, siblings: siblings ?? [] };
  } catch (error) {
    throw error instanceof LocalizedError ? error : new LocalizedError(words("choiceNoHub"));
  }
}

/**
 * Models in GGUF: each is a file, or the parts of one.
 * @param {string} name
 * @param {{sha: string, siblings: any[]}} listed
 * @returns {Found[]}
 */
function inBlocks(name, { sha, siblings }) {
  /** @type {Map<string, Files>} */
  const models = new Map();
  for (const { rfilename: path, size, lfs } of siblings) {
    if (!/\.gguf$/.test(path) || /(^|\/)mmproj/.test(path) || !lfs?.sha256) continue;
    const parts = path.split("/");
    const url = `${HUB}/${name}/resolve/${sha}/${parts.map(encodeURIComponent).join("/")}`;
    const own = path.replace(PART, ".gguf");
    const file = { name: parts.at(-1), url, bytes: size, sha256: lfs.sha256 };
    models.set(own, [...(models.get(own) ?? []), file]);
  }
  return [...models].map(([own, files]) => ({
    name: own,
    bytes: sum(files.map(({ bytes }) => bytes)),
    source: { files },
  }));
}

/**
 * The model in safetensors, if there is one. Python lists its files itself, at the same commit.
 * @param {string} name
 * @param {{sha: string, siblings: any[]}} listed
 * @returns {Found[]}
 */
function whole(name, { sha, siblings }) {
  const read = siblings.filter(({ rfilename }) => READ.test(rfilename));
  const has = (/** @type {string} */ ending) =>
    read.some(({ rfilename }) => rfilename.endsWith(ending));
  if (!has("config.json") || !has(".safetensors")) return [];
  return [{ name, bytes: sum(read.map(({ size }) => size)), source: { hub: name, revision: sha } }];
}

/** @param {number[]} sizes */
const sum = (sizes) => sizes.reduce((all, size) => all + size, 0);
