// @ts-check
/**
 * Names of classes from a file: a line each; JSON, as a list or as an object by index; or a table of
 * values between commas, one of which may be the index.
 */

import { LocalizedError, words } from "../i18n/messages.js";

/** Names of the files that may hold labels. */
export const LABELS = /\.(txt|json|csv|names)$/i;

/** What lists of ImageNet's classes begin a line with. */
const SYNSET = /^n\d{8}[\s,:]+/;

/**
 * @param {File} file
 * @returns {Promise<string[]>}
 * @throws {LocalizedError}
 */
export async function readLabels(file) {
  const content = (await file.text()).replace(/^\uFEFF/, "");
  const labels = /\.csv$/i.test(file.name)
    ? fromTable(content)
    : /^\s*[[{]/.test(content)
      ? fromJson(content)
      : linesOf(content).map((line) => line.trim().replace(SYNSET, ""));
  if (!labels?.some(Boolean)) throw new LocalizedError(words("openNotLabels", file.name));
  return labels;
}

/** @param {string} content */
const linesOf = (content) => content.trimEnd().split(/\r?\n/);

/** @param {string} content @returns {string[] | null} */
function fromJson(content) {
  let found;
  try {
    found = JSON.parse(content);
  } catch {
    return null;
  }
  const list = found?.id2label ?? found?.labels ?? found; // as in the configurations of many models
  if (typeof list !== "object" || list === null) return null;
  /** @type {string[]} */
  const labels = [];
  for (const [index, label] of Object.entries(list)) {
    if (!/^\d{1,6}$/.test(index)) continue;
    // In some lists a label is a code and a name.
    labels[Number(index)] = String(Array.isArray(label) ? label.at(-1) : label);
  }
  return labels;
}

/** @param {string} content @returns {string[]}  of the last column, by the first if that counts */
function fromTable(content) {
  const rows = linesOf(content).map(cells);
  const isIndex = (/** @type {string[]} */ row) => row.length > 1 && /^\d{1,6}$/.test(row[0]);
  const headed = rows.length > 1 && !isIndex(rows[0]) && rows.slice(1).every(isIndex);
  const said = /^(labels?|class(es)?|names?|display_name|class_name|category)$/i;
  if (headed || said.test(rows[0].at(-1) ?? "")) rows.shift();
  /** @type {string[]} */
  const labels = [];
  const counted = rows.every(isIndex);
  rows.forEach((row, at) => (labels[counted ? Number(row[0]) : at] = row.at(-1) ?? ""));
  return labels;
}

/** What stands between the commas of a line; one that is quoted may hold commas. @param {string} line */
function cells(line) {
  const found = line.matchAll(/(?:^|,)(?:\s*"((?:[^"]|"")*)"\s*|([^,]*))/g);
  return [...found].map(([, quoted, plain]) => (quoted?.replaceAll('""', '"') ?? plain).trim());
}
