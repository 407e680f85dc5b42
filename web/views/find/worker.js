// @ts-check
/**
 * The worker's side of the Find view: the index, which py/tallow_page/find.py holds and the browser
 * keeps.
 */

import { all, forget, keep } from "../../worker/kept_index.js";

/**
 * @typedef {import("../../worker/serve.js").Context} Context
 * @typedef {import("../../shared/contract.js").IndexedFile} IndexedFile
 */

/** The index is kept this often, in milliseconds, while it grows. */
const KEEP_MS = 30_000;

/** @param {import("../../worker/services.js").Services} services */
export default ({ app, settled }) => {
  let keptAt = 0;

  /** Keep all files that have changed. @returns {Promise<string | null>}  the name of an error */
  async function keepChanged() {
    keptAt = performance.now();
    for (;;) {
      const file = await app.inTurn(async () => {
        const held = app.call("find.changed_file");
        if (!held) return null;
        const [name, passages, model, width] = [0, 1, 3, 4].map((at) => held.get(at));
        const vectors = app.copy(held.get(2));
        held.destroy();
        return { name, passages, model, width, vectors };
      });
      if (!file) return null;
      try {
        await keep(file);
      } catch (error) {
        return /** @type {any} */ (error).name;
      }
    }
  }

  /**
   * Embed what has no vectors yet.
   * @param {unknown} _
   * @param {Context} context
   */
  async function embed(_, context) {
    await settled();
    keptAt = performance.now();
    const progress = (/** @type {object} */ report) => {
      context.progress(report);
      if (performance.now() - keptAt > KEEP_MS) void keepChanged();
    };
    try {
      return await app.stream({ ...context, progress }, "find.embed_passages", () => []);
    } finally {
      const unkept = await keepChanged();
      if (unkept) context.progress({ stage: "unkept", why: unkept });
    }
  }

  return {
    embed,

    /** Take what an earlier visit has kept. */
    restore: async () => {
      await settled();
      const { files, damaged } = await all();
      /** @type {IndexedFile[]} */
      const restored = [];
      for (const { name, passages, vectors, model, width } of files) {
        const put = () => app.ask("find.put_kept", name, passages, vectors, model, width);
        const file = await app.inTurn(put).catch(() => forget(name));
        if (file) restored.push(file);
      }
      return { files: restored, damaged: damaged + files.length - restored.length };
    },

    /**
     * Open a model.
     * @param {{source: object, name: string}} args  name: tells it from others
     * @param {Context} context
     */
    load: async ({ source, name }, context) => {
      await settled();
      return app.stream(context, "find.open_find_model", () => [source, name]);
    },

    /**
     * Cut a file into passages.
     * @param {{name: string, kind: string, file: Blob}} args
     * @param {Context} context
     */
    add: async ({ name, kind, file }, context) => {
      await settled();
      return app.stream(context, "find.add_file", () => [name, kind, file]);
    },

    /** Forget a file; "" means all of them. @param {{name: string}} args */
    remove: async ({ name }) => {
      const left = await app.inTurn(() => app.ask("find.remove_file", name));
      await forget(name).catch(() => {}); // nothing was kept where nothing can be
      return left;
    },

    /**
     * Answer a question.
     * @param {{question: string, most: number}} args
     * @param {Context} context
     */
    look: async ({ question, most }, context) => {
      await settled();
      return app.stream(context, "find.find_passages", () => [question, most]);
    },
  };
};
