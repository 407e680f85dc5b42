// @ts-check
/** The English text tables. */

export { classify } from "../../../web/i18n/en/classify.js";
export { draw } from "../../../web/i18n/en/draw.js";
export { messages } from "../../../web/i18n/en/messages.js";
export { open } from "../../../web/i18n/en/open.js";
export { page } from "../../../web/i18n/en/page.js";
export { panels } from "../../../web/i18n/en/panels.js";
