// @ts-check
/**
 * The first of the page's modules, and a small one: starts the worker, so that it opens the device and
 * looks for what earlier visits have kept while the page's other modules are still on their way.
 */

import { begin } from "./begun.js";

begin();
