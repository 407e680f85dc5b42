"""Recurrent layers and their cells."""

from __future__ import annotations

from typing import Any

from ..case import case


def _with_states(kind: str, count: int, **options: Any) -> Any:
    """A layer that is fed its initial states as further inputs."""

    def build(t: Any) -> Any:
        class Fed(t.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.layer = getattr(t.nn, kind)(3, 4, **options)

            def forward(self, x: Any, *states: Any) -> Any:
                return self.layer(x, states if count == 2 else states[0])

        return Fed()

    return build


for _kind, _count in (("RNN", 1), ("GRU", 1), ("LSTM", 2)):
    _low = _kind.lower()
    case(_low, lambda t, k=_kind: getattr(t.nn, k)(3, 4), (5, 2, 3))
    case(f"{_low}-deep", lambda t, k=_kind: getattr(t.nn, k)(3, 4, num_layers=2,
         bidirectional=True, batch_first=True), (2, 5, 3))  # fmt: skip
    case(f"{_low}-no-bias", lambda t, k=_kind: getattr(t.nn, k)(3, 4, bias=False), (5, 2, 3))
    case(f"{_low}-unbatched", lambda t, k=_kind: getattr(t.nn, k)(3, 4, batch_first=True), (5, 3))
    case(f"{_low}-eval-dropout", lambda t, k=_kind: getattr(t.nn, k)(3, 4, 2, dropout=0.5),
         (5, 2, 3), mode="eval")  # fmt: skip
    case(f"{_low}-states", _with_states(_kind, _count, bidirectional=True), (5, 2, 3),
         *[(2, 2, 4)] * _count)  # fmt: skip
    case(f"{_low}-unbatched-states", _with_states(_kind, _count), (5, 3), *[(1, 4)] * _count)
    case(f"{_low}-cell", lambda t, k=_kind: getattr(t.nn, f"{k}Cell")(3, 4), (2, 3))
    case(f"{_low}-cell-no-bias", lambda t, k=_kind: getattr(t.nn, f"{k}Cell")(3, 4, bias=False),
         (3,))  # fmt: skip
    case(f"{_low}-cell-states", _with_states(f"{_kind}Cell", _count), (2, 3), *[(2, 4)] * _count)

case("rnn-relu", lambda t: t.nn.RNN(3, 4, nonlinearity="relu"), (5, 2, 3))
case("rnn-cell-relu", lambda t: t.nn.RNNCell(3, 4, nonlinearity="relu"), (2, 3))

case("lstm-projected", lambda t: t.nn.LSTM(3, 5, proj_size=2), (4, 2, 3))
case("lstm-projected-deep", lambda t: t.nn.LSTM(3, 5, 2, batch_first=True, bidirectional=True,
     proj_size=3), (2, 4, 3))  # fmt: skip
case("lstm-projected-unbatched", lambda t: t.nn.LSTM(3, 5, bias=False, proj_size=2), (4, 3))
