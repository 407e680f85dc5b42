"""What WebGPU is to Tallow: its target, code generation, passes, runners. See README.md."""
