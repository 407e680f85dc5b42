"""File formats: ONNX in a folder, and the formats of weights, a file each."""
