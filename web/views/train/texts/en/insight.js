// @ts-check
/** English texts of the Train view: insight. */

export const texts = {};
