"""`build.py bench --serving`: whose turn it is, its table, the same server with onnxruntime."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np
import pytest
from bench import serving
from bench.service import messages, models
from bench.service.process import Service


def test_services_take_turns_and_begin_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[Any] = []

    def turn(service: Any, model: str, options: Namespace) -> dict[str, Any]:
        turns.append(service)
        return {"rate": len(turns)}

    monkeypatch.setattr(serving, "turn", turn)
    both: Any = {"Tallow": "T", "onnxruntime": "o"}
    found = serving.measured(both, "mnist", Namespace(rounds=3))
    assert "".join(turns) == "TooTTo"
    assert [each["rate"] for each in found["Tallow"]] == [1, 4, 5]


def test_the_table_has_the_ratio_of_each_round() -> None:
    def turns(*rates: float) -> list[dict[str, Any]]:
        return [
            {"rate": rate, "ms": [1000 / rate] * 4, "rows": 16.0, "processor": 2 / rate}
            for rate in rates
        ]

    found = {"Tallow": turns(4.0, 5.0, 8.0), "onnxruntime": turns(8.0, 10.0, 10.0)}
    first, second = serving.lines("minilm", found)
    assert first.endswith("| 200 ms | 250 ms | 16.0 | 400.0 ms | 0.50 | 0.50 to 0.80 | 0.50 |")
    assert second.endswith("| 100 ms | 125 ms | 16.0 | 200.0 ms |  |  |  |")
    assert [each.split(" | ")[:3] for each in (first, second)] == [
        ["| minilm", "Tallow", "5.0"],
        ["| minilm", "onnxruntime", "10.0"],
    ]


def test_onnxruntime_takes_tallows_place_in_the_same_server() -> None:
    behind = (str(serving.SERVICE / "behind.py"), "1")
    with Service(models.prepare("mnist"), command=behind) as service:
        service.line("mnist: version 1 serves")
        (image, expected), *_ = models.digits(1)
        assert serving.differs({"logits": expected}, serving.answer(service, "mnist")) < 1e-5
        turn = serving.turn(service, "mnist", Namespace(clients=4, seconds=0.3))
        assert turn["rate"] > 0 and 1 <= turn["rows"] <= 4 and turn["processor"] >= 0
        body, headers = messages.request({"image": image})
        named = {name.replace("-", "_"): value for name, value in headers.items()}
        assert service.ask("/v2/models/mnist/infer", body[:-4], **named)[0] == 400
        assert service.end() == 0


def test_the_share_of_the_largest_value_that_answers_differ() -> None:
    one = {"y": np.array([1.0, -4.0])}
    assert serving.differs(one, {"y": np.array([1.0, -3.0])}) == 0.25
