"""Sentence embeddings: the mean of a network's vectors over the tokens of a text, of unit length
(Reimers and Gurevych 2019, "Sentence-BERT")."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, Protocol

from .. import functions as f
from ..core import dtype as dt
from ..core.drivers import Steps, YieldControl, run_async, run_sync
from ..core.hostarray import HostArray
from ..errors import OptionError, ShapeError
from ..grad_mode import no_grad
from ..graph import constant
from ..runtime.jit import jit_method
from ..tensor import Tensor, reading
from .bert import BERT

_LENGTHS = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384)
"""Lengths to which texts are padded, so that few plans are compiled; then the network's own."""


class Encodes(Protocol):
    """What makes tokens of a text, such as `tl.text.Tokenizer`."""

    def encode(self, text: str) -> Any:
        """An object whose `ids` are tokens, those at the begin and the end of a text included."""


class SentenceEncoder:
    """Texts to vectors of unit length, whose products say how alike the texts' meanings are.

    net: a BERT with its weights; it is set to `eval`.
    tokenizer: the network's own.
    padding: the token that fills short texts up, which no vector depends on.
    """

    def __init__(self, net: BERT, tokenizer: Encodes, padding: int = 0) -> None:
        self.net, self.tokenizer, self.padding = net.eval(), tokenizer, padding
        self.width: int = net.embeddings.word_embeddings.weight.shape[1]
        self._means = jit_method(self._mean)

    def embed(self, texts: Sequence[str], batch: int = 16) -> Tensor:
        """The vectors of texts; blocks.

        A text of more tokens than the network has positions (512 in most) is cut: its first tokens
        and the one that ends a text remain.

        texts: any number, in any order; those of like lengths are computed together.
        batch: how many at once, at most.
        Returns: float32 (n, width), of unit length, in the order of the texts.
        Raises: OptionError for what is not a list of texts, and for a batch below 1.
        """
        return run_sync(self._embedding(texts, batch))

    async def embed_async(self, texts: Sequence[str], batch: int = 16) -> Tensor:
        """As `embed`, without blocking the event loop."""
        return await run_async(self._embedding(texts, batch))

    def similarity(self, a: Tensor, b: Tensor) -> Tensor:
        """The cosines of the angles between vectors, from -1 to 1: 1 is the same meaning.

        a: (n, width), of unit length.
        b: (m, width).
        Returns: (n, m).
        Raises: ShapeError for other shapes.
        """
        if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
            raise ShapeError(f"similarity: {a.shape} and {b.shape} are no vectors of one width")
        return a @ b.mT

    def _mean(self, tokens: Tensor, count: Tensor) -> Tensor:
        """The vectors (n, width) of tokens (n, length), of which the first `count` (n,) count."""
        seen = f.arange(tokens.shape[1]) < f.expand_dims(count, 1)
        x, _ = self.net(tokens, None, seen)
        total = f.sum(x * f.expand_dims(seen, 2).astype(x.dtype), axis=1)
        # The sum has the direction of the mean. The least length is PyTorch's, of `normalize`.
        norm = f.sqrt(f.sum(total * total, axis=1, keepdims=True))
        return total / f.maximum(norm, 1e-12)

    def _embedding(self, texts: Sequence[str], batch: int) -> Steps[Tensor]:
        if isinstance(texts, (str, bytes)) or not all(isinstance(text, str) for text in texts):
            raise OptionError("embed: expected a list of texts")
        if batch < 1:
            raise OptionError(f"embed: a batch of {batch} texts")
        tokens = [self._tokens(text) for text in texts]
        order = sorted(range(len(tokens)), key=lambda index: len(tokens[index]))
        size = 4 * self.width
        found = bytearray(size * len(tokens))
        for begin in range(0, len(order), batch):
            chosen = order[begin : begin + batch]
            vectors = self._batch([tokens[index] for index in chosen], batch)
            (rows,) = yield from reading([vectors])
            for row, index in enumerate(chosen):
                found[index * size : (index + 1) * size] = rows.data[row * size : (row + 1) * size]
            yield YieldControl()
        shape = len(tokens), self.width
        return Tensor(constant(HostArray(memoryview(bytes(found)), shape, dt.float32)))

    def _tokens(self, text: str) -> list[int]:
        ids = list(self.tokenizer.encode(text).ids)
        while len(ids) > 1 and ids[-1] == self.padding:  # some tokenizers fill up themselves
            ids.pop()
        most = self.net.max_len
        return ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]

    def _batch(self, texts: Sequence[Sequence[int]], batch: int) -> Tensor:
        """The vectors of texts, and of empty ones behind them."""
        most = max(map(len, texts))
        length = min((n for n in _LENGTHS if n >= most), default=self.net.max_len)
        length = min(length, self.net.max_len)
        rows = min(1 << (len(texts) - 1).bit_length(), batch)
        tokens = array("i", [self.padding]) * (rows * length)
        count = array("i", [1]) * rows
        for row, ids in enumerate(texts):
            tokens[row * length : row * length + len(ids)] = array("i", ids)
            count[row] = max(len(ids), 1)
        with no_grad():
            vectors: Tensor = self._means(
                _integers(tokens, (rows, length)), _integers(count, (rows,))
            )
        return vectors


def _integers(values: array[int], shape: tuple[int, ...]) -> Tensor:
    return Tensor(constant(HostArray(memoryview(values).cast("B"), shape, dt.int32)))
