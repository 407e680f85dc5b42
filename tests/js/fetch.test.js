// @ts-check
/**
 * Downloads over breaking connections (web/site/fetch.js, streamed.js): resumed or restarted;
 * files in pieces, used as they arrive. The server is a fake.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { afterEach, beforeEach, mock, test } from "node:test";

/**
 * Answers the fetch that fetch.js stores when it is loaded.
 * @type {(url: URL, options: any) => Promise<Response>}
 */
let answer;
globalThis.fetch = /** @type {any} */ (
  (/** @type {URL} */ url, /** @type {any} */ options) => answer(url, options)
);

const { fetchBytes, fetchJson } = await import("../../web/site/fetch.js");
const { StreamedFile } = await import("../../web/site/streamed.js");

const CONTENT = new Uint8Array(256 * 1200).map((_, i) => i);
const OTHER = CONTENT.slice().reverse();
const NAME = "big.bin";

/** @param {Uint8Array} bytes */
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** A fake server of one file, whose connections break. */
class Server {
  /** @type {Uint8Array<ArrayBuffer>} */
  content = CONTENT;
  /** Bytes after which each connection breaks; if negative, before a response. @type {number[]} */
  breaks = [];
  ranges = true;
  /** The content after the first connection. @type {Uint8Array<ArrayBuffer> | null} */
  changes = null;
  /** The index of a wrong byte, for each connection. @type {number[]} */
  damages = [];
  /** Whether responses without a range are compressed. */
  compressed = false;
  status = 200;
  /** The range of each request, "" for none. @type {string[]} */
  asked = [];
  /** The cache mode of each request. @type {string[]} */
  caches = [];
  sent = 0;

  /** @param {any} options @returns {Promise<Response>} */
  async answer({ headers, signal, cache }) {
    const range = headers.Range ?? "";
    this.asked.push(range);
    this.caches.push(cache);
    if (this.status !== 200) return new Response(null, { status: this.status });
    let content = this.content;
    const tag = `"${sha256(content).slice(0, 16)}"`;
    let first = 0;
    if (this.ranges && range && [undefined, tag].includes(headers["If-Range"])) {
      first = Number(/^bytes=(\d+)-$/.exec(range)?.[1]);
    }
    if (this.damages.length) {
      const wrong = /** @type {number} */ (this.damages.shift());
      content = content.slice();
      content[wrong] ^= 1;
    }
    const end = this.breaks.shift() ?? content.length;
    if (end < 0) throw new TypeError("Failed to fetch");
    /** @type {Record<string, string>} */
    const sent = {};
    if (this.ranges) sent.ETag = tag;
    if (this.compressed && !range) sent["Content-Encoding"] = "gzip";
    if (first) sent["Content-Range"] = `bytes ${first}-${content.length - 1}/${content.length}`;
    if (this.changes) this.content = this.changes;
    this.sent += Math.max(0, end - first);
    return new Response(
      bodyOf(content.subarray(first, Math.max(first, end)), end < content.length, signal),
      {
        status: first ? 206 : 200,
        headers: sent,
      },
    );
  }
}

/**
 * A body in chunks, which may break at its end.
 * @param {Uint8Array} bytes
 * @param {boolean} breaks
 * @param {AbortSignal} signal
 */
function bodyOf(bytes, breaks, signal) {
  let sent = 0;
  return new ReadableStream(
    {
      pull(stream) {
        if (signal.aborted) return stream.error(signal.reason);
        if (sent < bytes.length) {
          const chunk = bytes.slice(sent, sent + 10_000);
          sent += chunk.length;
          return stream.enqueue(chunk);
        }
        return breaks ? stream.error(new TypeError("network error")) : stream.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** @type {Server} */
let server;

beforeEach(() => {
  server = new Server();
  answer = (_, options) => server.answer(options);
  // Pauses between tries take no time, and timeouts never end.
  const wait = globalThis.setTimeout;
  mock.method(
    globalThis,
    "setTimeout",
    (/** @type {() => void} */ call, /** @type {number} */ ms) =>
      ms < 10_000 ? wait(call, 0) : wait(call, 1 << 30),
  );
});

afterEach(() => mock.restoreAll());

/**
 * The result of fetchBytes(), which expects this content.
 * @param {Uint8Array} [content]
 * @param {object} [more]
 */
async function fetched(content = CONTENT, more = {}) {
  let progress = 0;
  const onBytes = (/** @type {number} */ n) => (progress += n);
  const expected = { bytes: content.length, sha256: sha256(content), onBytes, ...more };
  try {
    return { progress, sum: sha256(await fetchBytes(NAME, expected)), arrived: progress };
  } catch (error) {
    const { name, message } = /** @type {Error} */ (error);
    return { failed: `${name}: ${message}`, arrived: progress };
  }
}

/** @param {{sum?: string, arrived: number}} result @param {Uint8Array} [content] */
function isWhole({ sum, arrived }, content = CONTENT) {
  assert.equal(sum, sha256(content));
  assert.equal(arrived, content.length);
}

for (const at of [-1, 0, 1, 65_536, CONTENT.length - 1]) {
  test(`a download that breaks at ${at} resumes at that byte`, async () => {
    server.breaks = [at];
    isWhole(await fetched());
    assert.deepEqual(server.asked, ["", at > 0 ? `bytes=${at}-` : ""]);
    assert.equal(server.sent, CONTENT.length);
  });
}

test("a download that breaks often resumes as long as it makes progress", async () => {
  const breaks = [70_000, 140_000, 210_000, 280_000, 300_000, 305_000];
  server.breaks = [...breaks];
  isWhole(await fetched());
  assert.deepEqual(server.asked, ["", ...breaks.map((at) => `bytes=${at}-`)]);
  assert.equal(server.sent, CONTENT.length);
});

test("a download of unknown size resumes too", async () => {
  server.breaks = [1000, 2000];
  isWhole(await fetched(CONTENT, { bytes: undefined, sha256: undefined }));
  assert.deepEqual(server.asked, ["", "bytes=1000-", "bytes=2000-"]);
});

test("a download without progress is given up", async () => {
  server.breaks = new Array(9).fill(100);
  const { failed, arrived } = await fetched();
  assert.match(failed ?? "", /^FetchError: .*big\.bin/);
  assert.equal(arrived, 0);
  assert.equal(server.asked.length, 4);
});

test("a server that is never reached is given up", async () => {
  server.breaks = new Array(9).fill(-1);
  assert.match(
    (await fetched()).failed ?? "",
    /^FetchError: big\.bin .* the server can’t be reached/,
  );
  assert.equal(server.asked.length, 4);
});

test("a server without ranges starts over", async () => {
  server.ranges = false;
  server.breaks = [1000, 100_000];
  isWhole(await fetched());
  assert.deepEqual(server.asked, ["", "", ""]);
});

test("a compressed download starts over", async () => {
  server.compressed = true;
  server.breaks = [100_000];
  isWhole(await fetched());
  assert.deepEqual(server.asked, ["", ""]);
});

test("parts of two builds never mix", async () => {
  server.breaks = [1000];
  server.changes = OTHER;
  isWhole(await fetched(OTHER), OTHER);
  assert.deepEqual(server.asked, ["", "bytes=1000-"]);
});

test("wrong content is refused", async () => {
  server.breaks = [1000];
  const { failed } = await fetched(CONTENT, { sha256: "0".repeat(64) });
  assert.match(failed ?? "", /its sha256 is/);
});

test("a wrong size is refused, and errors of the server are reported", async () => {
  const { failed } = await fetched(CONTENT, { bytes: 7 });
  assert.match(failed ?? "", /is damaged: it has 307200 bytes, expected 7/);
  server.status = 404;
  assert.match((await fetched()).failed ?? "", /big\.bin is missing from the server \(404\)/);
  server.status = 500;
  assert.match((await fetched()).failed ?? "", /500/);
});

test("files with a hash in their name are cached, others are revalidated", async () => {
  await fetchBytes(NAME);
  await fetchBytes("a-0123456789.bin");
  assert.deepEqual(server.caches, ["no-cache", "default"]);
});

test("a silent server is asked once more, then given up", async () => {
  mock.restoreAll();
  mock.timers.enable({ apis: ["setTimeout"] });
  let asked = 0;
  answer = () => {
    asked += 1;
    return new Promise(() => {});
  };
  const failing = fetched();
  for (let i = 0; i < 40 && asked < 3; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    mock.timers.tick(29_999 + (i % 2));
  }
  mock.timers.tick(30_000);
  assert.match((await failing).failed ?? "", /30 seconds/);
  assert.equal(asked, 2);
  mock.timers.reset();
});

test("JSON is parsed, and an error names the file", async () => {
  server.content = /** @type {any} */ (new TextEncoder().encode('{"a": [1]}'));
  assert.deepEqual(await fetchJson(NAME), { a: [1] });
  server.content = /** @type {any} */ (new TextEncoder().encode("<html>"));
  await assert.rejects(fetchJson(NAME), /big\.bin/);
});

// ---- files in pieces --------------------------------------------------------------------------

const ENDS = [65_536, 200_000, CONTENT.length];

/**
 * The end and the SHA-256 of each piece.
 * @param {Uint8Array} content
 * @returns {[number, string][]}
 */
const pieces = (content) =>
  ENDS.map((end, i) => [end, sha256(content.subarray(i ? ENDS[i - 1] : 0, end))]);

/**
 * The result of a StreamedFile in three pieces of this content.
 * @param {Uint8Array} [content]
 * @param {number} [stopAt]
 */
async function streamed(content = CONTENT, stopAt = 0) {
  let progress = 0;
  /** @type {InstanceType<typeof StreamedFile>} */
  const file = new StreamedFile(NAME, pieces(content), (n) => {
    progress += n;
    if (stopAt && progress >= stopAt) file.stop();
  });
  let begin = 0;
  const parts = ENDS.map((end) => {
    const part = file.part(begin, end - begin);
    begin = end;
    return part.ready().then(() => ({ at: progress, sum: sha256(part.take()) }));
  });
  const failed = await file.whole.then(
    () => "",
    ({ name, message }) => `${name}: ${message}`,
  );
  const ready = await Promise.allSettled(parts);
  return { progress, failed, failure: file.failure, ready };
}

/** @param {Awaited<ReturnType<typeof streamed>>} result @param {Uint8Array} [content] */
function hasArrived({ progress, failed, ready }, content = CONTENT) {
  assert.equal(failed, "");
  assert.equal(progress, content.length);
  const arrived = ready.map((one) => (one.status === "fulfilled" ? one.value : assert.fail()));
  assert.ok(arrived[0].at < content.length, "the first piece arrived before the last");
  assert.deepEqual(
    arrived.map(({ sum }) => sum),
    pieces(content).map(([, sum]) => sum),
  );
}

/** @param {Awaited<ReturnType<typeof streamed>>} result */
const states = ({ ready }) => ready.map(({ status }) => status);

test("bytes that all parts have taken are released", async () => {
  const file = new StreamedFile(NAME, pieces(CONTENT), () => {});
  const [one, other] = [file.part(0, 4), file.part(4, 4)];
  await file.whole;
  assert.deepEqual(
    [...one.take(), ...one.bytes(), ...other.take()],
    [0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7],
  );
  assert.throws(() => other.bytes(), /Bytes 0 to 65536 have been released\./);
  assert.throws(() => file.part(65_530, 10), /are not within one piece/);
});

for (const at of [-1, 0, 1, 65_535, 65_536, 70_000, CONTENT.length - 1, CONTENT.length]) {
  test(`a file in pieces that breaks at ${at} resumes at that byte`, async () => {
    server.breaks = [at];
    hasArrived(await streamed());
    const again = at < CONTENT.length ? [at > 0 ? `bytes=${at}-` : ""] : [];
    assert.deepEqual(server.asked, ["", ...again]);
    assert.equal(server.sent, CONTENT.length);
  });
}

test("a compressed file in pieces resumes too, because the pieces are checked", async () => {
  server.compressed = true;
  server.breaks = [200_000];
  hasArrived(await streamed());
  assert.deepEqual(server.asked, ["", "bytes=200000-"]);
});

test("if the server has no ranges, bytes that are already here are skipped", async () => {
  server.ranges = false;
  server.breaks = [100_000];
  hasArrived(await streamed());
  assert.deepEqual(server.asked, ["", "bytes=100000-"]);
});

for (const [wrong, begin] of [
  [0, 0],
  [70_000, 65_536],
  [CONTENT.length - 1, 200_000],
]) {
  test(`a piece damaged at ${wrong} is fetched again`, async () => {
    server.damages = [wrong];
    hasArrived(await streamed());
    assert.deepEqual(server.asked, ["", begin ? `bytes=${begin}-` : ""]);
    assert.deepEqual(server.caches, ["no-cache", "reload"]); // the browser's copy may be damaged
  });
}

test("a piece that stays damaged is refused; the pieces before it are used", async () => {
  server.damages = [70_000, 70_000];
  const result = await streamed();
  assert.match(result.failed, /its sha256 is/);
  assert.deepEqual(states(result), ["fulfilled", "rejected", "rejected"]);
  assert.equal(result.progress, 0);
});

test("pieces of two builds never mix", async () => {
  server.breaks = [100_000];
  server.changes = OTHER;
  const result = await streamed();
  assert.match(result.failed, /its sha256 is/);
  assert.deepEqual(states(result), ["fulfilled", "rejected", "rejected"]);
});

for (const content of [CONTENT.slice(0, -1), new Uint8Array([...CONTENT, 33])]) {
  test(`another size is refused, of ${content.length} bytes`, async () => {
    server.content = content;
    assert.match((await streamed()).failed, /it has \d+ bytes, expected 307200/);
  });
}

test("a stopped download ends silently", async () => {
  const result = await streamed(CONTENT, 100_000);
  assert.deepEqual(states(result), ["fulfilled", "rejected", "rejected"]);
  assert.deepEqual(
    [result.progress, result.failure, result.failed],
    [CONTENT.length, undefined, ""],
  );
  assert.deepEqual(server.asked, [""]);
});
