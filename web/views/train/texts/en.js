// @ts-check
/** English texts of the Train view. */

import { texts as classes } from "./en/classes.js";
import { texts as insight } from "./en/insight.js";
import { texts as layers } from "./en/layers.js";
import { texts as review } from "./en/review.js";
import { texts as run } from "./en/run.js";
import { texts as take } from "./en/take.js";

export const texts = { ...run, ...classes, ...layers, ...insight, ...review, ...take };
