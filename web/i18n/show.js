// @ts-check
/**
 * How text comes to the page: an element is shown words, and says them again when another language is
 * chosen, for as long as it lives. Nobody else has to remember it.
 */

import { say } from "./messages.js";
import { onSpeak } from "./text.js";

/**
 * What an element says in its parts: its content, or an attribute.
 * @typedef {"text" | "aria-label" | "title" | "content"} Part
 */

/** What has each element say its parts again. @type {WeakMap<Element, Map<unknown, () => void>>} */
const again = new WeakMap();

/** Those elements, as long as they live. @type {Set<WeakRef<Element>>} */
const all = new Set();

/** @type {FinalizationRegistry<WeakRef<Element>>} */
const gone = new FinalizationRegistry((one) => all.delete(one));

onSpeak(() => {
  for (const one of all) {
    const element = one.deref();
    const parts = element && again.get(element);
    for (const speak of parts?.values() ?? []) speak();
  }
});

/**
 * @param {Element} element
 * @param {unknown} part
 * @param {() => void} speak
 */
function remember(element, part, speak) {
  const parts = again.get(element) ?? new Map();
  if (!again.has(element)) {
    const one = new WeakRef(element);
    all.add(one);
    gone.register(element, one);
    again.set(element, parts);
  }
  parts.set(part, speak);
}

/**
 * Show words in an element, in place of what it said before, in each language that is chosen.
 * @template {Element} E
 * @param {E} element
 * @param {import("./messages.js").Words | (() => string)} words
 * @param {Part} [part]
 * @returns {E}
 */
export function show(element, words, part = "text") {
  const speak = () => {
    const said = typeof words === "function" ? words() : say(words);
    if (part !== "text") element.setAttribute(part, said);
    // What is there already is not laid out, or announced, a second time.
    else if (element.textContent?.trim().replace(/\s+/g, " ") !== said) element.textContent = said;
  };
  speak();
  remember(element, part, speak);
  return element;
}

/**
 * For what is more than words: draw it again when another language is chosen.
 * @param {Element} element  that it is drawn in
 * @param {() => void} draw
 */
export function follow(element, draw) {
  remember(element, draw, draw);
}
