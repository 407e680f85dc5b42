// @ts-check
/** Makes elements. */

/** A select element with these names. @param {string[]} names */
export const choice = (names) =>
  make("select", {}, ...names.map((name) => make("option", { value: name }, name)));

/**
 * An element with attributes and content. Strings become text nodes.
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
