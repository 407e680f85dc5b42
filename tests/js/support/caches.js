// @ts-check
/** A browser's cache storage in memory, as far as plans.js uses it. */

class FakeCache {
  /** @type {Map<string, {body: Uint8Array}>} */
  entries = new Map();

  /** @param {string | {url: string}} request */
  async match(request) {
    const entry = this.entries.get(urlOf(request));
    return entry && new Response(/** @type {any} */ (entry.body));
  }

  /** @param {string | {url: string}} request @param {Response} response */
  async put(request, response) {
    const body = new Uint8Array(await response.arrayBuffer()); // stores all of it, or nothing
    this.entries.set(urlOf(request), { body });
  }

  /** @param {string | {url: string}} request */
  async delete(request) {
    return this.entries.delete(urlOf(request));
  }

  async keys() {
    return [...this.entries.keys()].map((url) => ({ url }));
  }
}

/** @param {string | {url: string}} request */
const urlOf = (request) => (typeof request === "string" ? request : request.url);

export class FakeCaches {
  /** @type {Map<string, FakeCache>} */
  all = new Map();

  /** @param {string} name */
  async open(name) {
    const cache = this.all.get(name) ?? new FakeCache();
    this.all.set(name, cache);
    return cache;
  }

  /** @param {string} name */
  async has(name) {
    return this.all.has(name);
  }

  async keys() {
    return [...this.all.keys()];
  }

  /** @param {string} name */
  async delete(name) {
    return this.all.delete(name);
  }
}
