// @ts-check
/**
 * Messages that are translated where they are shown: the name of an entry of the text table, and
 * its arguments. The worker can send them to the page, which shows them in its current language.
 */

import { text } from "./text.js";

/**
 * @typedef {import("./text.js").Text} Text
 * @typedef {{[E in keyof Text]: Text[E] extends string | ((...about: any[]) => string) ? E : never}[keyof Text]} Entry
 *
 * @typedef {object} Named  an entry, by name
 * @property {string} entry
 * @property {(string | number | Named)[]} about
 *
 * @typedef {Named | string} Words  a string comes from the browser or from Python, untranslated
 */

/**
 * @template {Entry} E
 * @typedef {Text[E] extends (...about: infer A) => string ? {[I in keyof A]: A[I] | Named} : []} About
 */

/**
 * @template {Entry} E
 * @param {E} entry
 * @param {About<E>} about
 * @returns {Named}
 */
export const words = (entry, ...about) => ({ entry, about: /** @type {any[]} */ (about) });

/**
 * @param {Words} words
 * @returns {string}  in the current language
 */
export function say(words) {
  if (typeof words === "string") return words;
  const found = /** @type {Record<string, any>} */ (text)[words.entry];
  return typeof found === "function" ? found(...words.about.map(sayPart)) : found;
}

/** @param {string | number | Named} part */
const sayPart = (part) => (typeof part === "object" ? say(part) : part);

/** An error whose message is in the current language whenever it is read. */
export class LocalizedError extends Error {
  /** @param {Words} words */
  constructor(words) {
    super(say(words)); // shown by the console
    this.words = words;
    Object.defineProperty(this, "message", { get: () => say(words) });
  }
}

/**
 * Messages of errors with a code, which come from web/gpu.
 * @type {Record<import("../gpu/errors.js").UnavailableCode, (...details: string[]) => Words>}
 */
const BY_CODE = {
  NO_WEBGPU: () => words("noGpuHere"),
  INSECURE_PAGE: () => words("gpuNeedsHttps"),
  NO_ADAPTER: () => words("noAdapter"),
  ADAPTER_REFUSED: (why) => words("adapterRefused", why),
};

/** Programming errors of JavaScript and Python, whose messages are not for visitors. */
const FAULTS = new Set([
  ...["TypeError", "ReferenceError", "SyntaxError", "InternalError"],
  ...[
    "AttributeError",
    "NameError",
    "UnboundLocalError",
    "KeyError",
    "IndexError",
    "AssertionError",
  ],
]);

/**
 * The message of an error, or a general one for programming errors. The console has the details.
 * @param {string} name  of the error's class
 * @param {Words} message
 * @returns {Words}
 */
export const publicWords = (name, message) => (FAULTS.has(name) ? words("unexpected") : message);

/**
 * The same for an error as browsers write it: "Uncaught TypeError: x is undefined".
 * @param {string} text
 */
export function publicTextOf(text) {
  const [, name, message] = /^(?:Uncaught )?(?:(\w+): )?(.*)$/s.exec(text) ?? [];
  return FAULTS.has(name) ? words("unexpected") : name?.endsWith("Error") ? message : text;
}

/**
 * The message of an error, to be shown later.
 * @param {unknown} error
 * @returns {Words}
 */
export function wordsOf(error) {
  if (error instanceof LocalizedError) return error.words;
  const { code, details = [], message } = /** @type {any} */ (error ?? {});
  if (Object.hasOwn(BY_CODE, code ?? ""))
    return BY_CODE[/** @type {keyof typeof BY_CODE} */ (code)](...details);
  return publicWords(/** @type {any} */ (error)?.name ?? "", String(message ?? error));
}
