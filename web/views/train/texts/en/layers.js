// @ts-check
/** English texts of the Train view: layers. */

export const texts = {};
