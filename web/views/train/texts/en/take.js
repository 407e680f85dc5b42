// @ts-check
/** English texts of the Train view: take. */

export const texts = {};
