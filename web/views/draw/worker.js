// @ts-check
/** The worker's side of the Draw view. */

/** @param {import("../../worker/services.js").Services} services */
export default ({ answer }) => ({
  /**
   * pixels: 784 of 0..1, white ink on black.
   * @param {{model: string, pixels: Float32Array<ArrayBuffer>}} args
   */
  digit: ({ model, pixels }) => answer(model, pixels, true),
});
