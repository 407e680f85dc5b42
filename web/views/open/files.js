// @ts-check
/**
 * Decides which of the visitor's files is the model and which belong to it, and reports if that is
 * not clear. py/tallow/formats/onnx/read/given.py finds the external data among the latter.
 */

import { givenAs } from "../../prepare/files.js";
import { LocalizedError, words } from "../../i18n/messages.js";
import { make } from "../../widgets/dom.js";

/**
 * @typedef {import("../../prepare/files.js").Given} Given
 * @typedef {object} Files
 * @property {File} file  the model itself
 * @property {Given[]} others  with paths relative to the model's folder, if a folder was given
 */

const MODEL = /\.onnx$/i;

/** How many paths a message names. */
const MAX_NAMED = 20;

/** The files' paths do not show which file is which. */
export class UnclearFilesError extends LocalizedError {
  name = "UnclearFilesError";
}

/**
 * Find the model among these files: the one in the fewest folders. Files without a model are added
 * to the earlier ones.
 * @param {Given[]} given
 * @param {Files | null} before  of a model that lacks some files
 * @returns {Files | null}  null if there is no model
 * @throws {UnclearFilesError}  if two files have the same path
 */
export function filesAmong(given, before) {
  const models = given.filter(({ path }) => MODEL.test(path));
  models.sort((one, other) => depth(one.path) - depth(other.path));
  const model = models[0] ?? (given.length === 1 && !before ? given[0] : null);
  const file = model?.file ?? before?.file;
  if (!file) return null;
  const folder = model?.path.slice(0, -model.file.name.length) ?? "";
  const others = given
    .filter((each) => each !== model)
    .map((each) => ({ ...each, path: without(folder, each.path) }));
  const paths = others.map(({ path }) => path);
  const twice = paths.find((path, i) => paths.indexOf(path) < i);
  if (twice) throw new UnclearFilesError(words("openTwice", twice));
  const earlier = (model ? null : before)?.others ?? [];
  const kept = earlier.filter((old) => !paths.some((path) => mayBe(path, old.path)));
  return { file, others: [...kept, ...others] };
}

/** @param {string} path */
const depth = (path) => path.split("/").length;

/**
 * @param {string} folder  with its slash
 * @param {string} path
 */
const without = (folder, path) => (path.startsWith(folder) ? path.slice(folder.length) : path);

/**
 * Whether both paths may mean the same file, one with more of its folders.
 * @param {string} one
 * @param {string} other
 */
const mayBe = (one, other) => `/${one}`.endsWith(`/${other}`) || `/${other}`.endsWith(`/${one}`);

/**
 * The unneeded files to report. A folder may contain anything, so of its files only other models
 * are reported.
 * @param {Given[]} others
 * @param {string[]} unneeded  paths
 */
export function worthReporting(others, unneeded) {
  const left = new Set(unneeded);
  return others.filter(({ path, alone }) => left.has(path) && (alone || MODEL.test(path)));
}

/** @param {Given[]} files */
export function pathsOf(files) {
  const some = files.slice(0, MAX_NAMED).map(({ path }) => path);
  return [...some, ...(files.length > MAX_NAMED ? ["…"] : [])].join(", ");
}

/**
 * Let the visitor choose a folder.
 * @param {(files: Given[]) => void} take
 */
export function chooseFolder(take) {
  const input = make("input", { type: "file", webkitdirectory: "" });
  input.addEventListener("change", () => take([...input.files].map(givenAs)));
  input.click();
}
