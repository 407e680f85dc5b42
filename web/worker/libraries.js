// @ts-check
/**
 * Reloads the shared libraries (NumPy's) that a memory snapshot refers to.
 *
 * This restores what Emscripten's dynamic linker keeps outside the memory: functions in the table,
 * addresses of symbols, and the handles that Python holds. The linker itself can't do that, because
 * it would allocate new memory for each library, while these must come back to their old addresses.
 * The snapshot already contains what the libraries wrote into memory (addresses, results of
 * constructors).
 */

/**
 * @typedef {object} Library
 * @property {string} path    in Pyodide's file system
 * @property {number} handle  the result of dlopen
 * @property {number} memory  the address of its data
 * @property {[number, number]} slots  its slots of the table: the first, and the first after them
 */

// Why: docs/decisions/start.md, "NumPy comes in a snapshot of its own, laid over the first"
/**
 * @param {any} emscripten  the module of Pyodide's glue
 * @param {WebAssembly.Module} code
 * @param {Library} library
 * @returns {[number, number]}  the beginning and the end of its data
 * @throws {Error}  if the table does not have the expected size
 */
export function link(emscripten, code, { path, handle, memory, slots: [first, next] }) {
  const { wasmTable } = emscripten;
  const grow = (/** @type {number} */ slots) => {
    if (wasmTable.length > slots || emscripten.freeTableIndexes.length) {
      throw new Error(`${path}: the table has ${wasmTable.length} slots, not ${slots}.`);
    }
    wasmTable.grow(slots - wasmTable.length);
  };
  const { memorySize, tableSize, weakImports } = emscripten.getDylinkMetadata(code);
  grow(first); // in some browsers, what was loaded before uses fewer slots
  grow(first + tableSize);
  const resolve = (/** @type {string} */ name) => emscripten.resolveGlobalSymbol(name).sym;
  /** @type {Record<string, any>} */
  let own = {};
  const functions = new Proxy(
    { __memory_base: memory, __table_base: first },
    {
      get: (/** @type {any} */ bases, name) =>
        bases[name] ??
        resolve(String(name)) ??
        ((/** @type {unknown[]} */ ...args) => own[String(name)](...args)),
    },
  );
  const addresses = new Proxy(weakImports, emscripten.GOTHandler);
  const instance = new WebAssembly.Instance(code, {
    env: functions,
    wasi_snapshot_preview1: functions,
    "GOT.mem": addresses,
    "GOT.func": addresses,
  });
  emscripten.updateTableMap(first, tableSize);
  own = emscripten.relocateExports(instance.exports, memory);
  emscripten.updateGOT(own);
  emscripten.reportUndefinedSymbols();
  if (wasmTable.length !== next) {
    throw new Error(`${path}: it uses the slots up to ${wasmTable.length}, not ${next}.`);
  }
  emscripten.newDSO(path, handle, own).global = false;
  return [memory, memory + memorySize];
}
