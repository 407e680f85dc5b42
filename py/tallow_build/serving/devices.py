"""The devices that Python in a browser has. The command line lists them before there is a .venv."""

DEVICES = ("webgpu", "wasm", "numpy")
