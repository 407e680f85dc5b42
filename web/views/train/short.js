// @ts-check
/** A loss or a learning rate, short enough to stand beside others. */

import { value } from "../../shared/format.js";

/** Characters that fit into a column of figures, and beside an axis. */
const FITTING = 8;

/** @param {number} figure @param {string} [plain]  how it is shown where that fits */
export const short = (figure, plain = value(figure)) =>
  plain.length > FITTING || figure >= 1e5 ? figure.toExponential(2).replace("+", "") : plain;
