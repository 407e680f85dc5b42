/**
 * Compresses files with Brotli, at a level from 0 to 11, and gzip.
 *
 *     node compress.mjs '[["file", "target", level], ...]'     writes target.br and target.gz
 *
 * Both are empty where they would save next to nothing.
 */

import { readFile, rename, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** The part of a file that must be saved. */
const WORTH = 0.02;

const METHODS = {
  br: (/** @type {Buffer} */ content, /** @type {number} */ level) =>
    promisify(brotliCompress)(content, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: level,
        [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      },
    }),
  gz: (/** @type {Buffer} */ content) => promisify(gzip)(content, { level: 9 }),
};

/** @param {string} file @param {string} target @param {number} level  of Brotli */
async function compress(file, target, level) {
  const content = await readFile(file);
  for (const [ending, method] of Object.entries(METHODS)) {
    const packed = await method(content, level);
    const pays = packed.length < content.length * (1 - WORTH);
    // A file under its own name is whole, also after an interruption.
    await writeFile(`${target}.new`, pays ? packed : "");
    await rename(`${target}.new`, `${target}.${ending}`);
  }
}

/** @type {[string, string, number][]} */
const jobs = JSON.parse(process.argv[2]);
await Promise.all(jobs.map((job) => compress(...job)));
