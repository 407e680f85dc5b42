// @ts-check
/** The visitor's own data in the list of data, and how a network learns from few examples. */

import { LENET } from "../training.js";

/** @typedef {import("../../../site/own_examples.js").Kind | "text"} Kind */
/** @typedef {import("../training.js").Settings} Settings */

/** @type {Record<Kind, "trainOwnSigns" | "trainOwnThings" | "trainOwnNoises" | "trainOwnWords">} */
export const OWN = {
  signs: "trainOwnSigns",
  pictures: "trainOwnThings",
  sounds: "trainOwnNoises",
  text: "trainOwnWords",
};

/** @param {string} name @returns {name is Kind} */
export const isOwn = (name) => Object.hasOwn(OWN, name);

const conv = (/** @type {number} */ out, padding = 0) => ({
  kind: "conv2d",
  out,
  kernel: 5,
  padding,
});
const pool = { kind: "maxpool2d", size: 2 };
const relu = { kind: "relu" };
const block = { kind: "transformer", heads: 4 };

/**
 * The network that is offered first.
 * @param {Kind} kind
 * @param {number} classes
 * @returns {Record<string, any>[]}
 */
export function networkOf(kind, classes) {
  const scores = { kind: "linear", out: classes };
  switch (kind) {
    case "signs":
      return [...LENET.slice(0, -1), scores];
    case "pictures":
      return [scores];
    case "sounds":
      return [
        ...[conv(8, 2), relu, pool, conv(16), relu, pool],
        ...[{ kind: "flatten" }, { kind: "linear", out: 64 }, relu, scores],
      ];
    case "text":
      return [
        { kind: "embedding", width: 128 },
        ...[block, block, block, block],
        { kind: "layernorm" },
        scores,
      ];
  }
}

/**
 * Few examples are seen often, a few at a time.
 * @param {Kind} kind
 * @returns {Pick<Settings, "optimizer" | "schedule" | "batch" | "epochs">}
 */
export function recipeOf(kind) {
  const adam = { name: "adamw", momentum: 0.9, nesterov: true, weight_decay: 0.01 };
  const slow = { ...adam, lr: 0.001 };
  if (kind === "text") return { optimizer: slow, schedule: "cosine", batch: 8, epochs: 1 };
  return { optimizer: { ...adam, lr: 0.003 }, schedule: "cosine", batch: 4, epochs: 30 };
}
