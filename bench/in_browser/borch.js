// @ts-check
/** Training steps of borch, in a Pyodide on the main thread, as its own pages have it;
 * bench/training.py calls what this puts into the window. */

// @ts-ignore: served by bench/training.py
const { loadPyodide } = await import("/pyodide/pyodide.mjs");

const address = new URLSearchParams(location.search);
const python = await loadPyodide({ indexURL: "/pyodide/" });
for (const wheel of address.getAll("wheel")) {
  await python.loadPackage(`/wheels/${wheel}`, { checkIntegrity: false });
}
for (const part of ["batches.py", "borch.py"]) {
  // Its reads wait for the GPU, which only code that was started asynchronously may.
  await python.runPythonAsync(await (await fetch(part)).text());
}

Object.assign(window, {
  /** So many more steps of a network. @param {string} network @param {number} count */
  async steps(network, count) {
    const found = await python.runPythonAsync(`steps(${JSON.stringify(network)}, ${count})`);
    return found.toJs({ dict_converter: Object.fromEntries });
  },
});

export {};
