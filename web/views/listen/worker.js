// @ts-check
/** The worker's side of the Listen view: two networks, held by py/tallow_page/listen.py. */

/** @typedef {import("../../worker/serve.js").Context} Context */

/** @param {import("../../worker/services.js").Services} services */
export default ({ app, settled }) => ({
  /**
   * Open the network of texts and the voice detector.
   * @param {{source: object, voice: object}} args  as tallow_page/published.py takes them
   * @param {Context} context
   */
  load: async ({ source, voice }, context) => {
    await settled();
    return app.stream(context, "listen.open_listener", () => [source, voice]);
  },

  /**
   * Hear the next samples of a sound; what is said is reported.
   * @param {{samples: Float32Array, options: object}} args
   * @param {Context} context
   */
  hear: async ({ samples, options }, context) => {
    await settled();
    return app.stream(context, "listen.hear_sound", () => [samples, JSON.stringify(options)]);
  },
});
