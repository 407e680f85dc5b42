// @ts-check
/**
 * The views, by their names in views.json, which also gives the order of the menu.
 *
 * A view is a folder NAME/ with NAME.html, styles, modules and texts/. Its <section> has the label for
 * the menu. The build puts the HTML and the styles into the page (py/tallow_build/page/documents.py).
 * To add a view, make the folder, and add a line in views.json, lines here, and tests.
 */

import { Classify } from "./classify/classify.js";
import * as classifyEn from "./classify/texts/en.js";
import * as classifyZh from "./classify/texts/zh.js";
import { Draw } from "./draw/draw.js";
import * as drawEn from "./draw/texts/en.js";
import * as drawZh from "./draw/texts/zh.js";
import { Open } from "./open/open.js";
import * as openEn from "./open/texts/en.js";
import * as openZh from "./open/texts/zh.js";

/**
 * @typedef {keyof typeof import("./views.json")} ViewName
 *
 * @typedef {object} Page  provided to a view
 * @property {import("../engine/engine.js").Engine} engine
 * @property {(ms: number | null) => void} timed  called with the time of each answer, null for none
 * @property {string | null} model  the model that the address asks for
 * @property {(model: string) => void} chosen  called when the visitor chooses another model
 *
 * @typedef {object} View
 * @property {() => Promise<string | null>} model  the model of the site that it needs, if any
 * @property {(died: boolean) => void} answer  answers again after a change of the device or a
 *   failure; died: whether the worker failed
 * @property {boolean} untouched  whether the visitor has entered nothing
 * @property {() => void} [started]  called when the worker has started, perhaps on another device
 * @property {(transfer: DataTransfer) => void} [drop]  takes files that were dropped or pasted
 * @property {(files: File[]) => boolean} [claims]  whether these files are for this view only
 */

/** @type {Record<ViewName, new (root: HTMLElement, page: Page) => View>} */
export const VIEWS = {
  draw: Draw,
  classify: Classify,
  open: Open,
};

/** Their texts. */
export const TEXTS = {
  en: [drawEn, classifyEn, openEn],
  zh: [drawZh, classifyZh, openZh],
};
