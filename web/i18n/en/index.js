// @ts-check
/** The page's English texts. Every language has the same entries. */

import { classify } from "./classify.js";
import { draw } from "./draw.js";
import { messages } from "./messages.js";
import { open } from "./open.js";
import { panels } from "./panels.js";

export default { ...messages, ...panels, ...draw, ...classify, ...open };
