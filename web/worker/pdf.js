// @ts-check
/** The worker that reads the texts of PDF files, by Mozilla's pdf.js. Nothing is drawn or run. */

import { getDocument } from "pdfjs-dist/legacy/build/pdf.mjs";
import "pdfjs-dist/legacy/build/pdf.worker.mjs"; // its other half, which works in this worker, too

import { serve } from "./serve.js";

/** @typedef {import("./serve.js").Context} Context */

serve({
  /**
   * @param {{file: Blob}} args
   * @param {Context} context
   * @returns {Promise<[number, string][]>}  the number and the text of each page that has one
   * @throws  what pdf.js throws: PasswordException, InvalidPDFException
   */
  async read({ file }, { signal, progress }) {
    const task = getDocument({
      data: new Uint8Array(await file.arrayBuffer()),
      disableFontFace: true,
      isOffscreenCanvasSupported: false,
      verbosity: 0,
    });
    try {
      const document = await task.promise;
      const { numPages } = document;
      /** @type {[number, string][]} */
      const pages = [];
      for (let number = 1; number <= numPages; number++) {
        signal.throwIfAborted();
        const page = await document.getPage(number);
        const text = textOf((await page.getTextContent()).items);
        page.cleanup();
        if (text.trim()) pages.push([number, text]);
        progress({ stage: "pages", done: number, total: numPages });
      }
      return pages;
    } finally {
      await task.destroy();
    }
  },
});

/**
 * The text of a page. A line that is farther below than usual begins a paragraph.
 * @param {(import("pdfjs-dist/types/src/display/api.js").TextItem | object)[]} items
 */
function textOf(items) {
  let text = "";
  let last = NaN; // where the line before is
  for (const item of items) {
    if (!("str" in item)) continue;
    const { str, hasEOL, height, transform } = item;
    if (text.endsWith("\n") && str.trim()) {
      if (height && last - transform[5] > 1.8 * height) text += "\n";
    }
    if (str.trim()) last = transform[5];
    text += str;
    if (hasEOL) text += "\n";
  }
  // Words that were divided at the end of a line.
  return text.replace(/(?<=\p{L})[-\u00ad]\n(?=\p{Ll})/gu, "");
}
