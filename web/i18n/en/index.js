// @ts-check
/** The page's English texts. Every language has the same entries. */

import { files } from "./files.js";
import { messages } from "./messages.js";
import { panels } from "./panels.js";

/** Those of no view. */
export const own = { ...messages, ...panels, ...files };

/** The page adds those of the views (../languages.js). */
export default /** @type {typeof own & ViewTexts} */ (own);
