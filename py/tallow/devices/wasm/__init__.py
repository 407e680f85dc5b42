"""WebAssembly as a device: the browser's engine, or outside a browser that of `wasmtime`."""
