/**
 * Has Rollup bundle the page's modules: one file for each page and each worker, with a hash of its
 * content in its name, so that a visitor waits for one answer of the server and not for sixty.
 *
 *     node bundle.mjs WEB FOLDER     prints {"worker/main.js": "worker/main-0123456789.js", ...}
 *
 * A module that WEB lacks is one that the build has put into FOLDER, or a list of what the folders
 * in WEB/views have, which is made here: a view is found, and named nowhere else.
 *
 * What a module names by `new URL("path", import.meta.url)` it still finds from where its bundle
 * lies: workers and files of WEB under their hashed names, everything else where it was.
 */

import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, parse, posix, relative, resolve, sep } from "node:path";

import { rollup } from "rollup";

/** Workers first: the pages name them, and they name those of their own. */
const ENTRIES = ["wasm/thread.js", "worker/main.js", "worker/script.js", "worker/photographs.js", "boot/begin.js", "widgets/engine/machine.js", "boot/main.js", "boot/start.js", "boot/python.js"];

const PACKAGES = { "workbox-window": "build/workbox-window.prod.mjs" };

const NAMED = /new URL\(\s*"([^"]+)",\s*import\.meta\.url,?\s*\)/g;

const [web, folder] = process.argv.slice(2).map((path) => resolve(path));

/** The folders of views, in the order of their names. */
const views = existsSync(join(web, "views"))
  ? readdirSync(join(web, "views"), { withFileTypes: true }).filter((each) => each.isDirectory()).map(({ name }) => name).sort()
  : [];

/** A module that exports one of each view that has it, by the view's name. @param {string} file */
function listOf(file) {
  const having = views.filter((name) => existsSync(join(web, "views", name, file)));
  const imports = having.map((name, i) => `import v${i} from ${JSON.stringify(join(web, "views", name, file))};`);
  return `${imports.join("\n")}\nexport default { ${having.map((name, i) => `${name}: v${i}`).join(", ")} };\n`;
}

/** Modules that are made here, by their path below WEB. @type {Record<string, () => string>} */
const MADE = { "runtime/workers.js": () => listOf("worker.js") };

/** What was written, by its path below WEB. @type {Record<string, string>} */
const written = {};

/** @param {string} name @param {string | Buffer} content */
async function write(name, content) {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 10);
  const { dir, name: stem, ext } = parse(name);
  written[name] = posix.join(dir, `${stem}-${hash}${ext}`);
  await mkdir(join(folder, dir), { recursive: true });
  await writeFile(join(folder, written[name]), content);
}

/** @param {string} entry  whose bundle the modules become parts of */
function placed(entry) {
  return {
    name: "placed",

    /** @param {string} name @param {string} [importer] */
    resolveId(name, importer) {
      const own = name.startsWith(".") && importer && resolve(dirname(importer), name);
      if (own && !existsSync(own)) return join(folder, relative(web, own));
      const file = PACKAGES[name];
      return file && join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), file);
    },

    /** @param {string} id */
    load: (id) => MADE[relative(folder, id).split(sep).join("/")]?.(),

    /** @param {string} code @param {string} id */
    async transform(code, id) {
      if (id.endsWith(".json")) return `export default ${code}`;
      for (const [, path] of code.matchAll(NAMED)) {
        const target = resolve(dirname(id), path);
        const name = relative(web, target).split(sep).join("/");
        const isFile = existsSync(target) && statSync(target).isFile();
        if (isFile && !written[name]) await write(name, await readFile(target));
      }
      return code.replace(NAMED, (_, path) => {
        const name = relative(web, resolve(dirname(id), path)).split(sep).join("/");
        const from = posix.relative(posix.dirname(entry), written[name] ?? name);
        const address = `${from.startsWith(".") ? from : `./${from}`}${path.endsWith("/") ? "/" : ""}`;
        return `new URL("${posix.normalize(address) === "./" ? "./" : address}", import.meta.url)`;
      });
    },
  };
}

for (const entry of ENTRIES) {
  const bundle = await rollup({
    input: join(web, entry),
    plugins: [placed(entry)],
    onLog: (_, { message }) => {
      throw new Error(`${entry}: ${message}`);
    },
  });
  const { output } = await bundle.generate({ format: "es", indent: false });
  await bundle.close();
  if (output.length !== 1) throw new Error(`${entry} became ${output.length} files`);
  await write(entry, output[0].code);
}
console.log(JSON.stringify(written));
