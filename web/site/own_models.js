// @ts-check
/**
 * The networks that the visitor has trained, as models of this site. They have entries, cards,
 * labels and files like those of models/, but in the browser's cache, where
 * views/train/use/kept_models.js writes them.
 */

import { keptFile } from "./fetch.js";

/** @typedef {import("./catalogue.js").ModelEntry & {run: string}} OwnEntry  run: its run in Train */

/** @returns {Promise<OwnEntry[]>}  the oldest first; none if the browser keeps nothing */
export async function ownModels() {
  const kept = keptFile("models/own/list.json").then((found) => found?.json());
  return (await kept.catch(() => null)) ?? [];
}
