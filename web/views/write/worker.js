// @ts-check
/** The worker's side of the Write view: one language model, held by py/tallow_page/write.py. */

/** @typedef {import("../../worker/serve.js").Context} Context */

/** @param {import("../../worker/services.js").Services} services */
export default ({ app, settled }) => ({
  /**
   * Fetch a model, unless it is kept, and open it; what arrives is reported.
   * @param {{source: object}} args  source: what Python's `opened` takes
   * @param {Context} context
   */
  load: async ({ source }, context) => {
    await settled();
    return app.streamWithNumpy(context, "write.open_text_model", () => [source]);
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
