// @ts-check
/** The worker's side of the visitor's own examples: hands them to py/tallow_page/train/own.py. */

import { fetchCard, findModel } from "../site/catalogue.js";
import { classesOf, exampleOf, keepComputed, NETWORK, numbersOf } from "../site/own_examples.js";

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

/** The classes of a kind, each with the numbers of its examples. @param {Kind} kind */
async function examplesOf(kind) {
  return Promise.all(
    (await classesOf(kind)).map(async ({ number, name }) => ({
      name,
      examples: await numbersOf(number),
    })),
  );
}

/** Keep what Python has computed of an example. @param {number} number @param {any} held */
async function keep(number, held) {
  const view = held.getBuffer("u8"); // Pyodide frees what it hands to a callback
  const computed = view.data.slice();
  view.release();
  await keepComputed(number, computed).catch(() => {}); // without space: computed again
}

/** @param {import("./services.js").Services} services */
export const gathering = ({ app, models, settled }) => {
  /**
   * Call Python with what it needs to read examples: what takes and keeps them, and the network.
   * @template T
   * @param {Kind} kind
   * @param {(...given: unknown[]) => Promise<T>} call
   */
  const withExamples = async (kind, call) => {
    const card = kind === "pictures" ? await fetchCard(await findModel(NETWORK)) : {};
    await settled();
    return models.withFiles(NETWORK, (fetch) => call(taken, keep, JSON.stringify(card), fetch));
  };

  return {
    /** Have Python make data for training from a text. @param {{name: string, text: string}} args */
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
     * Have Python make data for training from all examples of a kind.
     * @param {{kind: Kind}} args
     * @param {Context} context
     */
    gather: async ({ kind }, context) => {
      const classes = JSON.stringify(await examplesOf(kind));
      return withExamples(kind, (...more) =>
        app.stream(context, "train.gather_examples", () => [kind, classes, ...more]),
      );
    },

    /**
     * Have Python compute in advance what `gather` needs, so that a run starts sooner.
     * @param {{kind: Kind}} args
     * @param {Context} context
     */
    read: async ({ kind }, context) => {
      const numbers = (await examplesOf(kind)).flatMap(({ examples }) => examples);
      return withExamples(kind, (...more) =>
        app.stream(context, "train.read_examples", () => [kind, JSON.stringify(numbers), ...more]),
      );
    },
  };
};
