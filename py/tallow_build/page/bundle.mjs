/**
 * Has Rollup bundle the page's modules: one file for each page and each worker, with a hash of its
 * content in its name, so that a visitor waits for one answer of the server and not for sixty. A
 * lazy view is two files more, views/NAME-HASH.js and worker/NAME-HASH.js, which are imported when
 * it is opened; what lazy views share, and the page lacks, is another file in views/.
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
const ENTRIES = ["wasm/thread.js", "worker/main.js", "worker/script.js", "worker/photographs.js", "worker/pdf.js", "boot/begin.js", "widgets/engine/machine.js", "boot/main.js", "boot/start.js", "boot/python.js"];

/** What the modules import of packages, and the file of it. @type {Record<string, string>} */
const PACKAGES = {
  "workbox-window": "workbox-window/build/workbox-window.prod.mjs",
  "pdfjs-dist/legacy/build/pdf.mjs": "pdfjs-dist/legacy/build/pdf.min.mjs",
  "pdfjs-dist/legacy/build/pdf.worker.mjs": "pdfjs-dist/legacy/build/pdf.worker.min.mjs",
  uplot: "uplot/dist/uPlot.iife.min.js",
};

/** Packages whose smallest file is a script, and the name that it defines. @type {Record<string, string>} */
const SCRIPTS = { "uPlot.iife.min.js": "uPlot" };

const NAMED = /new URL\(\s*"([^"]+)",\s*import\.meta\.url,?\s*\)/g;

/** The folder of the packages. */
const packages = join(dirname(createRequire(import.meta.url).resolve("workbox-window/package.json")), "..");

const [web, folder] = process.argv.slice(2).map((path) => resolve(path));

/**
 * @typedef {object} Described  what a view's view.json says; web/views/view.d.ts explains it
 * @property {number} place
 * @property {string | null} model
 * @property {Record<string, string>} menu
 * @property {boolean} [lazy]
 * @property {string[]} [files]
 * @property {string[]} [styles]
 */

/** What the views say, by their names, in the order of the menu. @type {Record<string, Described>} */
const views = Object.fromEntries(
  (existsSync(join(web, "views")) ? readdirSync(join(web, "views")).sort() : [])
    .filter((name) => existsSync(inView(name, "view.json")))
    .map((name) => /** @type {const} */ ([name, JSON.parse(readFileSync(inView(name, "view.json"), "utf8"))]))
    .sort(([, one], [, other]) => one.place - other.place),
);
const [eager, lazy] = [false, true].map((wanted) =>
  Object.keys(views).filter((name) => Boolean(views[name].lazy) === wanted),
);

/** @param {string} name @param {string} file */
function inView(name, file) {
  return join(web, "views", name, file);
}

const quote = JSON.stringify;

/**
 * Imports from each view that has a file, what they name, and the same by the view's name.
 * @param {string[]} names  of views
 * @param {(name: string) => string} fileOf
 * @param {string} prefix  of the imported names
 * @param {string} [whole]  "* as " to import all that a module exports
 */
function eachOf(names, fileOf, prefix, whole = "") {
  const having = names.filter((name) => existsSync(inView(name, fileOf(name))));
  const imports = having.map((name) => `import ${whole}${prefix}_${name} from ${quote(inView(name, fileOf(name)))};\n`);
  const list = having.map((name) => `${prefix}_${name}`).join(", ");
  const entries = having.map((name) => `${name}: ${prefix}_${name}`).join(", ");
  return { imports: imports.join(""), list, entries };
}

/**
 * Functions that import a file of each lazy view that has it, by the view's name.
 * @param {(name: string) => string} pathOf
 */
function later(pathOf) {
  const entries = lazy
    .map((name) => /** @type {const} */ ([name, pathOf(name)]))
    .filter(([, path]) => path.startsWith(folder) || existsSync(path));
  return `{ ${entries.map(([name, path]) => `${name}: () => import(${quote(path)})`).join(", ")} }`;
}

/** All that a lazy view's page is made of. @param {string} name */
function whole(name) {
  const styles = readdirSync(join(web, "views", name), { recursive: true, encoding: "utf8" });
  const own = styles.filter((path) => path.endsWith(".css")).sort().map((path) => inView(name, path));
  const others = (views[name].styles ?? []).map((path) =>
    path.startsWith("web/") ? join(web, path.slice(4)) : join(packages, path),
  );
  const css = [...others, ...own].map((path) => readFileSync(path, "utf8"));
  return `export { default as View } from ${quote(inView(name, `${name}.js`))};
export * as en from ${quote(inView(name, "texts/en.js"))};
export * as zh from ${quote(inView(name, "texts/zh.js"))};
export const html = ${quote(readFileSync(inView(name, `${name}.html`), "utf8").replace(/\n\s*/g, "\n"))};
export const css = ${quote(css.join("\n"))};\n`;
}

/** The lists of what the views have, by their path below WEB. @type {Record<string, () => string>} */
const MADE = {
  "runtime/views.js": () => {
    const known = Object.entries(views).map(([name, { model, files }]) => [name, { model, files }]);
    return `export default ${quote(Object.fromEntries(known))};\n`;
  },
  "runtime/workers.js": () => {
    const { imports, entries } = eachOf(eager, () => "worker.js", "worker");
    return `${imports}export const ACTIONS = { ${entries} };
export const LATER = ${later((name) => inView(name, "worker.js"))};\n`;
  },
  "runtime/pages.js": () => {
    const classes = eachOf(eager, (name) => `${name}.js`, "view");
    const tables = ["en", "zh"].map((code) => eachOf(eager, () => `texts/${code}.js`, code, "* as "));
    const menus = Object.entries(views).map(([name, { menu }]) => [`to${name[0].toUpperCase()}${name.slice(1)}`, menu.zh]);
    const [en, zh] = tables.map(({ list }) => list);
    return `${classes.imports}${tables.map(({ imports }) => imports).join("")}export const VIEWS = { ${classes.entries} };
export const LATER = ${later((name) => join(folder, "views", `${name}.js`))};
export const TEXTS = { en: [${en}], zh: [${zh}, { texts: {}, page: ${quote(Object.fromEntries(menus))} }] };\n`;
  },
  ...Object.fromEntries(lazy.map((name) => [`views/${name}.js`, () => whole(name)])),
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
      if (name.startsWith(folder)) return name;
      const own = name.startsWith(".") && importer && resolve(dirname(importer), name);
      if (own && !existsSync(own)) return join(folder, relative(web, own));
      const file = PACKAGES[name];
      return file && join(packages, file);
    },

    /** @param {string} id */
    load(id) {
      const defined = SCRIPTS[parse(id).base];
      if (defined) return `${readFileSync(id, "utf8")}\nexport default ${defined};\n`;
      return MADE[relative(folder, id).split(sep).join("/")]?.();
    },

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
    preserveEntrySignatures: "allow-extension", // a lazy view imports what its page has, too
    plugins: [placed(entry)],
    onLog: (_, { message }) => {
      throw new Error(`${entry}: ${message}`);
    },
  });
  const { output } = await bundle.generate({
    format: "es",
    indent: false,
    hashCharacters: "hex",
    entryFileNames: `${entry.replace(/\.js$/, "")}-[hash:10].js`,
    chunkFileNames: (chunk) => partOf(chunk).replace(".js", "-[hash:10].js"),
  });
  await bundle.close();
  for (const chunk of output) {
    if (chunk.type !== "chunk") throw new Error(`${entry}: ${chunk.fileName} is no module`);
    written[chunk.isEntry ? entry : partOf(chunk)] = chunk.fileName;
    await mkdir(dirname(join(folder, chunk.fileName)), { recursive: true });
    await writeFile(join(folder, chunk.fileName), chunk.code);
  }
}

/**
 * The name of what a lazy view's page, its side of the worker, or what lazy views share is bundled
 * into. All lie as deep as the entries, so that the paths to other files are the same ones.
 * @param {{facadeModuleId: string | null, moduleIds: string[]}} chunk
 */
function partOf({ facadeModuleId, moduleIds }) {
  const { dir, base, name } = parse(facadeModuleId ?? moduleIds[moduleIds.length - 1]);
  return base === "worker.js" ? `worker/${parse(dir).base}.js` : `views/${name}.js`;
}

console.log(JSON.stringify(written));
