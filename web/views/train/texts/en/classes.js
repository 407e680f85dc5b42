// @ts-check
/** English texts of the Train view: classes. */

export const texts = {};
