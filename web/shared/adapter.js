// @ts-check
/**
 * What the worker calls an adapter that tells no name, as Firefox's do; the page says it in words.
 */

export const UNNAMED = "WebGPU adapter that does not tell its name";
