// @ts-check
/**
 * The visitor's own model in the worker: one at a time, held by py/tallow_page/user_model.py.
 *
 * Files come as File objects, by reference, and are read piece by piece into Python's memory: no
 * copy lies in JavaScript. NumPy is loaded when Python first misses it. A plan that was compiled is
 * kept without what the files hold of its weights, and found again by their content, since they are
 * read in any case.
 */

import { Fingerprint } from "../../shared/bytes.js";
import { find, forget, keyOf, storable } from "./plans.js";
import { BUILD } from "../runtime.js";
import { emit, describeError } from "../serve.js";
import { tell } from "../stage.js";

/**
 * @typedef {import("./plans.js").Key} Key
 * @typedef {object} Worker  what main.js lends
 * @property {import("../app.js").App} app
 * @property {import("./models.js").Models} models
 * @property {() => Promise<unknown>} settled  resolves when no change of the device is under way
 *
 * @typedef {object} Feed  a value of one input; see run_model in py/tallow_page/user_model.py
 * @property {string} name
 * @property {number[]} shape
 * @property {string} [dtype]
 * @property {Uint8Array} [bytes]
 * @property {boolean} [wide]
 * @property {string[]} [texts]
 * @property {Feed[]} [members]  of a sequence
 */

/** What Python raises where NumPy is not there. */
const WITHOUT_NUMPY = new Set(["ModuleNotFoundError", "DeviceUnavailableError"]);

/** Bytes of a file after which the page hears that something is being done. */
const WORD = 16e6;

/** The page hears that this worker is alive. */
const alive = () => emit("progress", { stage: "open" });

/**
 * What was kept is of no use: forget it, and say why.
 * @param {string} name
 * @param {Key | null} key
 * @param {import("../../i18n/messages.js").Words} why
 */
async function miss(name, key, why) {
  tell("plan", { model: name, why }, "failed", performance.now());
  if (key) await forget(key).catch(() => {}); // storage that refuses has said so
}

/** This worker does not have the model: another one, which has failed since, had it. */
class NotOpenError extends Error {
  name = "NotOpenError";
}

/**
 * The actions on the visitor's model, by name.
 * @param {Worker} worker
 */
export function userModelActions({ app, models, settled }) {
  /** The page's number of the model that is open. @type {number | null} */
  let open = null;

  /** What the model's file is called, and what it and the others are recognised by. */
  let content = { name: "", files: /** @type {unknown[] | null} */ (null) };

  /** @type {typeof app.ask} */
  const askWithNumpy = async (name, ...args) => {
    try {
      return await app.ask(name, ...args);
    } catch (error) {
      const running = await app.start();
      const { type } = /** @type {{type?: string}} */ (error);
      if (!WITHOUT_NUMPY.has(type ?? "") || running.hasNumpy) throw error;
      await running.loadNumpy();
      return app.ask(name, ...args);
    }
  };

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
   * @param {File} file
   * @returns {Promise<{held: any, print: string | null}>}  a bytearray of Python's; what the content
   *   is recognised by, where plans can be kept
   */
  const read = async (file) => {
    const print = storable() ? new Fingerprint() : null;
    const held = app.call("reserve", file.size);
    try {
      const reader = file.stream().getReader();
      for (let at = 0, told = 0; ;) {
        const { done, value } = await reader.read();
        if (done) return { held, print: (await print?.end()) ?? null };
        // Python's memory may move between two pieces.
        const view = held.getBuffer("u8");
        view.data.set(value, at);
        view.release();
        at += value.length;
        await print?.add(value);
        if (at - told < WORD) continue;
        told = at;
        alive();
      }
    } catch (error) {
      held.destroy();
      throw error;
    }
  };

  /**
   * What the plan of the open model for such feeds depends on.
   * @param {Feed[]} feeds
   * @returns {Promise<Key | null>}  null where none can be kept
   */
  const keyFor = async (feeds) => {
    const { files } = content;
    if (!files || feeds.some(({ texts, members }) => texts || members)) return null;
    const gpu = await app.gpu;
    if (!gpu || gpu.tuningRefused) return null;
    const { info, tuning } = gpu;
    const inputs = feeds.map(({ name, shape, dtype }) => [name, shape, dtype]);
    return keyOf(BUILD, "opened", files, inputs, info, tuning);
  };

  /**
   * What was kept of a plan.
   * @param {string} name
   * @param {Key | null} key
   * @returns {Promise<[string, ...Uint8Array[]] | undefined>}  as Python wants it
   */
  const recall = async (name, key) => {
    if (!key) return undefined;
    const began = performance.now();
    try {
      const kept = await find(key);
      if (!kept) return undefined;
      const facts = { model: name, bytes: kept.bytes };
      tell("plan", facts, "begun", began);
      /** @type {Uint8Array[]} */
      const weights = [];
      for (let place = 0; place < kept.weights.count; place++) {
        await kept.weights.ready(place);
        kept.weights.lend(place, (bytes) => weights.push(bytes));
      }
      tell("plan", facts, "done", began);
      return [kept.text, ...weights];
    } catch (error) {
      await miss(name, key, describeError(error).words);
      return undefined;
    }
  };

  /** @param {any[]} outputs  gain their elements */
  const fetchBytes = (outputs) => {
    for (const output of outputs) {
      if (output.kind === "tensor") output.bytes = app.copy(app.call("output_bytes", output.name));
      if (output.members) fetchBytes(output.members);
    }
  };

  return {
    /**
     * The model, and its external data. Of the other files only those are read that it may need.
     * @param {{id: number} & import("../../views/open/files.js").Files} args
     */
    openModel: ({ id, file, others }) =>
      app.inTurn(async () => {
        open = null;
        app.call("close_model"); // before there is memory for two
        /** @type {any[]} */
        const held = [];
        /** @type {[string, string | null][]} */
        const prints = [];
        try {
          const hold = async (/** @type {File} */ each, /** @type {string} */ path) => {
            const one = await read(each);
            held.push(one.held);
            prints.push([path, one.print]);
          };
          await hold(file, file.name);
          const paths = others.map(({ path }) => path);
          const wanted = paths.length
            ? await app.ask("needed_files", held[0], JSON.stringify(paths))
            : [];
          for (const each of others)
            if (wanted.includes(each.path)) await hold(each.file, each.path);
          const [[name, print], ...rest] = prints;
          const names = JSON.stringify(rest.map(([path]) => path));
          const told = await app.ask("open_model", held[0], names, ...held.slice(1));
          // A file of the model's may have any name, its external data not.
          const needed = rest.filter(([path]) => !told.unneeded?.includes(path));
          told.unneeded = paths.filter((path) => !needed.some(([other]) => other === path));
          content = { name, files: print === null ? null : [print, ...needed] };
          open = id;
          return told;
        } catch (error) {
          app.call("close_model"); // what Python keeps of the error holds the file
          throw error;
        } finally {
          for (const each of held) each.destroy();
        }
      }),

    /** @param {{id: number, shapes: Record<string, number[]>}} args */
    surveyModel: ({ id, shapes }) =>
      withModel(id, () => askWithNumpy("survey_model", JSON.stringify(shapes))),

    /** @param {{id: number, feeds: Feed[]}} args */
    runModel: ({ id, feeds }) =>
      withModel(id, async () => {
        const buffers = feeds.flatMap((feed) => [feed, ...(feed.members ?? [])]);
        const bytes = buffers.flatMap((feed) => (feed.bytes ? [feed.bytes] : []));
        const told = JSON.stringify(feeds, (key, value) => (key === "bytes" ? undefined : value));
        const { name } = content;
        const key = await keyFor(feeds);
        const recalled = () => recall(name, key);
        const { lent, refused, ...answer } = await askWithNumpy(
          "run_model",
          told,
          recalled,
          ...bytes,
        );
        if (refused) await miss(name, key, refused);
        if (lent) models.keep(name, { key }, { warnings: [], lent }).catch(() => {});
        fetchBytes(answer.outputs);
        return answer;
      }),

    /** @param {{id: number, runs: number, seconds: number}} args */
    timeModel: ({ id, runs, seconds }) =>
      withModel(id, () => app.ask("time_model", runs, seconds, alive)),

    /** @param {{id: number, runs: number, seconds: number}} args */
    compareModel: ({ id, runs, seconds }) =>
      withModel(id, async () => {
        await app.prepareBoth();
        return app.ask("compare_model", runs, seconds, alive);
      }),

    /** @param {{id: number}} args */
    closeModel: ({ id }) =>
      app.inTurn(async () => {
        if (id !== open) return;
        open = null;
        app.call("close_model");
      }),
  };
}
