// @ts-check
/**
 * The worker's side of the Open view: the visitor's own model, one at a time, held by
 * py/tallow_page/open.py.
 *
 * Files arrive as File objects and are read chunk by chunk into Python's memory, without a copy in
 * JavaScript. NumPy is loaded when Python first needs it. A compiled plan is saved without the
 * weights that are in the files. It is found again by the files' content, which is read in any
 * case.
 */

import { Fingerprint } from "../../shared/bytes.js";
import { find, forget, keyOf, storable } from "../../worker/models/plans.js";
import { BUILD } from "../../worker/runtime.js";
import { describeError } from "../../worker/serve.js";
import { reportStage } from "../../worker/stage.js";

/**
 * @typedef {import("../../worker/models/plans.js").Key} Key
 * @typedef {import("../../worker/serve.js").Context} Context
 * @typedef {import("../../engine/types.js").Feed} Feed
 */

/** Progress is reported whenever this many bytes of a file were read. */
const BYTES_PER_REPORT = 16e6;

/**
 * Forget a saved plan that can't be used, and report why.
 * @param {string} name
 * @param {Key | null} key
 * @param {import("../../i18n/messages.js").Words} why
 */
async function discardPlan(name, key, why) {
  reportStage("plan", { model: name, why }, "failed", performance.now());
  if (key) await forget(key).catch(() => {}); // storage has failed before
}

/** This worker does not have the model; an earlier worker, which failed, had it. */
class NotOpenError extends Error {
  name = "NotOpenError";
}

/**
 * The actions on the visitor's model.
 * @param {import("../../worker/services.js").Services} services
 */
export default function openActions({ app, models, settled }) {
  /** The page's id of the open model. @type {number | null} */
  let open = null;

  /** The name of the model's file, and the fingerprints of all its files. */
  let content = { name: "", files: /** @type {unknown[] | null} */ (null) };

  /**
   * @template T
   * @param {number} id
   * @param {() => Promise<T>} job
   * @returns {Promise<T>}
   */
  const withModel = async (id, job) => {
    await settled();
    return app.inTurn(() => {
      if (id !== open) throw new NotOpenError(`Model ${id} is not open here.`);
      return job();
    });
  };

  /**
   * Run a long action on the model; other questions come between its steps.
   * @param {{id: number, runs: number, seconds: number}} args
   * @param {Context} context
   * @param {"open.time_model" | "open.compare_model"} name
   * @param {() => Promise<unknown>} [before]
   */
  const stream = async ({ id, runs, seconds }, context, name, before) => {
    await settled();
    return app.stream(context, name, async () => {
      if (id !== open) throw new NotOpenError(`Model ${id} is not open here.`);
      await before?.();
      return [runs, seconds];
    });
  };

  /**
   * @param {File} file
   * @param {Context} context
   * @returns {Promise<{held: any, fingerprint: string | null}>}  a Python bytearray; the content's
   *   fingerprint, or null if plans can't be saved
   */
  const read = async (file, { signal, progress }) => {
    const fingerprint = storable() ? new Fingerprint() : null;
    const held = app.call("reserve", file.size);
    try {
      const reader = file.stream().getReader();
      for (let offset = 0, reported = 0; ;) {
        const { done, value } = await reader.read();
        signal.throwIfAborted();
        if (done) return { held, fingerprint: (await fingerprint?.end()) ?? null };
        // Python's memory may move between two chunks.
        const view = held.getBuffer("u8");
        view.data.set(value, offset);
        view.release();
        offset += value.length;
        await fingerprint?.add(value);
        if (offset - reported < BYTES_PER_REPORT) continue;
        reported = offset;
        progress({ stage: "open", done: offset, total: file.size });
      }
    } catch (error) {
      held.destroy();
      throw error;
    }
  };

  /**
   * The key of the open model's plan for such feeds.
   * @param {Feed[]} feeds
   * @returns {Promise<Key | null>}  null if the plan can't be saved
   */
  const keyFor = async (feeds) => {
    const { files } = content;
    if (!files || feeds.some(({ texts, members }) => texts || members)) return null;
    const opened = await app.device;
    if (!opened || opened.machine || opened.runner?.tuningRefused) return null;
    const { device, runner } = opened;
    const inputs = feeds.map(({ name, shape, dtype }) => [name, shape, dtype]);
    return keyOf(BUILD, "opened", files, inputs, device, runner?.info, runner?.tuning);
  };

  /**
   * Find a saved plan.
   * @param {string} name
   * @param {Key | null} key
   * @returns {Promise<[string, ...Uint8Array[]] | undefined>}  its text and its weights
   */
  const recall = async (name, key) => {
    if (!key) return undefined;
    const began = performance.now();
    try {
      const saved = await find(key);
      if (!saved) return undefined;
      const facts = { model: name, bytes: saved.bytes };
      reportStage("plan", facts, "begun", began);
      /** @type {Uint8Array[]} */
      const weights = [];
      for (let index = 0; index < saved.weights.count; index++) {
        await saved.weights.ready(index);
        saved.weights.lend(index, (bytes) => weights.push(bytes));
      }
      reportStage("plan", facts, "done", began);
      return [saved.text, ...weights];
    } catch (error) {
      await discardPlan(name, key, describeError(error).words);
      return undefined;
    }
  };

  /** Add their elements to outputs. @param {any[]} outputs */
  const fetchBytes = (outputs) => {
    for (const output of outputs) {
      if (output.kind === "tensor")
        output.bytes = app.copy(app.call("open.output_bytes", output.name));
      if (output.members) fetchBytes(output.members);
    }
  };

  return {
    /**
     * Open a model with its external data. Other files are read only if the model may need them.
     * @param {{id: number} & import("./files.js").Files} args
     * @param {Context} context
     */
    openModel: ({ id, file, others }, context) =>
      app.inTurn(async () => {
        open = null;
        app.call("open.close_model"); // first: there may not be enough memory for two models
        /** @type {any[]} */
        const held = [];
        /** @type {[string, string | null][]} */
        const fingerprints = [];
        try {
          const hold = async (/** @type {File} */ each, /** @type {string} */ path) => {
            const one = await read(each, context);
            held.push(one.held);
            fingerprints.push([path, one.fingerprint]);
          };
          await hold(file, file.name);
          const paths = others.map(({ path }) => path);
          const wanted = paths.length
            ? await app.ask("open.needed_files", held[0], JSON.stringify(paths))
            : [];
          for (const each of others)
            if (wanted.includes(each.path)) await hold(each.file, each.path);
          const [[name, fingerprint], ...rest] = fingerprints;
          const names = JSON.stringify(rest.map(([path]) => path));
          const info = await app.ask("open.open_model", held[0], names, ...held.slice(1));
          // The fingerprints include the names of the external data, but not of the model's own
          // file.
          const unneeded = "unneeded" in info ? info.unneeded : [];
          const needed = rest.filter(([path]) => !unneeded.includes(path));
          content = { name, files: fingerprint === null ? null : [fingerprint, ...needed] };
          open = id;
          return {
            ...info,
            unneeded: paths.filter((path) => !needed.some(([other]) => other === path)),
          };
        } catch (error) {
          app.call("open.close_model"); // otherwise Python's traceback would keep the file in memory
          throw error;
        } finally {
          for (const each of held) each.destroy();
        }
      }),

    /** @param {{id: number, shapes: Record<string, number[]>}} args */
    surveyModel: ({ id, shapes }) =>
      withModel(id, () => app.askWithNumpy("open.survey_model", JSON.stringify(shapes))),

    /** @param {{id: number, feeds: Feed[]}} args */
    runModel: ({ id, feeds }) =>
      withModel(id, async () => {
        const buffers = feeds.flatMap((feed) => [feed, ...(feed.members ?? [])]);
        const bytes = buffers.flatMap((feed) => (feed.bytes ? [feed.bytes] : []));
        const described = JSON.stringify(feeds, (key, value) =>
          key === "bytes" ? undefined : value,
        );
        const { name } = content;
        const key = await keyFor(feeds);
        const recalled = () => recall(name, key);
        const { planId, refused, ...answer } = await app.askWithNumpy(
          "open.run_model",
          described,
          recalled,
          ...bytes,
        );
        if (refused) await discardPlan(name, key, refused);
        if (planId) models.savePlan(name, { key }, { warnings: [], planId }).catch(() => {});
        fetchBytes(answer.outputs);
        return answer;
      }),

    /** @param {{id: number, runs: number, seconds: number}} args @param {Context} context */
    timeModel: (args, context) => stream(args, context, "open.time_model"),

    /** @param {{id: number, runs: number, seconds: number}} args @param {Context} context */
    compareModel: (args, context) =>
      stream(args, context, "open.compare_model", () => app.prepareAll(true)),

    /** @param {{id: number}} args */
    closeModel: ({ id }) =>
      app.inTurn(async () => {
        if (id !== open) return;
        open = null;
        app.call("open.close_model");
      }),
  };
}
