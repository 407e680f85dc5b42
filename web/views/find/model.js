// @ts-check
/** A name that tells a model from others: vectors of two models are of no use together. */

import { digest, hex } from "../../shared/bytes.js";

/**
 * @param {import("../../widgets/model/choice.js").Source} source
 * @returns {Promise<string>}
 */
export async function nameOf(source) {
  if ("hub" in source) return `${source.hub}@${source.revision}`;
  if ("files" in source) return sumOf(source.files.map(({ sha256 }) => sha256));
  const sums = source.blobs.map(async (file) =>
    hex(await digest(new Uint8Array(await file.arrayBuffer()))),
  );
  return sumOf(await Promise.all(sums));
}

/** One hash of several, in any order. @param {string[]} sums */
const sumOf = async (sums) => hex(await digest(new TextEncoder().encode(sums.sort().join())));
