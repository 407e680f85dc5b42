// @ts-check
/**
 * The GGUF files of a model at the Hugging Face hub, by the hub's API
 * (huggingface.co/docs/hub/api, "GET /api/models/{repo_id}/revision/{revision}").
 */

import { LocalizedError, words } from "../../i18n/messages.js";

const HUB = "https://huggingface.co";

/** A name, perhaps within the address of its page. */
const NAME = /^(?:https:\/\/huggingface\.co\/)?(\w[\w.-]*\/\w[\w.-]*?)(?:\/tree\/main)?\/?$/;

/** What a part of a model in several files ends with. */
const PART = /-\d{5}-of-\d{5}\.gguf$/;

/** @typedef {import("../../site/published.js").Published["files"]} Files */

/** @param {string} text  what a visitor has typed @returns {string | null}  "owner/name" */
export const hubName = (text) => NAME.exec(text.trim())?.[1] ?? null;

/**
 * The models in blocks that a name has: each is a file, or the parts of one.
 * @param {string} name  "owner/name"
 * @returns {Promise<{name: string, bytes: number, files: Files}[]>}  the smallest first
 * @throws {LocalizedError}  if there is none, or the hub does not say
 */
export async function ggufFiles(name) {
  let listed;
  try {
    const response = await fetch(`${HUB}/api/models/${name}/revision/main?blobs=true`);
    // The hub answers 401 for what is not there, since it might be private.
    if ([401, 403, 404].includes(response.status))
      throw new LocalizedError(words("writeNotAtHub", name));
    if (!response.ok) throw new LocalizedError(words("writeHubRefused", response.status));
    listed = await response.json();
  } catch (error) {
    throw error instanceof LocalizedError ? error : new LocalizedError(words("writeNoHub"));
  }
  /** @type {Map<string, Files>} */
  const models = new Map();
  for (const { rfilename: path, size, lfs } of listed?.siblings ?? []) {
    if (!/\.gguf$/.test(path) || /(^|\/)mmproj/.test(path) || !lfs?.sha256) continue;
    const parts = path.split("/");
    const url = `${HUB}/${name}/resolve/${listed.sha}/${parts.map(encodeURIComponent).join("/")}`;
    const own = path.replace(PART, ".gguf");
    const file = { name: parts.at(-1), url, bytes: size, sha256: lfs.sha256 };
    models.set(own, [...(models.get(own) ?? []), file]);
  }
  if (!models.size) throw new LocalizedError(words("writeNoGguf", name));
  return [...models]
    .map(([own, files]) => ({ name: own, bytes: sum(files), files }))
    .sort((a, b) => a.bytes - b.bytes);
}

/** @param {Files} files */
const sum = (files) => files.reduce((all, { bytes }) => all + bytes, 0);
