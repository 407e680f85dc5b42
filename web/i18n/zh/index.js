// @ts-check
/** The page's Chinese texts. Every language has the same entries. */

import { classify } from "./classify.js";
import { draw } from "./draw.js";
import { messages } from "./messages.js";
import { open } from "./open.js";
import { panels } from "./panels.js";

/** @type {import("../text.js").Text} */
export default { ...messages, ...panels, ...draw, ...classify, ...open };
