// @ts-check
/** The worker's side of the Classify view. */

import { best } from "../../worker/models/model.js";

/** @param {import("../../worker/services.js").Services} services */
export default ({ answer }) => ({
  /**
   * pixels: RGBA, size * size. watched: a class whose probability is always returned.
   * @param {{model: string, pixels: Uint8ClampedArray<ArrayBuffer>, watched: number, keep: boolean}} args
   */
  photo: async ({ model, pixels, watched, keep }) => {
    const { probabilities, ms } = await answer(model, pixels, keep);
    return { top: best(probabilities), watched: probabilities[watched], ms };
  },
});
