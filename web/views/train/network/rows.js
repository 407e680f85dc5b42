// @ts-check
/** A table of layers as a value: each change gives another table. */

/**
 * A layer: its kind, and numbers by the names of the kind's fields.
 * @typedef {{kind: string, [field: string]: string | number | null}} Row
 * @typedef {import("../../../shared/contract.js").LayerKind} LayerKind
 */

/** A new row, with what the fields are if nothing is said. @param {LayerKind} kind @returns {Row} */
export const fresh = ({ kind, fields }) => ({
  kind,
  ...Object.fromEntries(fields.map(({ name, value }) => [name, value])),
});

/** @param {readonly Row[]} rows @param {number} at @param {Row} row */
export const inserted = (rows, at, row) => rows.toSpliced(at, 0, row);

/** @param {readonly Row[]} rows @param {number} at */
export const removed = (rows, at) => rows.toSpliced(at, 1);

/**
 * A row changes places with the one above it or below; none at an end.
 * @param {readonly Row[]} rows
 * @param {number} at
 * @param {number} by  -1 or 1
 */
export function moved(rows, at, by) {
  const to = at + by;
  return to < 0 || to >= rows.length ? [...rows] : rows.with(at, rows[to]).with(to, rows[at]);
}

/**
 * A row of another kind, which keeps the numbers of the fields that both kinds have.
 * @param {readonly Row[]} rows
 * @param {number} at
 * @param {LayerKind} kind
 */
export function converted(rows, at, kind) {
  const row = fresh(kind);
  for (const { name } of kind.fields) if (name in rows[at]) row[name] = rows[at][name];
  return rows.with(at, row);
}

/**
 * @param {readonly Row[]} rows
 * @param {number} at
 * @param {string} field
 * @param {string} typed  what an input holds; what is no number becomes null
 */
export function changed(rows, at, field, typed) {
  const value = typed.trim() === "" ? Number.NaN : Number(typed);
  return rows.with(at, { ...rows[at], [field]: Number.isFinite(value) ? value : null });
}
