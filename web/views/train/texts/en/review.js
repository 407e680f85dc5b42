// @ts-check
/** English texts of the Train view: review. */

export const texts = {};
