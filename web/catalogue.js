// @ts-check
/**
 * What models there are, and what is known of each: models/manifest.json, the cards, the labels.
 */

import { fetchJson } from "./fetch.js";
import { text } from "./text.js";

/** The model that reads drawn digits. */
export const DIGIT_MODEL = "mnist";

/**
 * @typedef {object} ModelEntry  one entry of models/manifest.json
 * @property {string} name
 * @property {string} title
 * @property {"digit" | "image"} task
 * @property {string} file    the .onnx, relative to models/
 * @property {string} card    the card, relative to models/
 * @property {number} bytes   size of the .onnx
 * @property {string} sha256  of the .onnx
 */

/**
 * @typedef {object} Card  what the page needs of a card.json
 * @property {string} name
 * @property {string} title
 * @property {{size: number, crop: number}} preprocess
 * @property {string} labels  relative to models/
 */

/** @type {Promise<ModelEntry[]> | undefined} */
let manifest;

/**
 * Every model that this site carries.
 * @returns {Promise<ModelEntry[]>}
 */
export async function listModels() {
  manifest ??= fetchJson("models/manifest.json").then((found) => found.models);
  try {
    return await manifest;
  } catch (error) {
    manifest = undefined; // so that the next call asks the server again
    throw error;
  }
}

/**
 * @param {string} name
 * @returns {Promise<ModelEntry>}
 */
export async function findModel(name) {
  const models = await listModels();
  const entry = models.find((model) => model.name === name);
  if (!entry) {
    const names = models.map((model) => model.name).join(", ");
    throw new Error(text.noModel(name, names));
  }
  return entry;
}

/**
 * @param {ModelEntry} entry
 * @returns {Promise<Card>}
 */
export const fetchCard = (entry) => fetchJson(`models/${entry.card}`);

/**
 * @param {Card} card
 * @returns {Promise<string[]>}  one label a class
 */
export const fetchLabels = (card) => fetchJson(`models/${card.labels}`);
