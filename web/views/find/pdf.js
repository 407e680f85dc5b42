// @ts-check
/** The page's end of worker/pdf.js, a worker that lives as long as a file takes. */

import { Rpc } from "../../engine/rpc.js";
import { LocalizedError, words } from "../../i18n/messages.js";

const WORKER = new URL("../../worker/pdf.js", import.meta.url);

/** Seconds of silence after which it is stuck: longer than any page takes. */
const PATIENCE = 120;

/** What pdf.js throws, and what the page says. */
const REASONS = { PasswordException: "findLocked", InvalidPDFException: "findDamaged" };

/**
 * The pages of a PDF file that have texts.
 * @param {File} file
 * @param {AbortSignal} signal
 * @param {(done: number, total: number) => void} progress
 * @returns {Promise<Blob>}  JSON: [[number, text], ...]
 * @throws {LocalizedError}  if it can't be read, or has no text
 */
export async function pagesOf(file, signal, progress) {
  const rpc = new Rpc(WORKER, PATIENCE);
  const onProgress = (/** @type {{done: number, total: number}} */ { done, total }) =>
    progress(done, total);
  const stop = () => rpc.close("");
  signal.addEventListener("abort", stop);
  try {
    const pages = await rpc.call("read", { file }, { signal, onProgress });
    if (!pages.length) throw new LocalizedError(words("findScanned"));
    return new Blob([JSON.stringify(pages)]);
  } catch (error) {
    const { type } = /** @type {{type?: keyof typeof REASONS}} */ (error);
    const reason = type && REASONS[type];
    throw reason ? new LocalizedError(words(/** @type {any} */ (reason))) : error;
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}
