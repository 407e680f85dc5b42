// @ts-check
/** The worker's side of the Draw view. */

import { DIGIT_MODEL } from "../../site/catalogue.js";

/** @param {import("../../worker/services.js").Services} services */
export default ({ answer }) => ({
  /** @param {{pixels: Float32Array<ArrayBuffer>}} args  784 of 0..1, white ink on black */
  digit: ({ pixels }) => answer(DIGIT_MODEL, pixels, true),
});
