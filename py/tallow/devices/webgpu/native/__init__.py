"""WebGPU outside a browser: the GPU of this machine, through the package `wgpu`."""
