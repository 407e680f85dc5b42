"""Code generation for WebAssembly."""
