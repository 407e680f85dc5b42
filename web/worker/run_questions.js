// @ts-check
/** What the Train view asks about a run that is open, of py/tallow_page/train/questions.py. */

import { fetchCard, findModel } from "../site/catalogue.js";
import { NETWORK } from "../site/own_examples.js";

/** @typedef {import("./serve.js").Context} Context */

/** @param {import("./services.js").Services} services */
export const questions = ({ app, models, settled }) => ({
  /** The last validation: the confusion matrix and the worst mistakes. @param {{run: string}} args */
  insight: async ({ run }) => {
    await settled();
    return app.inTurn(() => app.ask("train.read_insight", run));
  },

  /**
   * The samples of a cell of the confusion matrix.
   * @param {{run: string, label: number, predicted: number, most: number}} args
   */
  cell: async ({ run, label, predicted, most }) => {
    await settled();
    return app.inTurn(() => app.ask("train.read_cell", run, label, predicted, most));
  },

  /**
   * Samples as pictures, packed (thumbs.js).
   * @param {{run: string, part: string, indices: number[]}} args
   */
  pictures: async ({ run, part, indices }) => {
    await settled();
    const called = () => app.call("train.sample_pictures", run, part, JSON.stringify(indices));
    return app.inTurn(async () => app.copy(called()));
  },

  /** The first layer's filters as pictures, packed. @param {{run: string}} args */
  filters: async ({ run }) => {
    await settled();
    return app.inTurn(async () => app.copy(await app.call("train.first_filters", run)));
  },

  /**
   * How probable each class is for one input.
   * @param {{run: string, content: Uint8Array, kind: string}} args  kind: of the data
   */
  answer: async ({ run, content, kind }) => {
    await settled();
    if (kind !== "features") return app.inTurn(() => app.ask("train.answer_lesson", run, content));
    const card = JSON.stringify(await fetchCard(await findModel(NETWORK)));
    return models.withFiles(NETWORK, (fetch) =>
      app.inTurn(() => app.ask("train.answer_lesson", run, content, card, fetch)),
    );
  },

  /**
   * Have a network of characters go on with a text, so many of them.
   * @param {{run: string, begin: string, count: number}} args
   * @param {Context} context
   */
  write: async ({ run, begin, count }, context) => {
    await settled();
    return app.stream(context, "train.write_on", () => [run, begin, count]);
  },

  /**
   * Look for labels in doubt and for duplicates.
   * @param {{run: string, changes: object[]}} args
   * @param {Context} context
   */
  review: async ({ run, changes }, context) => {
    await settled();
    return app.stream(context, "train.review_labels", () => [run, JSON.stringify(changes)]);
  },
});
