"""Writes tflite/*.tflite, with which the bench's test runs LiteRT.js without TensorFlow.

    build/environments/tflite/bin/python tests/data/make_tflite.py

Both take four numbers. addition.tflite adds each to itself; WebGPU runs all of it. product.tflite
adds their product to each, which LiteRT.js 2.5 leaves to the CPU. The environment is the one that
`python3 build.py bench --engines litert-wasm` makes.
"""

from pathlib import Path

import tensorflow as tf

FOLDER = Path(__file__).with_name("tflite")
MODELS = {
    "addition": lambda x: x + x,
    "product": lambda x: x + tf.reduce_prod(x),
}

for name, model in MODELS.items():
    signature = [tf.TensorSpec([4], tf.float32)]
    function = tf.function(model, input_signature=signature).get_concrete_function()
    converted = tf.lite.TFLiteConverter.from_concrete_functions([function]).convert()
    (FOLDER / f"{name}.tflite").write_bytes(converted)
