// @ts-nocheck: see toy.js
/** The worker's side of the toy view. */

/** @param {import("../../worker/services.js").Services} services */
export default ({ app }) => ({
  /** @param {{number: number}} args */
  double: ({ number }) => app.inTurn(() => app.ask("toy.double", number)),
});
