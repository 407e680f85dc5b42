// @ts-check
/**
 * What the worker downloads, added up: bytes here of bytes in all, over everything under way.
 */

import { StreamedFile } from "../shared/streamed.js";
import { fetchBytes } from "../shared/fetch.js";
import { emit } from "./serve.js";

/** Progress is reported at most this often. */
const EVERY_MS = 50;

let done = 0;
let total = 0;
let open = 0;
let reported = 0;

/**
 * Fetch a file of the site, reporting progress as events of the stage "download".
 * @param {string} path  relative to the site
 * @param {{bytes: number, sha256?: string}} expected
 * @param {(response: Response) => void} [onResponse]  see fetch.js
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 * @throws {import("../shared/fetch.js").FetchError}
 */
export async function download(path, { bytes, sha256 }, onResponse) {
  if (open === 0) done = total = 0;
  open += 1;
  total += bytes;
  try {
    return await fetchBytes(path, { bytes, sha256, onBytes: add, onResponse });
  } finally {
    open -= 1;
    if (open === 0) report();
  }
}

/**
 * Fetch a file in pieces that are used as they arrive, reporting progress likewise.
 * @param {string} path  relative to the site
 * @param {import("../shared/streamed.js").Piece[]} pieces
 * @returns {StreamedFile}
 */
export function downloadPieces(path, pieces) {
  if (open === 0) done = total = 0;
  const file = new StreamedFile(path, pieces, add);
  open += 1;
  total += file.size;
  const over = () => {
    open -= 1;
    if (open === 0) report();
  };
  file.whole.then(over, over);
  return file;
}

/** @param {number} bytes */
function add(bytes) {
  done += bytes;
  if (performance.now() - reported >= EVERY_MS) report();
}

function report() {
  reported = performance.now();
  emit("progress", { stage: "download", done, total });
}
