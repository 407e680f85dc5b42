// @ts-check
/** What the page's address asks for: #draw, #classify, #open; ?device=webgpu|numpy; ?model=<name>. */

/** @typedef {"draw" | "classify" | "open"} View */

/** @returns {View} */
export function viewOf() {
  const name = location.hash.slice(1);
  return name === "classify" || name === "open" ? name : "draw";
}

/** @typedef {ReturnType<typeof readAddress>} Address */

/** All of it; model: of photographs. */
export function readAddress() {
  const wishes = new URLSearchParams(location.search);
  const device = /** @type {"webgpu" | "numpy"} */ (
    wishes.get("device") === "numpy" ? "numpy" : "webgpu"
  );
  return { device, view: viewOf(), model: wishes.get("model") };
}
