"""Shared code of the make.py scripts: reads third-party checkpoints and writes ONNX.

checkpoint.py reads weights without torch and without running code that a pickle names,
onnx_graph.py writes a network with float16 weights, command.py is their command line.
"""
