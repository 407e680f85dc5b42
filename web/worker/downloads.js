// @ts-check
/** The worker's downloads, and their progress in total. */

import { StreamedFile } from "../site/streamed.js";
import { fetchBytes } from "../site/fetch.js";
import { announce } from "./serve.js";

/** Milliseconds between two reports of progress, at least. */
const MIN_MS_BETWEEN_REPORTS = 50;

let done = 0;
let total = 0;
let open = 0;
let reportedAt = 0;

/**
 * Fetch a file of the site, reporting progress to the calls that are open.
 * @param {string} path  relative to the site
 * @param {{bytes: number, sha256?: string}} expected
 * @param {(response: Response) => void} [onResponse]  see fetch.js
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 * @throws {import("../site/fetch.js").FetchError}
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
 * Fetch a file in pieces that can be used as they arrive, reporting progress in the same way.
 * @param {string} path  relative to the site
 * @param {import("../site/streamed.js").Piece[]} pieces
 * @returns {StreamedFile}
 */
export function downloadPieces(path, pieces) {
  if (open === 0) done = total = 0;
  const file = new StreamedFile(path, pieces, add);
  open += 1;
  total += file.size;
  const ended = () => {
    open -= 1;
    if (open === 0) report();
  };
  file.whole.then(ended, ended);
  return file;
}

/** @param {number} bytes */
function add(bytes) {
  done += bytes;
  if (performance.now() - reportedAt >= MIN_MS_BETWEEN_REPORTS) report();
}

function report() {
  reportedAt = performance.now();
  announce({ stage: "download", done, total });
}
