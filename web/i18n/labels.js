// @ts-check
/** What devices are called. */

import { DEVICES } from "../shared/devices.js";
import { words } from "./messages.js";

/** @param {import("../shared/devices.js").Device} device */
export const labelOf = (device) =>
  DEVICES[device].elsewhere ? words("elsewhere") : DEVICES[device].label;
