// @ts-check
/**
 * Trained networks that other views ask: the browser keeps their files as those of a model of this
 * site (site/own_models.js). A network that learns on becomes another model, under another name, so
 * that nothing that knows the one before takes the new one for it.
 */

import { digest, hex } from "../../../shared/bytes.js";
import { SITE } from "../../../site/fetch.js";
import { ownModels } from "../../../site/own_models.js";

/** @typedef {import("../../../site/own_models.js").OwnEntry} OwnEntry */

/** An origin may have several sites, at other paths. */
const MODELS = `tallow:models:1:${SITE.href}`;

/**
 * @typedef {object} Given  a network
 * @property {string} run
 * @property {number} step
 * @property {string} title
 * @property {"digit" | "image"} task
 * @property {object} preprocess  as in cards of models/
 * @property {string[]} labels
 * @property {Uint8Array<ArrayBuffer>} content  ONNX: the preprocessed picture to logits
 */

/**
 * Keep a network instead of the run's last one.
 * @param {Given} given
 * @returns {Promise<string>}  the model's name
 * @throws {DOMException}  QuotaExceededError if it does not fit; the last one is kept then
 */
export function keepModel({ run, step, title, task, preprocess, labels, content }) {
  const name = `${run}-${step}`;
  const file = `own/${name}/network.onnx`;
  const card = `own/${name}/card.json`;
  const named = `own/${name}/labels.json`;
  return alone(async () => {
    const [bytes, sha256] = [content.length, hex(await digest(content))];
    const about = { name, title, preprocess, output: { kind: "logits" }, labels: named };
    const graph = { file, bytes, sha256 };
    /** @type {import("../../../site/streamed.js").Piece[]} */
    const pieces = [[bytes, sha256]];
    const others = (await ownModels()).filter((each) => each.run !== run);
    try {
      await put(named, JSON.stringify(labels));
      await put(card, JSON.stringify(about));
      await put(file, content);
      await list([...others, { run, name, title, task, file, card, bytes, sha256, graph, pieces }]);
    } finally {
      await tidy();
    }
    return name;
  });
}

/** Remove a run's network. @param {string} run */
export const dropModel = (run) =>
  alone(async () => {
    const kept = await ownModels();
    const others = kept.filter((each) => each.run !== run);
    if (others.length === kept.length) return;
    await list(others);
    await tidy();
  });

/** Give a run's network another title. @param {string} run @param {string} title */
export const renameModel = (run, title) =>
  alone(async () => {
    const kept = await ownModels();
    if (!kept.some((each) => each.run === run)) return;
    await list(kept.map((each) => (each.run === run ? { ...each, title } : each)));
  });

/**
 * Change what is kept, one tab at a time.
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
const alone = (work) => navigator.locks.request(MODELS, work);

/** @param {string} path  relative to models/ @param {BodyInit} content */
async function put(path, content) {
  const cache = await caches.open(MODELS);
  await cache.put(new URL(`models/${path}`, SITE), new Response(content));
}

/** @param {OwnEntry[]} entries */
const list = (entries) => put("own/list.json", JSON.stringify(entries));

/** Delete the files that no listed model has. */
async function tidy() {
  const names = new Set((await ownModels()).map(({ name }) => name));
  const cache = await caches.open(MODELS);
  for (const { url } of await cache.keys()) {
    const [name, file] = url.split("/").slice(-2);
    if (file !== "list.json" && !names.has(name)) await cache.delete(url);
  }
}
