// @ts-check
/** Highlights the syntax of WGSL: comments, attributes, numbers, keywords, types, calls. */

const KEYWORDS =
  "alias|break|case|const|const_assert|continue|continuing|default|diagnostic|discard|else|enable|" +
  "false|fn|for|if|let|loop|override|requires|return|struct|switch|true|var|while";
const TYPES =
  "array|atomic|bool|f16|f32|i32|u32|mat[234]x[234][fh]?|vec[234][fhiu]?|ptr|" +
  "function|private|read|read_write|storage|uniform|workgroup|write";

/** Each kind of token, as a named group. Text between tokens is plain. */
const TOKENS = new RegExp(
  [
    String.raw`(?<comment>//[^\n]*|/\*[^]*?\*/)`,
    String.raw`(?<attribute>@\w+)`,
    String.raw`(?<number>\b(?:0[xX][\da-fA-F]+[iu]?|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?[fhiu]?))`,
    String.raw`\b(?<keyword>${KEYWORDS})\b`,
    String.raw`\b(?<type>${TYPES})\b`,
    String.raw`\b(?<call>[a-zA-Z_]\w*)(?=\()`,
  ].join("|"),
  "g",
);

/**
 * @param {string} text
 * @returns {DocumentFragment}  the same text, with tokens in spans whose class is their kind
 */
export function highlight(text) {
  const result = document.createDocumentFragment();
  let end = 0;
  for (const match of text.matchAll(TOKENS)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, found]) => found) ?? [""];
    const span = Object.assign(document.createElement("span"), { className: kind });
    span.textContent = match[0];
    result.append(text.slice(end, match.index), span);
    end = match.index + match[0].length;
  }
  result.append(text.slice(end));
  return result;
}
