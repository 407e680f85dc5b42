// @ts-check
/** The worker's side of the Write view: one language model, held by py/tallow_page/write.py. */

/** @typedef {import("../../worker/serve.js").Context} Context */

/** @param {import("../../worker/services.js").Services} services */
export default ({ app, settled }) => ({
  /** Open a GGUF file; Python reads of it what it needs. @param {{file: Blob}} args */
  load: async ({ file }) => {
    await settled();
    return app.inTurn(() => app.askWithNumpy("write.open_text_model", file));
  },

  /**
   * Write an answer; each piece is reported.
   * @param {{messages: object[] | string, options: object}} args
   * @param {Context} context
   */
  answer: async ({ messages, options }, context) => {
    await settled();
    const given = [JSON.stringify(messages), JSON.stringify(options)];
    return app.stream(context, "write.write_text", () => given);
  },
});
