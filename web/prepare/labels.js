// @ts-check
/**
 * Reads labels of classes from a file: one per line; JSON, as a list or as an object by index; or
 * CSV, where the first column may be the index.
 */

import { LocalizedError, words } from "../i18n/messages.js";

/** Names of files that may contain labels. */
export const LABELS = /\.(txt|json|csv|names)$/i;

/** The beginning of a line in lists of ImageNet's classes. */
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

/**
 * @param {string} content
 * @returns {string[]}  the last column, by the index in the first one if there is one
 */
function fromTable(content) {
  const rows = linesOf(content).map(cells);
  const isIndex = (/** @type {string[]} */ row) => row.length > 1 && /^\d{1,6}$/.test(row[0]);
  const headed = rows.length > 1 && !isIndex(rows[0]) && rows.slice(1).every(isIndex);
  const heading = /^(labels?|class(es)?|names?|display_name|class_name|category)$/i;
  if (headed || heading.test(rows[0].at(-1) ?? "")) rows.shift();
  /** @type {string[]} */
  const labels = [];
  const indexed = rows.every(isIndex);
  rows.forEach((row, i) => (labels[indexed ? Number(row[0]) : i] = row.at(-1) ?? ""));
  return labels;
}

/** Split a line at its commas, except those in quotes. @param {string} line */
function cells(line) {
  const found = line.matchAll(/(?:^|,)(?:\s*"((?:[^"]|"")*)"\s*|([^,]*))/g);
  return [...found].map(([, quoted, plain]) => (quoted?.replaceAll('""', '"') ?? plain).trim());
}
