"""Records what transformers gives for Whisper's published weights. First, where Tallow is, its
weights are written out of the ONNX files; then transformers reads them, where it is installed:

    PYTHONPATH=py .venv/bin/python -m tests.models.record_whisper
    PYTHONPATH=py python -m tests.models.record_whisper

The project itself needs no transformers: what it gave stands in whisper.npz.
"""

from __future__ import annotations

import json
import wave
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tallow_build.content.networks import FOLDER

RECORDED = Path(__file__).parent / "whisper.npz"
WHISPER, SPEECH = FOLDER / "whisper-tiny", FOLDER / "speech"
WEIGHTS = WHISPER / "weights.safetensors"

SAID = {
    "jfk": "And so, my fellow Americans, ask not what your country can do for you, ask what you "
    "can do for your country.",
    "beckett": "Ever tried, ever failed. No matter. Try again, fail again, fail better.",
}
"""Two recordings: an inaugural address of 1961, and a line of a play."""

TOKENS = [50258, 50259, 50359, 50364, 400, 370, 11, 452, 7177, 6280]
"""The start of a text."""


def speech(name: str) -> np.ndarray:
    """A recording, 16,000 samples a second, float32."""
    with wave.open(str(SPEECH / f"{name}.wav")) as file:
        assert (file.getframerate(), file.getnchannels()) == (16000, 1)
        data = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    return data.astype(np.float32) / 32768


def json_of(name: str) -> Any:
    """One of the network's JSON files."""
    return json.loads((WHISPER / name).read_text("utf-8"))


def weights() -> dict[str, Any]:
    """The weights in the ONNX files, under Hugging Face's names."""
    import tallow as tl

    found = tl.onnx.load(WHISPER / "decoder.onnx").state_dict()
    encoder = tl.onnx.load(WHISPER / "encoder.onnx").state_dict()
    return found | {f"model.encoder.{name}": value for name, value in encoder.items()}


def main() -> None:
    """Records features, states, scores and texts."""
    import torch  # type: ignore[import-not-found]
    from safetensors.torch import load_file  # type: ignore[import-not-found]
    from transformers import (  # type: ignore[import-not-found]
        GenerationConfig,
        WhisperConfig,
        WhisperFeatureExtractor,
        WhisperForConditionalGeneration,
    )

    net = WhisperForConditionalGeneration(WhisperConfig(**json_of("config.json"))).eval()
    missing = net.load_state_dict(load_file(WEIGHTS), strict=False)
    assert missing.missing_keys == ["proj_out.weight"], missing
    net.tie_weights()
    net.generation_config = GenerationConfig(**json_of("generation_config.json"))
    extractor = WhisperFeatureExtractor()
    found = {}
    for name in SAID:
        features = extractor(speech(name), sampling_rate=16000, return_tensors="pt").input_features
        with torch.no_grad():
            if name == "jfk":
                states = net.model.encoder(features).last_hidden_state
                scores = net(features, decoder_input_ids=torch.tensor([TOKENS])).logits
                found["states"] = states[0, ::50, ::8].numpy()
                found["scores"] = scores[0, :, ::97].numpy()
            ids = net.generate(features, return_timestamps=True, language="en", task="transcribe")
        found[name] = ids[0].numpy().astype(np.int32)
        print(name, found[name].tolist())
    np.savez_compressed(RECORDED, **found)


if __name__ == "__main__":
    if find_spec("torch"):
        main()
    else:
        import tallow as tl

        tl.save(WEIGHTS, weights())
