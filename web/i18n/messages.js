// @ts-check
/**
 * Words that are chosen where something happens, and said where they are read: an entry of the text
 * table with what it is about. They may cross from the worker, which knows no language, to the page,
 * and are said in the language of that time.
 */

import { text } from "./text.js";

/**
 * @typedef {import("./text.js").Text} Text
 * @typedef {{[E in keyof Text]: Text[E] extends string | ((...about: any[]) => string) ? E : never}[keyof Text]} Entry
 *
 * @typedef {object} Named  an entry, by its name
 * @property {string} entry
 * @property {(string | number | Named)[]} about
 *
 * @typedef {Named | string} Words  a string is of another origin: a browser's words, or Python's
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
 * @returns {string}  in the language of now
 */
export function say(words) {
  if (typeof words === "string") return words;
  const found = /** @type {Record<string, any>} */ (text)[words.entry];
  return typeof found === "function" ? found(...words.about.map(sayPart)) : found;
}

/** @param {string | number | Named} part */
const sayPart = (part) => (typeof part === "object" ? say(part) : part);

/** An error whose message is in the language of the time at which it is read. */
export class LocalizedError extends Error {
  /** @param {Words} words */
  constructor(words) {
    super(say(words)); // for the console, which keeps what it was made with
    this.words = words;
    Object.defineProperty(this, "message", { get: () => say(words) });
  }
}

/**
 * Errors that tell what they are by a code: web/gpu knows no language, nor this page.
 * @type {Record<import("../gpu/errors.js").UnavailableCode, (...details: string[]) => Words>}
 */
const BY_CODE = {
  NO_WEBGPU: () => words("noGpuHere"),
  INSECURE_PAGE: () => words("gpuNeedsHttps"),
  NO_ADAPTER: () => words("noAdapter"),
  ADAPTER_REFUSED: (why) => words("adapterRefused", why),
};

/** Errors of a program, whose messages are for those who mend it: of JavaScript and of Python. */
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
 * What may be shown of a failure: no message that a program's own fault has. The console has that.
 * @param {string} name  of the error's class
 * @param {Words} message
 * @returns {Words}
 */
export const publicWords = (name, message) => (FAULTS.has(name) ? words("unexpected") : message);

/**
 * The same of an error as browsers write it: "Uncaught TypeError: x is undefined".
 * @param {string} text
 */
export function publicTextOf(text) {
  const [, name, message] = /^(?:Uncaught )?(?:(\w+): )?(.*)$/s.exec(text) ?? [];
  return FAULTS.has(name) ? words("unexpected") : name?.endsWith("Error") ? message : text;
}

/**
 * What an error says, to be said later.
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
