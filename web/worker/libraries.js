// @ts-check
/**
 * Shared libraries (NumPy's) that a snapshot of memory refers to, loaded again.
 *
 * What Emscripten's dynamic linker keeps outside the memory is made as it was: the functions in the
 * table, the addresses of symbols, the handles that Python has. It can't do that itself, since it takes
 * new memory for each library; here they come to where they were. What they would then write into
 * memory (addresses, the results of constructors) is in the snapshot.
 */

/**
 * @typedef {object} Library
 * @property {string} path    in Pyodide's file system, where it was
 * @property {number} handle  what dlopen gave
 * @property {number} memory  the address of its data
 * @property {[number, number]} slots  of the table: the first that it took, the first after those
 */

/**
 * @param {any} emscripten  the module of Pyodide's glue
 * @param {WebAssembly.Module} code
 * @param {Library} told
 * @returns {[number, number]}  where its data lie: from, to
 * @throws {Error}  where the table is not as it was
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
  grow(first); // some browsers need fewer slots before
  grow(first + tableSize);
  const found = (/** @type {string} */ name) => emscripten.resolveGlobalSymbol(name).sym;
  /** @type {Record<string, any>} */
  let own = {};
  const functions = new Proxy(
    { __memory_base: memory, __table_base: first },
    {
      get: (/** @type {any} */ bases, name) =>
        bases[name] ??
        found(String(name)) ??
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
    throw new Error(`${path}: it took the slots up to ${wasmTable.length}, not ${next}.`);
  }
  emscripten.newDSO(path, handle, own).global = false;
  return [memory, memory + memorySize];
}
