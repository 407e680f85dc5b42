"""The bench's models as LiteRT.js takes them: .tflite files, with the channels of images last.

They have the weights of the ONNX files. TensorFlow makes them in an environment of its own
(to_tflite.py), and a file counts once its answers are those of onnxruntime.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from models.evaluate import prepare_photo
from models.mnist.strokes import drawn_digits
from numpy.typing import NDArray

from bench.answers import WrongAnswerError, deviation
from bench.cases import MADE, Case, Files
from tallow_build.environment import python_env
from tallow_build.errors import BuildError
from tallow_build.files import only_one, scratch
from tallow_build.paths import DIST, MODELS, REQUIREMENTS
from tallow_build.process import call
from tallow_build.stamps import Stamp, digest

CONVERTER = Path(__file__).with_name("to_tflite.py")

_BRUSH = 0.12
_DIGITS = 20

Floats = NDArray[np.float32]


def prepare(case: Case, files: Files) -> Files:
    """The .tflite file of a case and its input, made if missing. Raises BuildError.

    files: those of the ONNX model.
    """
    (given,) = files.inputs
    values = np.fromfile(MADE / Path(given.file).name, np.float32).reshape(given.shape)
    channels_last(values).tofile(MADE / f"{case.name}.channels-last")
    target = MADE / f"{case.name}.tflite"
    stamp = Stamp(f"bench-{case.name}-tflite")
    inputs = digest(case.model, CONVERTER, REQUIREMENTS / "tflite.txt")
    if not stamp.fresh(inputs):
        stamp.clear()
        _convert(case, [values, *real_inputs(case)], target)
        stamp.write(inputs, [target])
    shape, file = channels_last(values).shape, f"made/{case.name}.channels-last"
    turned = replace(given, shape=shape, file=file)
    return Files(f"made/{target.name}", (turned,), channels_last(files.answer))


def channels_last(values: Floats) -> Floats:
    """Images (N, C, H, W) as (N, H, W, C), and anything else as it is."""
    return np.ascontiguousarray(values.transpose(0, 2, 3, 1)) if values.ndim == 4 else values


def real_inputs(case: Case) -> list[Floats]:
    """Drawn digits or photographs, for a network; nothing for operators."""
    if not case.is_network:
        return []
    if case.name == "mnist":
        drawn = [picture[None, None] for _, picture in drawn_digits(_BRUSH)]
        return drawn[:: len(drawn) // _DIGITS]
    card = MODELS / case.name / "card.json"
    if not card.is_file():  # random weights: any preprocessing is right
        card = MODELS / "efficientnet_lite0" / "card.json"
    preprocess = json.loads(card.read_text("utf-8"))["preprocess"]
    listed = json.loads((DIST / "samples" / "samples.json").read_text("utf-8"))
    return [prepare_photo(DIST / "samples" / one["file"], preprocess) for one in listed]


def _convert(case: Case, inputs: list[Floats], target: Path) -> None:
    step = f"Converting {case.name} for LiteRT.js"
    with only_one(MADE / "lock"), scratch("tflite", MADE) as folder:
        python = python_env.apart("tflite")
        given, made, got = folder / "inputs.npy", folder / target.name, folder / "answers.npy"
        np.save(given, np.stack([channels_last(each) for each in inputs]))
        remedy = "correct bench/to_tflite.py"
        quiet = {"TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": "-1"}
        call(step, [python, CONVERTER, case.model, given, made, got], remedy, extra=quiet)
        try:
            check(case, inputs, np.load(got))
        except WrongAnswerError as error:
            raise BuildError(step, f"onnxruntime disagrees: {error}", remedy) from error
        made.replace(target)


def check(case: Case, inputs: list[Floats], answers: Any) -> None:
    """Compares answers with onnxruntime's. Raises WrongAnswerError."""
    session = onnxruntime.InferenceSession(case.model, providers=["CPUExecutionProvider"])
    (wanted,) = session.get_inputs()
    for values, answer in zip(inputs, answers, strict=True):
        (expected,) = session.run(None, {wanted.name: values})
        right = channels_last(expected).ravel()
        deviation(np.ravel(answer), right, classes=case.is_network)
