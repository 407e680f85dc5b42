// @ts-check
/**
 * The page's first and smallest module. It starts the worker, which can then open the device and
 * look for saved plans while the page's other modules are still loading.
 */

import { startFirstWorker } from "../engine/first_worker.js";
import { asked } from "./address.js";

startFirstWorker(asked);
