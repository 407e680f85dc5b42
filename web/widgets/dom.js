// @ts-check
/**
 * Parts of a page that scripts make: elements, and what they say in the language of the time.
 */

/** @typedef {(element: any, words: string) => void} Set */

/** What is said in elements, to be said again in another language. */
export class Sayings {
  /** @type {(() => void)[]} */
  #all = [];

  /**
   * @template {Element} E
   * @param {E} element
   * @param {() => string} words
   * @param {Set} [set]  where the words go; the content of the element, if not said
   * @returns {E}
   */
  say(element, words, set = (place, said) => (place.textContent = said)) {
    const speak = () => set(element, words());
    speak();
    this.#all.push(speak);
    return element;
  }

  relabel() {
    for (const speak of this.#all) speak();
  }
}

/** For Sayings.say(). @type {Set} */
export const asLabel = (element, words) => element.setAttribute("aria-label", words);

/** A list of names to choose from. @param {string[]} names */
export const choice = (names) =>
  make("select", {}, ...names.map((name) => make("option", { value: name }, name)));

/**
 * An element with attributes and content; texts are put in as text.
 * @param {string} tag
 * @param {Record<string, string>} [attributes]
 * @param {...(Node | string)} content
 * @returns {any}
 */
export function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
}
