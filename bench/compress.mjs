/**
 * Compresses a file with brotli as tightly as browsers can read it.
 *
 *     node compress.mjs FROM TO
 */

import { readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";

const [from, to] = process.argv.slice(2);
const content = readFileSync(from);
const params = {
  [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
};
writeFileSync(to, brotliCompressSync(content, { params }));
