// @ts-check
/** The models, those of models/manifest.json and the visitor's own, with their cards and labels. */

import { fetchJson } from "./fetch.js";
import { ownModels } from "./own_models.js";
import { LocalizedError, words } from "../i18n/messages.js";
import { language } from "../i18n/text.js";

/** The site's model that recognises drawn digits. */
export const DIGIT_MODEL = "mnist";

/**
 * @typedef {"digit" | "image"} Task
 *
 * @typedef {object} ModelEntry  one entry of models/manifest.json
 * @property {string} name
 * @property {string} title
 * @property {Task} task
 * @property {string} file    the .onnx, relative to models/
 * @property {string} card    the card, relative to models/
 * @property {number} bytes   size of the .onnx
 * @property {string} sha256  of the .onnx
 * @property {{file: string, bytes: number, sha256: string}} graph  the model without the large
 *   weights of the .onnx
 * @property {import("./streamed.js").Piece[]} pieces  of the .onnx; each weight lies within one
 *   piece
 */

/**
 * @typedef {object} Card  the part of a card.json that the page needs
 * @property {string} name
 * @property {string} title
 * @property {{size: number, crop: number}} preprocess
 * @property {string} labels  in English, relative to models/
 * @property {Record<string, string>} [labels_in]  in other languages
 */

/** @type {Promise<ModelEntry[]> | undefined} */
let manifest;

/** @returns {Promise<ModelEntry[]>}  all models of this site */
async function listModels() {
  manifest ??= fetchJson("models/manifest.json").then((found) => found.models);
  try {
    return await manifest;
  } catch (error) {
    manifest = undefined; // so that the next call fetches it again
    throw error;
  }
}

/**
 * @param {string} task
 * @returns {Promise<ModelEntry[]>}  the site's models for the task, then the visitor's own
 */
export async function modelsFor(task) {
  const [site, own] = await Promise.all([listModels(), ownModels()]);
  return [...site, ...own].filter((model) => model.task === task);
}

/**
 * @param {string} name
 * @returns {Promise<ModelEntry>}
 */
export async function findModel(name) {
  const models = await listModels();
  const named = (/** @type {ModelEntry} */ model) => model.name === name;
  const entry = models.find(named) ?? (await ownModels()).find(named);
  if (!entry) {
    const names = models.map((model) => model.name).join(", ");
    throw new LocalizedError(words("noModel", name, names));
  }
  return entry;
}

/**
 * @param {string} task
 * @param {string | null} wanted  the name of a model
 * @returns {Promise<string>}  that name, or the first model's if the task has no such model
 */
export async function modelFor(task, wanted) {
  const models = await modelsFor(task);
  return (models.find(({ name }) => name === wanted) ?? models[0]).name;
}

/** @type {Map<string, Promise<Card>>} */
const cards = new Map();

/**
 * @param {ModelEntry} entry
 * @returns {Promise<Card>}
 */
export async function fetchCard({ card }) {
  const found = cards.get(card) ?? fetchJson(`models/${card}`);
  cards.set(card, found);
  try {
    return await found;
  } catch (error) {
    cards.delete(card); // so that the next call fetches it again
    throw error;
  }
}

/** Fetched labels, by file. @type {Map<string, Promise<string[]>>} */
const labels = new Map();

/**
 * @param {string} model  the name of a model for photographs
 * @returns {Promise<string[]>}  a label for each class, in the page's language if available
 */
export async function labelsOf(model) {
  const wanted = language;
  const card = await fetchCard(await findModel(model));
  const file = card.labels_in?.[wanted] ?? card.labels;
  const found = labels.get(file) ?? fetchJson(`models/${file}`);
  labels.set(file, found);
  try {
    await found;
  } catch (error) {
    labels.delete(file); // so that the next call fetches it again
    if (language === wanted) throw error;
  }
  return language === wanted ? found : labelsOf(model); // the language changed meanwhile
}
