// @ts-check
/** English texts of the toy view. */

export const texts = {
  /** @param {number} twice */
  toyTwice: (twice) => `Twice that is ${twice}.`,
};
