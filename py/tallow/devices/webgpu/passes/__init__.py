"""The passes that WebGPU alone needs; ../target.py lists them in their order."""
