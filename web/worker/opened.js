// @ts-check
/**
 * The visitor's own model in the worker: one at a time, held by py/tallow/opened.py.
 *
 * Files come as File objects, by reference, and are read piece by piece into Python's memory: no
 * copy lies in JavaScript. NumPy is loaded when Python first misses it.
 */

import { Said } from "../said.js";
import { openGpu } from "./gpu.js";
import { emit } from "./serve.js";

/**
 * @typedef {(name: any, ...args: unknown[]) => Promise<any>} Ask  a function of app.py, for its JSON
 * @typedef {object} Worker  what main.js lends
 * @property {<T>(job: () => Promise<T>) => Promise<T>} inTurn
 * @property {Ask} ask
 * @property {() => Promise<any>} app  py/tallow/app.py
 * @property {() => Promise<import("./python.js").Python>} python
 *
 * @typedef {object} Feed  a value of one input; see run_model in py/tallow/opened.py
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

/** This worker does not have the model: another one, which has failed since, had it. */
class NotOpenError extends Error {
  name = "NotOpenError";
}

/**
 * The actions on the visitor's model, by name.
 * @param {Worker} worker
 */
export function openedActions({ inTurn, ask, app, python }) {
  /** The page's number of the model that is open. @type {number | null} */
  let open = null;

  /** @type {Ask} */
  const askWithNumpy = async (name, ...args) => {
    try {
      return await ask(name, ...args);
    } catch (error) {
      const running = await python();
      const { type } = /** @type {{type?: string}} */ (error);
      if (!WITHOUT_NUMPY.has(type ?? "") || running.hasNumpy) throw error;
      await running.loadNumpy();
      return ask(name, ...args);
    }
  };

  /**
   * @template T
   * @param {number} id
   * @param {() => Promise<T>} job
   * @returns {Promise<T>}
   */
  const withModel = (id, job) =>
    inTurn(() => {
      if (id !== open) throw new NotOpenError(`Model ${id} is not open here.`);
      return job();
    });

  /**
   * Call a function of app.py that gives an object of Python's.
   * @param {string} name
   * @param {...unknown} args
   */
  const call = async (name, ...args) => {
    const run = (await app())[name];
    try {
      return run(...args);
    } finally {
      run.destroy();
    }
  };

  /** @param {File} file @returns {Promise<any>}  a bytearray of Python's */
  const read = async (file) => {
    const held = await call("reserve", file.size);
    try {
      const reader = file.stream().getReader();
      for (let at = 0, told = 0; ;) {
        const { done, value } = await reader.read();
        if (done) return held;
        // Python's memory may move between two pieces.
        const view = held.getBuffer("u8");
        view.data.set(value, at);
        view.release();
        at += value.length;
        if (at - told < WORD) continue;
        told = at;
        alive();
      }
    } catch (error) {
      held.destroy();
      throw error;
    }
  };

  /** @param {string} name */
  const bytesOf = async (name) => {
    const held = await call("output_bytes", name);
    const view = held.getBuffer("u8");
    const bytes = view.data.slice();
    view.release();
    held.destroy();
    return bytes;
  };

  /** @param {any[]} outputs  gain their elements */
  const fetchBytes = async (outputs) => {
    for (const output of outputs) {
      if (output.kind === "tensor") output.bytes = await bytesOf(output.name);
      if (output.members) await fetchBytes(output.members);
    }
  };

  return {
    /**
     * The model, and its external data.
     * @param {{id: number, file: File, others: File[]}} args
     */
    openModel: ({ id, file, others }) =>
      inTurn(async () => {
        open = null;
        await call("close_model"); // before there is memory for two
        /** @type {any[]} */
        const held = [];
        try {
          for (const each of [file, ...others]) held.push(await read(each));
          const names = JSON.stringify(others.map(({ name }) => name));
          const [content, ...rest] = held;
          const told = await ask("open_model", content, names, ...rest);
          open = id;
          return told;
        } catch (error) {
          await call("close_model"); // what Python keeps of the error holds the file
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
        const answer = await askWithNumpy("run_model", told, ...bytes);
        await fetchBytes(answer.outputs);
        return answer;
      }),

    /** @param {{id: number, runs: number, seconds: number}} args */
    timeModel: ({ id, runs, seconds }) =>
      withModel(id, () => ask("time_model", runs, seconds, alive)),

    /** @param {{id: number, runs: number, seconds: number}} args */
    compareModel: ({ id, runs, seconds }) =>
      withModel(id, async () => {
        const { info, words } = await openGpu();
        if (!info) throw new Said(words ?? "");
        await (await python()).loadNumpy();
        return ask("compare_model", runs, seconds, alive);
      }),

    /** @param {{id: number}} args */
    closeModel: ({ id }) =>
      inTurn(async () => {
        if (id !== open) return;
        open = null;
        await call("close_model");
      }),
  };
}
