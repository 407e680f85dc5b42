"""Records what the package silero-vad 6.2.3 makes of probabilities, which needs no PyTorch:

PYTHONPATH=py:. .venv/bin/python -m tests.unit.zoo.record_turns PATH/silero_vad/utils_vad.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

RECORDED = Path(__file__).parent / "turns.json"


def cases() -> list[dict[str, Any]]:
    """Probabilities, options, and the sound's length in samples."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(1, 300))
        values = np.repeat(rng.random(count), rng.integers(1, 12, count))[:count]
        noisy = values + rng.normal(0, 0.1, count) if seed % 2 else rng.random(count)
        options = {
            "threshold": rng.choice([0.3, 0.5, 0.7]),
            "min_speech": rng.choice([0, 0.1, 0.25]),
            "min_silence": rng.choice([0, 0.1, 0.5]),
            "padding": rng.choice([0, 0.03, 0.2]),
            "longest": rng.choice([1e9, 2, 3]),
        }
        found.append({
            "probabilities": [round(float(p), 2) for p in np.clip(noisy, 0, 1)],
            "options": {name: float(value) for name, value in options.items()},
            "length": count * 512 - int(rng.integers(0, 512)),
        })  # fmt: skip
    return found


def main() -> None:
    """Writes turns.json."""
    text = Path(sys.argv[1]).read_text("utf-8")
    begin = text.index("def get_speech_timestamps_from_probs")
    names: dict[str, Any] = {}
    exec("from typing import List\n" + text[begin : text.index("class VADIterator")], names)
    recorded = []
    for case in cases():
        options = case["options"]
        turns = names["get_speech_timestamps_from_probs"](
            case["probabilities"],
            threshold=options["threshold"],
            min_speech_duration_ms=options["min_speech"] * 1000,
            min_silence_duration_ms=options["min_silence"] * 1000,
            speech_pad_ms=options["padding"] * 1000,
            max_speech_duration_s=options["longest"],
            audio_length_samples=case["length"],
        )
        recorded.append({**case, "turns": [[turn["start"], turn["end"]] for turn in turns]})
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in recorded)
    RECORDED.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
