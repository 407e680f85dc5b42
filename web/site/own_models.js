// @ts-check
/**
 * The networks that the visitor has trained, as models of this site: the same entries, cards,
 * labels and files as those of models/, but kept in the browser (views/train/use/kept_models.js writes
 * them there).
 */

import { keptFile } from "./fetch.js";

/** @typedef {import("./catalogue.js").ModelEntry & {run: string}} OwnEntry  run: that trained it */

/** @returns {Promise<OwnEntry[]>}  the oldest first; none where the browser keeps nothing */
export async function ownModels() {
  const kept = keptFile("models/own/list.json").then((found) => found?.json());
  return (await kept.catch(() => null)) ?? [];
}
