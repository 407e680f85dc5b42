// @ts-check
/**
 * Answers about pictures as text to copy: JSON, or CSV with a line for each picture and class.
 */

/**
 * @typedef {object} Result  of one picture
 * @property {string} name            of its file
 * @property {string | null} model    none without an answer
 * @property {import("../../widgets/bars.js").Row[]} rows  best first
 * @property {string | null} failure  why there is no answer, if that is known
 */

/** @param {Result[]} results @returns {string} */
export function toJson(results) {
  const told = results.map(({ name, model, rows, failure }) => ({
    file: name,
    ...(model ? { model, classes: rows } : { error: failure }),
  }));
  return `${JSON.stringify(told, null, 2)}\n`;
}

const COLUMNS = ["file", "model", "rank", "index", "label", "probability", "error"];

/** RFC 4180: lines end with CR and LF, each text stands in quotes. @param {Result[]} results */
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
 * A text in quotes. Spreadsheets take what begins with one of these signs for a formula, in quotes
 * too; an apostrophe before it has them show it as it is.
 * @param {string} words
 */
function text(words) {
  const harmless = /^[\s]*[=+\-@\t\r\n]/.test(words) ? `'${words}` : words;
  return `"${harmless.replaceAll('"', '""')}"`;
}
