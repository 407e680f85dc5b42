// @ts-check
/** Stands for the page's client of its worker (web/engine/rpc.js). */

import assert from "node:assert/strict";

import { RemoteError } from "../../../web/engine/rpc.js";
import { deferred, turn } from "./steps.js";

/** A fake client of a worker: the test answers its calls and raises its events. */
export class FakeRpc {
  /** @type {{action: string, args: any, options: any, answer: ReturnType<typeof deferred>}[]} */
  calls = [];
  /** @type {Map<string, (data: any) => void>} */
  #listeners = new Map();
  closed = false;

  /** @param {string} event @param {(data: any) => void} listener */
  on(event, listener) {
    this.#listeners.set(event, listener);
  }

  /** @param {string} event @param {any} [data] */
  raise(event, data = {}) {
    this.#listeners.get(event)?.(data);
  }

  /** @param {string} action @param {any} [args] @param {any} [options] */
  call(action, args, options = {}) {
    const answer = deferred();
    this.calls.push({ action, args, options, answer });
    return answer.promise;
  }

  /** @param {any} reason */
  close(reason, spoke = true) {
    if (this.closed) return;
    this.closed = true;
    for (const { answer } of this.calls) answer.reject(new RemoteError("WorkerClosed", reason));
    this.raise("close", { reason, spoke });
  }

  /** The newest call of an action. @param {string} action */
  last(action) {
    const found = this.calls.findLast((call) => call.action === action);
    assert.ok(found, `${action} was not called: ${this.calls.map((call) => call.action)}`);
    return found;
  }

  /** Reports about the newest call of an action. @param {string} action @param {any} progress */
  report(action, progress) {
    this.last(action).options.onProgress(progress);
  }

  /** @param {string} action @param {any} [result] */
  async answer(action, result) {
    this.last(action).answer.resolve(result);
    await turn();
  }

  /** @param {string} action @param {string} type @param {any} why */
  async fail(action, type, why) {
    this.last(action).answer.reject(new RemoteError(type, why));
    await turn();
  }
}
