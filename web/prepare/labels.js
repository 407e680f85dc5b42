// @ts-check
/**
 * Names of classes from a file: a line each, or JSON, as a list or as an object by index.
 */

import { Said, words } from "../said.js";

/**
 * @param {File} file
 * @returns {Promise<string[]>}
 * @throws {Said}
 */
export async function readLabels(file) {
  const content = (await file.text()).replace(/^\uFEFF/, "");
  const labels = /^\s*[[{]/.test(content)
    ? fromJson(content)
    : content
        .trimEnd()
        .split(/\r?\n/)
        .map((line) => line.trim());
  if (!labels?.some(Boolean)) throw new Said(words("openNotLabels", file.name));
  return labels;
}

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
