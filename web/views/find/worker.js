// @ts-check
/**
 * The worker's side of the Find view: the index, which py/tallow_page/find.py holds and the browser
 * keeps.
 */

import { forget, keep, kept, names } from "../../worker/kept_index.js";
import { Queue } from "../../worker/queue.js";

/**
 * @typedef {import("../../worker/serve.js").Context} Context
 * @typedef {import("../../shared/contract.js").Embedded} Embedded
 * @typedef {import("../../shared/contract.js").IndexedFile} IndexedFile
 */

/**
 * Vectors that are kept together while the index grows: seconds of work, which is what a tab that is
 * closed loses.
 */
const PIECE = 32;

/** @param {import("../../worker/services.js").Services} services */
export default ({ app, settled }) => {
  /** Changes of what is kept, each of which stands on the one before. */
  const changes = new Queue();

  /**
   * Keep what is new.
   * @param {number} [least]  vectors that are worth a piece, while others are being made
   * @returns {Promise<string | null>}  the name of an error
   */
  const keepNew = (least = 1) =>
    changes.add(async () => {
      for (;;) {
        const part = await app.inTurn(async () => {
          const held = app.call("find.changed_file", least);
          if (!held) return null;
          const [name, key, given, at, made, model, width] = held;
          const passages = given && app.copy(given);
          const vectors = app.copy(made);
          held.destroy();
          return { name, key, passages, at, vectors, model, width };
        });
        if (!part) return null;
        try {
          await keep(part);
        } catch (error) {
          const at = part.passages === undefined ? part.at : -1;
          await app.inTurn(async () => app.call("find.keep_again", part.name, at));
          return /** @type {any} */ (error).name;
        }
      }
    });

  /**
   * Have Python take what is kept of a file; what is damaged is forgotten.
   * @param {string} name
   * @returns {Promise<{file: IndexedFile | null, damaged: boolean}>}  null if nothing can be used
   */
  async function restored(name) {
    const { key, passages, pieces, damaged } = await kept(name);
    if (!passages) {
      await forget(name);
      return { file: null, damaged: true };
    }
    const file = await app.inTurn(() => app.ask("find.put_kept", name, key, passages, pieces));
    const last = pieces.at(-1);
    const end = last ? last.at + last.vectors.length / (2 * last.width) : 0;
    if (!damaged && file.done === end) return { file, damaged };
    const nothing = { vectors: new Uint8Array(0), model: "", width: 1 };
    await keep({ name, key, at: file.done, ...nothing }).catch(() => {});
    return { file, damaged: true };
  }

  /**
   * Embed what has no vectors yet.
   * @param {unknown} _
   * @param {Context} context
   */
  async function embed(_, context) {
    await settled();
    /** @type {string | null} */
    let unkept = null;
    let before = 0;
    const progress = (/** @type {any} */ report) => {
      context.progress(report);
      const { done } = /** @type {Embedded} */ (report);
      if (unkept || done < before + PIECE) return;
      before = done;
      void keepNew(PIECE).then(
        (why) => (unkept ??= why),
        () => {}, // what ails Python ends the embedding, too
      );
    };
    try {
      return await app.stream({ ...context, progress }, "find.embed_passages", () => []);
    } finally {
      unkept = await keepNew();
      if (unkept) context.progress({ stage: "unkept", why: unkept });
    }
  }

  return {
    embed,

    /** Take what an earlier visit has kept. */
    restore: async () => {
      await settled();
      return changes.add(async () => {
        /** @type {IndexedFile[]} */
        const files = [];
        let damaged = 0;
        for (const name of await names()) {
          const found = await restored(name);
          if (found.file) files.push(found.file);
          if (found.damaged) damaged += 1;
        }
        return { files, damaged };
      });
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
      const added = await app.stream(context, "find.add_file", () => [name, kind, file]);
      // Its vectors are being made: those wait for each other. `embed` says why that failed.
      void keepNew(PIECE).catch(() => {});
      return added;
    },

    /** Forget a file; "" means all of them. @param {{name: string}} args */
    remove: ({ name }) =>
      changes.add(async () => {
        const left = await app.inTurn(() => app.ask("find.remove_file", name));
        await forget(name).catch(() => {}); // nothing was kept where nothing can be
        return left;
      }),

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
