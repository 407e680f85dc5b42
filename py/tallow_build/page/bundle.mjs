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
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, parse, posix, relative, resolve, sep } from "node:path";

import { rollup } from "rollup";

/** Workers first: the pages name them, and they name those of their own. */
const ENTRIES = ["wasm/thread.js", "worker/main.js", "worker/script.js", "worker/photographs.js", "boot/begin.js", "widgets/engine/machine.js", "boot/main.js", "boot/start.js", "boot/python.js"];

const PACKAGES = { "workbox-window": "build/workbox-window.prod.mjs" };

const NAMED = /new URL\(\s*"([^"]+)",\s*import\.meta\.url,?\s*\)/g;

const [web, folder] = process.argv.slice(2).map((path) => resolve(path));

/** What a view's view.json says, by the view's name, in the order of the menu. @type {Record<string, {place: number, model: string | null}>} */
const views = Object.fromEntries(
  (existsSync(join(web, "views")) ? readdirSync(join(web, "views")).sort() : [])
    .filter((name) => existsSync(inView(name, "view.json")))
    .map((name) => /** @type {const} */ ([name, JSON.parse(readFileSync(inView(name, "view.json"), "utf8"))]))
    .sort(([, one], [, other]) => one.place - other.place),
);

/** @param {string} name @param {string} file */
function inView(name, file) {
  return join(web, "views", name, file);
}

/**
 * Imports from each view that has a file, what they name, and the same by the view's name.
 * @param {(name: string) => string} fileOf
 * @param {string} prefix  of the imported names
 * @param {string} [whole]  "* as " to import all that a module exports
 */
function eachOf(fileOf, prefix, whole = "") {
  const having = Object.keys(views).filter((name) => existsSync(inView(name, fileOf(name))));
  const imports = having.map((name) => `import ${whole}${prefix}_${name} from ${JSON.stringify(inView(name, fileOf(name)))};\n`);
  const names = having.map((name) => `${prefix}_${name}`).join(", ");
  const entries = having.map((name) => `${name}: ${prefix}_${name}`).join(", ");
  return { imports: imports.join(""), names, entries };
}

/** The lists of what the views have, by their path below WEB. @type {Record<string, () => string>} */
const MADE = {
  "runtime/views.js": () =>
    `export default ${JSON.stringify(Object.fromEntries(Object.entries(views).map(([name, { model }]) => [name, { model }])))};\n`,
  "runtime/workers.js": () => {
    const { imports, entries } = eachOf(() => "worker.js", "worker");
    return `${imports}export default { ${entries} };\n`;
  },
  "runtime/pages.js": () => {
    const classes = eachOf((name) => `${name}.js`, "view");
    const [en, zh] = ["en", "zh"].map((code) => eachOf(() => `texts/${code}.js`, code, "* as "));
    return `${classes.imports}${en.imports}${zh.imports}export const VIEWS = { ${classes.entries} };
export const TEXTS = { en: [${en.names}], zh: [${zh.names}] };\n`;
  },
};

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
