"""torch.nn.utils.rnn: each sequence of a packed batch is computed as if it were alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.nn.utils import rnn
from tallow.tensor import Tensor

LENGTHS = [2, 5, 3]


def sequences(size: int = 4) -> list[Tensor]:
    rng = np.random.default_rng(1)
    return [tl.asarray(rng.standard_normal((n, size)).astype(np.float32)) for n in LENGTHS]


def close(a: Tensor, b: Tensor) -> None:
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)


def test_there_and_back() -> None:
    given = sequences()
    whole = rnn.pad_sequence(given, padding_value=7.0)
    assert whole.shape == (5, 3, 4) and whole.numpy()[2:, 0].tolist() == [[7.0] * 4] * 3
    assert rnn.pad_sequence(given, True, padding_side="left").numpy()[0, :3].sum() == 0.0
    packed = rnn.pack_padded_sequence(whole, tl.asarray(LENGTHS), enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 3, 2, 1, 1]
    assert packed.sorted_indices is not None and packed.sorted_indices.tolist() == [1, 2, 0]
    assert packed.unsorted_indices is not None and packed.unsorted_indices.tolist() == [2, 0, 1]
    close(packed.data[:3], tl.stack([given[n][0] for n in (1, 2, 0)]))
    back, lengths = rnn.pad_packed_sequence(packed, batch_first=True, total_length=6)
    assert back.shape == (3, 6, 4) and lengths.tolist() == LENGTHS
    for found, wanted in zip(rnn.unpack_sequence(packed), given, strict=True):
        close(found, wanted)
    for found, wanted in zip(rnn.unpad_sequence(back, lengths, True), given, strict=True):
        close(found, wanted)
    close(rnn.pack_sequence(given, enforce_sorted=False).data, packed.data)


@pytest.mark.parametrize(
    ("kind", "options", "device"),
    [
        (nn.RNN, {}, "numpy"), (nn.GRU, {"bidirectional": True}, "wasm"),
        (nn.LSTM, {"bidirectional": True, "num_layers": 2}, "numpy"),
        (nn.LSTM, {"proj_size": 2, "bidirectional": True}, "numpy"),
    ],
)  # fmt: skip
def test_layers_as_if_each_were_alone(kind: Any, options: dict[str, Any], device: str) -> None:
    tl.set_default_device(device)
    try:
        layer, given = kind(4, 3, **options), sequences()
        ways = (1 + layer.bidirectional) * layer.num_layers
        sizes = [layer.proj_size or 3, 3][: 1 + (kind is nn.LSTM)]
        states = [tl.rand(ways, 3, size).realize() for size in sizes]

        def run(x: Any, states: list[Tensor]) -> tuple[Any, list[Tensor]]:
            output, ends = layer(x, tuple(states) if len(states) > 1 else states[0])
            return output, list(ends) if isinstance(ends, tuple) else [ends]

        with tl.no_grad():
            output, ends = run(rnn.pack_sequence(given, enforce_sorted=False), states)
            found = rnn.unpack_sequence(output)
            for n, x in enumerate(given):
                alone, last = run(x[:, None], [state[:, n : n + 1] for state in states])
                close(found[n], alone[:, 0])
                for end, own in zip(ends, last, strict=True):
                    close(end[:, n], own[:, 0])
    finally:
        tl.set_default_device(None)


def test_gradients_as_if_each_were_alone() -> None:
    layer, given = nn.GRU(4, 3), sequences()
    output, last = layer(rnn.pack_sequence(given, enforce_sorted=False))
    ((output.data * output.data).sum() + last.sum()).backward()
    together = [p.grad.numpy() for p in layer.parameters() if p.grad is not None]
    layer.zero_grad()
    total: Any = 0.0
    for x in given:
        alone, last = layer(x)
        total = total + (alone * alone).sum() + last.sum()
    total.backward()
    for gradient, p in zip(together, layer.parameters(), strict=True):
        assert p.grad is not None
        np.testing.assert_allclose(gradient, p.grad.numpy(), rtol=1e-4, atol=1e-5)


def test_what_lies_between_layers() -> None:
    """A function of `data`, such as an embedding, packed again."""
    packed = rnn.pack_sequence(sequences(), enforce_sorted=False)
    halved = rnn.PackedSequence(packed.data * 0.5, *packed[1:])
    close(rnn.unpack_sequence(halved)[1], sequences()[1] * 0.5)

    @tl.jit
    def step(x: Tensor) -> Tensor:
        packed = rnn.pack_padded_sequence(x, LENGTHS, enforce_sorted=False)
        return rnn.pad_packed_sequence(packed)[0] * 2.0

    x = rnn.pad_sequence(sequences())
    close(step(x), x * 2.0)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: rnn.pack_padded_sequence(x, [5, 2, 3]), tl.OptionError, "enforce_sorted"),
        (lambda x: rnn.pack_padded_sequence(x, [5, 0, 0]), tl.OptionError, "from 1 to 5"),
        (lambda x: rnn.pack_padded_sequence(x, [6, 2, 1]), tl.OptionError, "from 1 to 5"),
        (lambda x: rnn.pack_padded_sequence(x, [5, 2]), tl.ShapeError, "2 lengths"),
        (lambda x: rnn.pad_sequence([]), tl.ShapeError, "go together"),
        (lambda x: rnn.pad_sequence([x], padding_side="up"), tl.OptionError, "padding_side"),
        (lambda x: rnn.pad_packed_sequence(rnn.pack_padded_sequence(x, [5, 2, 1]), total_length=3),
         tl.OptionError, "total_length"),
        (lambda x: nn.GRU(4, 3)(rnn.PackedSequence(x[0], tl.asarray([1, 1]))), tl.ShapeError,
         "batch_sizes"),
    ],
)  # fmt: skip
def test_bad_arguments(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(rnn.pad_sequence(sequences()))
