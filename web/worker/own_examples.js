// @ts-check
/** The worker's side of the visitor's own examples: hands them to py/tallow_page/train/own.py. */

import { fetchCard, findModel } from "../site/catalogue.js";
import { classesOf, exampleOf, NETWORK, numbersOf, putExample } from "../site/own_examples.js";

/**
 * @typedef {import("./serve.js").Context} Context
 * @typedef {import("../site/own_examples.js").Kind} Kind
 */

/**
 * The bytes that Python takes of an example. It finds both names, also where there are no bytes.
 * @param {number} number
 */
async function taken(number) {
  const { content, computed } = (await exampleOf(number)) ?? {};
  if (computed || !content) return { content: undefined, computed };
  if (content instanceof Uint8Array) return { content, computed };
  const pixels = await pixelsOf(content).catch(() => undefined); // Python names what is damaged
  return { content: pixels, computed };
}

/** RGBA of a picture, as large as it is. @param {Blob} file */
async function pixelsOf(file) {
  const bitmap = await createImageBitmap(file);
  const { width, height } = bitmap;
  const brush = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  if (!brush) throw new Error("no canvas");
  brush.drawImage(bitmap, 0, 0);
  bitmap.close();
  return new Uint8Array(brush.getImageData(0, 0, width, height).data.buffer);
}

/** @param {import("./services.js").Services} services */
export const gathering = ({ app, models, settled }) => ({
  /** Have Python make data for training of a text. @param {{name: string, text: string}} args */
  text: ({ name, text }) => app.inTurn(() => app.ask("train.gather_text", name, text)),

  /** The paths in a zip. @param {{file: File}} args @returns {Promise<string[]>} */
  zip: ({ file }) => {
    // Workers' own name, which the page's types lack.
    const reader = new /** @type {any} */ (globalThis).FileReaderSync();
    const read = (/** @type {number} */ begin, /** @type {number} */ end) =>
      new Uint8Array(reader.readAsArrayBuffer(file.slice(begin, end)));
    return app.inTurn(() => app.ask("train.open_zip", file.name, read, file.size));
  },

  /** A file in that zip. @param {{name: string, number: number}} args */
  unzip: ({ name, number }) =>
    app.inTurn(async () => app.copy(app.call("train.read_zip", name, number))),

  /**
   * Have Python make data for training of all examples of a kind.
   * @param {{kind: Kind}} args
   * @param {Context} context
   */
  gather: async ({ kind }, context) => {
    const classes = await Promise.all(
      (await classesOf(kind)).map(async ({ number, name }) => ({
        name,
        examples: await numbersOf(number),
      })),
    );
    const card = kind === "pictures" ? await fetchCard(await findModel(NETWORK)) : {};
    /** @type {(number: number, held: any) => Promise<void>} */
    const keep = async (number, held) => {
      const view = held.getBuffer("u8"); // Pyodide frees what it hands to a callback
      const computed = view.data.slice();
      view.release();
      const example = await exampleOf(number);
      // Without space it is computed again the next time.
      if (example) await putExample({ ...example, computed }).catch(() => {});
    };
    await settled();
    return models.withFiles(NETWORK, (fetch) =>
      app.stream(context, "train.gather_examples", () => [
        kind,
        JSON.stringify(classes),
        taken,
        keep,
        JSON.stringify(card),
        fetch,
      ]),
    );
  },
});
