// @ts-check
/** The settings in which runs differ. */

/** @typedef {import("../../../shared/contract.js").TrainRun} TrainRun */

/**
 * The settings in which runs differ: [name, the value of each run].
 * @param {Pick<TrainRun, "settings">[]} runs
 * @returns {[string, string[]][]}
 */
export function differences(runs) {
  const tables = runs.map(({ settings }) => flat(settings));
  const names = new Set(tables.flatMap((table) => Object.keys(table)));
  return [...names]
    .map(
      (name) => /** @type {[string, string[]]} */ ([name, tables.map((each) => each[name] ?? "–")]),
    )
    .filter(([, values]) => new Set(values).size > 1);
}

/** Settings by their paths. @param {any} settings @returns {Record<string, string>} */
function flat(settings, path = "") {
  if (Array.isArray(settings)) return { [path]: settings.map(described).join(", ") || "–" };
  if (settings === null || typeof settings !== "object") return { [path]: String(settings ?? "–") };
  const parts = Object.entries(settings).map(([name, value]) =>
    flat(value, path ? `${path} ${name}` : name),
  );
  return Object.assign({}, ...parts);
}

/** A layer, such as "conv2d 6 5", or a text. @param {any} item */
const described = (item) => (typeof item === "object" ? Object.values(item).join(" ") : item);
