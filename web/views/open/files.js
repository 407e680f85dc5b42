// @ts-check
/**
 * Which of the visitor's files are the model and which lie beside it, and what is said where that is
 * not clear. py/tallow/formats/onnx/read/given.py finds the external data among those beside it.
 */

import { givenAs } from "../../prepare/files.js";
import { LocalizedError, words } from "../../i18n/messages.js";
import { make } from "../../widgets/dom.js";

/**
 * @typedef {import("../../prepare/files.js").Given} Given
 * @typedef {object} Files
 * @property {File} file  the model's own
 * @property {Given[]} others  with their paths from the model's folder, where that was given
 */

const MODEL = /\.onnx$/i;

/** Paths that are named at most. */
const NAMED = 20;

/** The paths of the files do not say which file is which. */
export class UnclearFilesError extends LocalizedError {
  name = "UnclearFilesError";
}

/**
 * What there is to open when these files come: the model among them, which is the one in the fewest
 * folders. Files without one join those of before.
 * @param {Given[]} given
 * @param {Files | null} before  of a model that lacks some
 * @returns {Files | null}  null where no file is a model
 * @throws {UnclearFilesError}  where two files have the same path
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
 * May both paths be meant for the same file, one with more of its folders?
 * @param {string} one
 * @param {string} other
 */
const mayBe = (one, other) => `/${one}`.endsWith(`/${other}`) || `/${other}`.endsWith(`/${one}`);

/**
 * The files that are worth a word if the model does not need them. A folder may hold anything: of those
 * that came in one, only other models are.
 * @param {Given[]} others
 * @param {string[]} unneeded  paths
 */
export function worthSaying(others, unneeded) {
  const left = new Set(unneeded);
  return others.filter(({ path, alone }) => left.has(path) && (alone || MODEL.test(path)));
}

/** @param {Given[]} files */
export function pathsOf(files) {
  const some = files.slice(0, NAMED).map(({ path }) => path);
  return [...some, ...(files.length > NAMED ? ["…"] : [])].join(", ");
}

/**
 * Have the visitor choose a folder.
 * @param {(files: Given[]) => void} take
 */
export function chooseFolder(take) {
  const input = make("input", { type: "file", webkitdirectory: "" });
  input.addEventListener("change", () => take([...input.files].map(givenAs)));
  input.click();
}
