"""What the make.py scripts share: reading other people's checkpoints and writing ONNX.

checkpoint.py reads weights without torch and without running anything that a pickle names,
onnx_graph.py writes a network with float16 weights, command.py is their command line.
"""
