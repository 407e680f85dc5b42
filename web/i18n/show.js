// @ts-check
/**
 * Shows texts in elements, and translates them when the language changes, for as long as they live.
 */

import { say } from "./messages.js";
import { onLanguage } from "./text.js";

/**
 * The part of an element that holds a text: its content, or an attribute.
 * @typedef {"text" | "aria-label" | "title" | "content"} Part
 */

/**
 * Functions that update each element's parts.
 * @type {WeakMap<Element, Map<unknown, () => void>>}
 */
const updates = new WeakMap();

/** The keys of `updates`, which can't be listed itself. @type {Set<WeakRef<Element>>} */
const references = new Set();

/** @type {FinalizationRegistry<WeakRef<Element>>} */
const registry = new FinalizationRegistry((reference) => references.delete(reference));

onLanguage(() => {
  for (const reference of references) {
    const element = reference.deref();
    const parts = element && updates.get(element);
    for (const update of parts?.values() ?? []) update();
  }
});

/**
 * @param {Element} element
 * @param {unknown} part
 * @param {() => void} update
 */
function remember(element, part, update) {
  const parts = updates.get(element) ?? new Map();
  if (!updates.has(element)) {
    const reference = new WeakRef(element);
    references.add(reference);
    registry.register(element, reference);
    updates.set(element, parts);
  }
  parts.set(part, update);
}

/**
 * Show a text in an element instead of the previous one, in every language that is chosen.
 * @template {Element} E
 * @param {E} element
 * @param {import("./messages.js").Words | (() => string)} words
 * @param {Part} [part]
 * @returns {E}
 */
export function show(element, words, part = "text") {
  const update = () => {
    const message = typeof words === "function" ? words() : say(words);
    if (part !== "text") element.setAttribute(part, message);
    // An unchanged text must not be laid out or announced again.
    else if (element.textContent?.trim().replace(/\s+/g, " ") !== message)
      element.textContent = message;
  };
  update();
  remember(element, part, update);
  return element;
}

/**
 * Redraw something more complex than a text when the language changes.
 * @param {Element} element  in which it is drawn
 * @param {() => void} draw
 */
export function follow(element, draw) {
  remember(element, draw, draw);
}
