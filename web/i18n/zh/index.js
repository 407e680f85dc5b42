// @ts-check
/** The page's Chinese texts. Every language has the same entries. */

import { files } from "./files.js";
import { messages } from "./messages.js";
import { panels } from "./panels.js";

/** @type {typeof import("../en/index.js").own} */
export default { ...messages, ...panels, ...files };
