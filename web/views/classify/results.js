// @ts-check
/** Formats results as text to copy: JSON, or CSV with a line for each picture and class. */

/**
 * @typedef {object} Result  of one picture
 * @property {string} name            of its file
 * @property {string | null} model    null without an answer
 * @property {import("../../widgets/bars.js").Row[]} rows  in descending order of probability
 * @property {string | null} failure  why there is no answer, if known
 */

/** @param {Result[]} results @returns {string} */
export function toJson(results) {
  const files = results.map(({ name, model, rows, failure }) => ({
    file: name,
    ...(model ? { model, classes: rows } : { error: failure }),
  }));
  return `${JSON.stringify(files, null, 2)}\n`;
}

const COLUMNS = ["file", "model", "rank", "index", "label", "probability", "error"];

/** CSV as in RFC 4180: lines end with CR and LF, texts are in quotes. @param {Result[]} results */
export function toCsv(results) {
  const lines = results.flatMap(({ name, model, rows, failure }) => {
    if (!model) return [[text(name), "", "", "", "", "", text(failure ?? "")]];
    return rows.map(({ index, label, probability }, i) => [
      ...[text(name), text(model), i + 1, index, text(label), probability.toFixed(6), ""],
    ]);
  });
  return [COLUMNS, ...lines].map((line) => `${line.join(",")}\r\n`).join("");
}

/**
 * Quote a text. Spreadsheets take texts that begin with one of these signs for formulas, even in
 * quotes; an apostrophe prevents that.
 * @param {string} words
 */
function text(words) {
  const harmless = /^[\s]*[=+\-@\t\r\n]/.test(words) ? `'${words}` : words;
  return `"${harmless.replaceAll('"', '""')}"`;
}
