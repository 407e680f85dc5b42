"""The passes that WebAssembly alone needs; ../target.py lists them in their order."""
