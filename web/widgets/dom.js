// @ts-check
/** Parts of a page that scripts make. */

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
