// @ts-check
/**
 * A picture as the value of an input: its file, how it is fitted, and how its colours become
 * numbers.
 */

import { show } from "../../../i18n/show.js";
import { ValueError, isInteger, sizeOf } from "../../../prepare/elements.js";
import { readPhoto } from "../../../engine/photo.js";
import { formOf, layoutsOf, toTensor } from "../../../prepare/pictures.js";
import { words } from "../../../i18n/messages.js";
import { text } from "../../../i18n/text.js";
import { choice, make } from "../../../widgets/dom.js";

/**
 * @typedef {"unit" | "signed" | "bytes" | "imagenet"} Preset
 * @typedef {(name: string, label: () => string, control: any) => void} Add  shows a control
 */

/**
 * Mean and scale for colours from 0 to 255, as the visitor would type them. Most classifiers were
 * trained with those of ImageNet.
 * @type {Record<Preset, [string, string]>}
 */
const PRESETS = {
  unit: ["0", "1/255"],
  signed: ["127.5", "1/127.5"],
  bytes: ["0", "1"],
  imagenet: ["123.675, 116.28, 103.53", "1/58.395, 1/57.12, 1/57.375"],
};

export class OpenImage {
  #dtype;
  #controls;

  /**
   * @param {import("../facts.js").Info} info
   * @param {Add} add
   */
  constructor({ dtype, shape }, add) {
    this.#dtype = String(dtype);
    const say = (/** @type {string} */ value, /** @type {() => string} */ label) =>
      show(make("option", { value }), label);
    const presets = /** @type {Preset[]} */ (Object.keys(PRESETS));
    this.#controls = {
      file: make("input", { type: "file", accept: "image/*" }),
      fit: make(
        "select",
        {},
        say("middle", () => text.openFitMiddle),
        say("whole", () => text.openFitWhole),
      ),
      layout: choice(layoutsOf(shape ?? [])),
      order: choice(["RGB", "BGR"]),
      preset: make(
        "select",
        {},
        ...presets.map((preset) => say(preset, () => text.openPresets[preset])),
        say("own", () => text.openPresets.own),
      ),
      mean: make("input", { type: "text" }),
      scale: make("input", { type: "text" }),
    };
    const { file, fit, layout, order, preset, mean, scale } = this.#controls;
    add("file", () => text.openImage, file);
    add("fit", () => text.openFit, fit);
    add("layout", () => text.openLayout, layout);
    add("order", () => text.openOrder, order);
    add("preset", () => text.openPreset, preset);
    add("mean", () => text.openMean, mean);
    add("scale", () => text.openScale, scale);
    preset.value = isInteger(this.#dtype) ? "bytes" : "unit";
    this.#set();
    for (const each of [preset, order]) each.addEventListener("change", () => this.#set());
    for (const each of [mean, scale]) each.addEventListener("input", () => (preset.value = "own"));
  }

  /** Fill in the numbers of the chosen preset, in the order of the colours. */
  #set() {
    const { order, preset, mean, scale } = this.#controls;
    const found = PRESETS[/** @type {Preset} */ (preset.value)];
    if (!found) return;
    const ordered = (/** @type {string} */ typed) =>
      order.value === "BGR" ? typed.split(", ").reverse().join(", ") : typed;
    [mean.value, scale.value] = found.map(ordered);
  }

  /**
   * @param {number[]} shape
   * @returns {Promise<Float64Array>}  the same picture for the whole batch
   * @throws {import("../../../i18n/messages.js").LocalizedError}
   */
  async values(shape) {
    const { file, fit, layout, order, mean, scale } = this.#controls;
    const chosen = file.files?.[0];
    if (!chosen) throw new ValueError(words("openNoFile"));
    const form = formOf(shape, layout.value);
    const rules = {
      mean: rule(mean.value, form.channels),
      scale: rule(scale.value, form.channels),
      bgr: order.value === "BGR",
    };
    const photo = await readPhoto(chosen);
    const rgba = await photo.scaled(form.width, form.height, fit.value === "whole");
    const one = toTensor(rgba, form, rules);
    if (isInteger(this.#dtype)) one.forEach((x, i) => (one[i] = Math.round(x)));
    const all = new Float64Array(sizeOf(shape));
    for (let offset = 0; offset < all.length; offset += one.length) all.set(one, offset);
    return all;
  }
}

/**
 * Parse numbers or quotients such as 1/255: one, or one for each channel.
 * @param {string} typed
 * @param {number} channels
 */
function rule(typed, channels) {
  const found = typed
    .split(/[\s,[\]]+/)
    .filter(Boolean)
    .map((part) =>
      part
        .split("/")
        .map(Number)
        .reduce((value, by) => value / by),
    );
  if (![1, channels].includes(found.length) || !found.every(Number.isFinite)) {
    throw new ValueError(words("openBadRule"));
  }
  return found;
}
