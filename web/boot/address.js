// @ts-check
/** What the page's address asks for: #draw, #classify, #open; ?device=webgpu|numpy; ?model=<name>. */

import views from "../views/views.json" with { type: "json" };

/** @typedef {keyof typeof views} View */

/** @returns {View}  the first one if the address names none */
export function viewOf() {
  const names = /** @type {View[]} */ (Object.keys(views));
  return names.find((name) => name === location.hash.slice(1)) ?? names[0];
}

/** What kind of model of the site answers in a view, null if none does. @param {View} view */
export const modelKind = (view) => views[view].model;

/** @typedef {ReturnType<typeof readAddress>} Address */

/** All of it; model: of photographs; kind: of the model that answers first. */
export function readAddress() {
  const wishes = new URLSearchParams(location.search);
  const device = /** @type {"webgpu" | "numpy"} */ (
    wishes.get("device") === "numpy" ? "numpy" : "webgpu"
  );
  return { device, kind: modelKind(viewOf()), model: wishes.get("model") };
}
