// @ts-check
/** The worker's side of the Train view: runs, held by py/tallow_page/train and kept in storage. */

import { gathering } from "../../worker/own_examples.js";
import { questions } from "../../worker/run_questions.js";
import { Handed } from "../../worker/serve.js";
import { fetchCard, findModel } from "../../site/catalogue.js";
import { NETWORK } from "../../site/own_examples.js";
import { dropModel, keepModel, renameModel } from "./use/kept_models.js";
import * as kept from "./runs/kept_runs.js";

/** @typedef {import("../../worker/serve.js").Context} Context */

/** How what is drawn becomes the numbers of MNIST's pictures: ink is 255. */
const DRAWN = { size: 28, crop: 1, channels: "L", mean: [0], std: [1] };

/** @param {import("../../worker/services.js").Services} services */
export default (services) => {
  const { app, models, settled } = services;

  /** What Python takes as a Storage (runs.py); its bytes are Python's. */
  const storage = {
    ...kept,
    write: (/** @type {string} */ run, /** @type {string} */ file, /** @type {any} */ held) => {
      const view = held.getBuffer("u8");
      const content = view.data.slice();
      view.release();
      return kept.write(run, file, content);
    },
  };

  return {
    ...gathering(services),
    ...questions(services),

    /**
     * Begin a run, or go on with it; aborting pauses it, too. Answers null if another tab has the run.
     * @param {{run: string, name: string, settings: object, source: object, one: boolean}} args
     * @param {Context} context
     */
    run: async ({ source, ...options }, context) => {
      await settled();
      const given = [JSON.stringify(options), source, storage];
      return kept.alone(options.run, () => app.stream(context, "train.run_training", () => given));
    },

    /** Have the run that learns answer after its running step. */
    pause: () => app.inTurn(async () => app.call("train.pause_training")),

    /** What a table of layers means. @param {object} asked */
    layers: async (asked) => {
      await settled();
      return app.inTurn(() => app.ask("train.layer_table", JSON.stringify(asked)));
    },

    /** A file of the run that is open, to take home. @param {{run: string, form: string}} args */
    home: async ({ run, form }) => {
      await settled();
      const content = await app.inTurn(async () =>
        app.copy(await app.call("train.take_home", run, form)),
      );
      return new Handed(content, [content.buffer]);
    },

    /**
     * Make a run's network a model that another view asks. Answers its name; null without space.
     * @param {{run: string, task: "digit" | "image"}} args
     */
    place: async ({ run, task }) => {
      await settled();
      const network = task === "image" ? await fetchCard(await findModel(NETWORK)) : null;
      const card = JSON.stringify(network);
      const { step, classes, content } = await models.withFiles(NETWORK, (fetch) =>
        app.inTurn(async () => ({
          ...(await app.ask("train.model_facts", run)),
          content: app.copy(await app.call("train.model_file", run, card, fetch)),
        })),
      );
      const about = (await kept.all()).find((each) => each.run === run);
      const title = about && "name" in about ? about.name : run;
      const preprocess = network?.preprocess ?? DRAWN;
      const labels = [...classes];
      try {
        return await keepModel({ run, step, title, task, preprocess, labels, content });
      } catch (error) {
        if (/** @type {Error} */ (error).name === "QuotaExceededError") return null;
        throw error;
      }
    },

    /** What is kept. */
    runs: () => kept.all(),

    /** A run as one file. @param {{run: string}} args */
    share: async ({ run }) => {
      await settled();
      const content = await app.inTurn(async () =>
        app.copy(await app.call("train.packed_run", run, storage)),
      );
      return new Handed(content, [content.buffer]);
    },

    /** Keep a run that was shared. Answers its folder's name. @param {{file: Blob}} args */
    take: async ({ file }) => {
      await settled();
      const content = new Uint8Array(await file.arrayBuffer());
      const run = Date.now().toString(36);
      await app.inTurn(() => app.ask("train.unpack_run", run, content, storage));
      return run;
    },

    /** @param {{run: string, name: string}} args */
    rename: async ({ run, name }) => {
      await kept.rename(run, name);
      await renameModel(run, name);
    },

    /** Answers whether it could: no other tab has the run. @param {{run: string}} args */
    remove: async ({ run }) => {
      const done = await kept.alone(run, () => kept.remove(run).then(() => true));
      if (done) await dropModel(run);
      return Boolean(done);
    },
  };
};
