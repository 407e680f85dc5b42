/**
 * Has Workbox write the service worker of a built site, which keeps all of its files for use without
 * a network, each checked by its hash when it arrives. Who asks for what the browser's own cache has,
 * and for nothing else, gets that (web/worker/runtime.js): machine code is kept there with a file.
 *
 * Where the server does not isolate the page from other origins (headers.py), the service worker
 * does, from the second visit on: threads need that.
 *
 *     node service_worker.mjs FOLDER
 */

import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { generateSW } from "workbox-build";

const [folder] = process.argv.slice(2);

const ASIDE = `addEventListener("fetch", (event) => {
  const { cache, destination } = event.request;
  if (cache === "only-if-cached") event.stopImmediatePropagation();
  if (!["document", "iframe", "worker"].includes(destination)) return;
  const respond = event.respondWith.bind(event);
  event.respondWith = (answer) => respond(Promise.resolve(answer).then(isolated));
});
const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};
function isolated(response) {
  const { body, status, statusText } = response;
  const headers = new Headers(response.headers);
  if (!status || headers.has("Cross-Origin-Embedder-Policy")) return response;
  for (const [name, value] of Object.entries(ISOLATION)) headers.set(name, value);
  return new Response(body, { status, statusText, headers });
}
`;

/** @param {{url: string}} entry  of the precache manifest */
async function sealed(entry) {
  const content = await readFile(join(folder, entry.url));
  return { ...entry, integrity: `sha256-${createHash("sha256").update(content).digest("base64")}` };
}

const swDest = join(folder, "service-worker.js");
const { warnings } = await generateSW({
  swDest,
  globDirectory: folder,
  globPatterns: ["**/*"],
  // Other forms of files, which the server may give instead; models that a visitor chooses, which
  // Python keeps (files/browser.py).
  globIgnores: ["**/*.{br,gz}", "models/published/**"],
  // What the browser has of these is right, so that it need not fetch it again (site.py).
  dontCacheBustURLsMatching: /-[0-9a-f]{10}[./]/,
  maximumFileSizeToCacheInBytes: Number.MAX_SAFE_INTEGER,
  manifestTransforms: [async (entries) => ({ manifest: await Promise.all(entries.map(sealed)) })],
  inlineWorkboxRuntime: true,
  sourcemap: false,
  // The page that is open is served from its first visit on; a new version waits to be asked for.
  clientsClaim: true,
  skipWaiting: false,
  // What Workbox takes for outdated includes the files of a site in a folder below; those of older
  // versions of this one lie in the cache of this one, and go with it.
  cleanupOutdatedCaches: false,
  // ?device=numpy and the like are for the page, which is the same file.
  ignoreURLParametersMatching: [/./],
});
if (warnings.length) {
  console.error(warnings.join("\n"));
  process.exit(1);
}
await writeFile(swDest, ASIDE + (await readFile(swDest, "utf-8"))); // before Workbox listens
