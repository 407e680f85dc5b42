// @ts-check
/**
 * The views, by their names in views.json, which is also the order of the menu.
 *
 * A view is a folder NAME/ with NAME.html, whose <section> has the word for the menu, its styles and its
 * modules. The build puts the HTML and the styles into the page (py/tallow_build/documents.py). To add one:
 * the folder, a line in views.json, a line here, its texts in i18n/, its tests.
 */

import { Classify } from "./classify/classify.js";
import { Draw } from "./draw/draw.js";
import { Open } from "./open/open.js";

/**
 * @typedef {keyof typeof import("./views.json")} ViewName
 *
 * @typedef {object} Page  what a view may ask of the page
 * @property {import("../engine/engine.js").Engine} engine
 * @property {(ms: number | null) => void} timed  hears the time of each answer, null for none
 * @property {string | null} model  the model that the address asks for
 * @property {(model: string) => void} chosen  hears that the visitor chose another model
 *
 * @typedef {object} View
 * @property {() => Promise<string | null>} model  the model of the site that it needs, if any
 * @property {(died: boolean) => void} answer  answers again what is on the page: the device has
 *   changed, or a failure is over; died: whether the worker was what failed
 * @property {boolean} untouched  whether there is nothing of the visitor's in it
 * @property {() => void} [started]  hears that the worker has started, perhaps on another device
 * @property {(transfer: DataTransfer) => void} [drop]  takes files that were dropped or pasted
 * @property {(files: File[]) => boolean} [claims]  whether such files are for this view alone
 */

/** @type {Record<ViewName, new (root: HTMLElement, page: Page) => View>} */
export const VIEWS = {
  draw: Draw,
  classify: Classify,
  open: Open,
};
