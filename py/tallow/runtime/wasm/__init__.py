"""WebAssembly as a device, through the package `wasmtime`."""
