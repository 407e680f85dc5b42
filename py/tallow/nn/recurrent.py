"""Recurrent layers and their cells: RNN (Elman 1990), GRU (Cho et al. 2014) and LSTM (Hochreiter
and Schmidhuber 1997).

Parameters have PyTorch's names and its order of gates: reset, update, new (GRU); input, forget,
cell, output (LSTM), which the op is told (ops/recurrence.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from .. import functional
from .. import functions as f
from ..errors import OptionError, ShapeError
from ..functional.layers import dropout
from ..functional.recurrent import Activation, recurrence
from ..tensor import Tensor, asarray
from . import init
from .module import Module
from .parameter import Parameter
from .utils.rnn import PackedSequence, packed_like, padded

_GATES = {"rnn": 1, "gru": 3, "lstm": 4}

_ORDER = {"rnn": (0,), "gru": (1, 0, 2), "lstm": (0, 3, 1, 2)}
"""Where ONNX's gates are among PyTorch's."""

_NONLINEARITIES: dict[str, tuple[Activation, ...]] = {
    "tanh": (("Tanh", 0.0, 0.0),),
    "relu": (("Relu", 0.0, 0.0),),
}

_PARTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def _check_nonlinearity(what: str, nonlinearity: str) -> None:
    if nonlinearity not in _NONLINEARITIES:
        raise OptionError(f"{what}: nonlinearity={nonlinearity!r} is neither 'tanh' nor 'relu'")


class _Recurrent(Module):
    """Layers of one kind, one upon the other, each in one or both directions."""

    cell: ClassVar[str]
    activations: tuple[Activation, ...] | None = None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if proj_size and self.cell != "lstm":
            raise OptionError(f"{name}: proj_size={proj_size}; only an LSTM has one")
        if not 0 <= proj_size < max(hidden_size, 1):
            raise OptionError(f"{name}: proj_size={proj_size} is not below {hidden_size}")
        if not 0 <= dropout <= 1:
            raise OptionError(f"{name}: dropout={dropout} is not between 0 and 1")
        if num_layers < 1 or hidden_size < 1:
            raise OptionError(f"{name}: {num_layers} layers of {hidden_size}; at least 1 of 1")
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        size = proj_size or hidden_size
        width = _GATES[self.cell] * hidden_size
        for layer in range(num_layers):
            features = input_size if layer == 0 else size * (1 + bidirectional)
            shapes = [(width, features), (width, size), *[(width,)] * (2 if bias else 0)]
            shapes += [(proj_size, hidden_size)] if proj_size else []
            for names in self._names(layer):
                for each, shape in zip(names, shapes, strict=True):
                    value = f.zeros(shape, dtype)
                    self.register_parameter(each, Parameter(value, device=device))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new initial values, as in PyTorch: evenly within 1 / sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def flatten_parameters(self) -> None:
        """Does nothing, as in PyTorch without CUDA: the compiler places weights."""

    def _names(self, layer: int) -> list[list[str]]:
        """The names of a layer's parameters, for each direction."""
        parts = (_PARTS if self.bias else _PARTS[:2]) + (("weight_hr",) if self.proj_size else ())
        ends = ("", "_reverse") if self.bidirectional else ("",)
        return [[f"{part}_l{layer}{end}" for part in parts] for end in ends]

    def _run(
        self, input: Tensor | PackedSequence, states: Sequence[Tensor]
    ) -> tuple[Any, list[Tensor]]:
        """The output, and each state after the last step of each sequence."""
        kind = type(self).__name__
        if isinstance(input, PackedSequence):
            whole, lengths = padded(input)
            order, back = input.sorted_indices, input.unsorted_indices
            given = [state if order is None else f.take(state, order, 1) for state in states]
            output, ends = self._through(whole, given, lengths)
            ends = [end if back is None else f.take(end, back, 1) for end in ends]
            return packed_like(output, input), ends
        if input.ndim not in (2, 3) or input.shape[-1] != self.input_size:
            raise ShapeError(
                f"{kind}: input {input.shape}; expected 2 or 3 axes, the last of {self.input_size}"
            )
        batched = input.ndim == 3
        x = input if batched else f.expand_dims(input, axis=1)
        if batched and self.batch_first:
            x = f.permute_dims(x, (1, 0, 2))
        given = [state if batched else f.expand_dims(state, axis=1) for state in states]
        x, ends = self._through(x, given)
        if batched and self.batch_first:
            x = f.permute_dims(x, (1, 0, 2))
        if not batched:
            x, ends = f.squeeze(x, axis=1), [f.squeeze(end, axis=1) for end in ends]
        return x, ends

    def _through(
        self, x: Tensor, given: Sequence[Tensor], lengths: Sequence[int] | None = None
    ) -> tuple[Tensor, list[Tensor]]:
        """As `_run`, for (T, B, input_size); lengths: of the sequences, T if None."""
        kind = type(self).__name__
        directions = 1 + self.bidirectional
        sizes = (self.proj_size or self.hidden_size, self.hidden_size)
        for state, size in zip(given, sizes, strict=False):
            wanted = (self.num_layers * directions, x.shape[1], size)
            if state.shape != wanted:
                raise ShapeError(f"{kind}: an initial state of shape {state.shape}, not {wanted}")
        last: list[Tensor] = []
        projected: list[list[Tensor]] = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                x = dropout(x, self.dropout, self.training)
            part = slice(layer * directions, (layer + 1) * directions)
            here = [state[part] for state in given]
            if self.proj_size:
                y, after = self._projected(layer, x, here, lengths)
                projected.append(after)
            else:
                y, whole = self._layer(layer, x, f.stack(here) if here else None, lengths)
                last.append(whole)
            y = f.permute_dims(y, (0, 2, 1, 3)) if directions > 1 else y
            x = f.reshape(y, (*x.shape[:2], directions * y.shape[-1]))
        if projected:
            return x, [f.concat(list(each)) for each in zip(*projected, strict=True)]
        ends = f.concat(last, axis=1)
        return x, [ends[n] for n in range(ends.shape[0])]

    def _layer(
        self, layer: int, x: Tensor, first: Tensor | None, lengths: Sequence[int] | None
    ) -> tuple[Tensor, Tensor]:
        """Hidden states (T, D, B, H), and the last states (S, D, B, H)."""
        columns = [[getattr(self, name) for name in names] for names in self._names(layer)]
        weights, hidden = (f.stack([column[part] for column in columns]) for part in range(2))
        biases = [bias for column in columns for bias in column[2:]]
        shape = (len(columns), -1)
        return recurrence(
            self.cell,
            x,
            weights,
            hidden,
            bias=f.reshape(f.concat(biases), shape) if biases else None,
            lengths=None if lengths is None else asarray(list(lengths), "int32"),
            states=first,
            backward=(False, True) if self.bidirectional else (False,),
            activations=self.activations,
            linear_before_reset=self.cell == "gru",
            order=_ORDER[self.cell],
        )

    def _projected(
        self, layer: int, x: Tensor, first: list[Tensor], lengths: Sequence[int] | None
    ) -> tuple[Tensor, list[Tensor]]:
        """An LSTM's hidden states, which weight_hr makes shorter, (T, D, B, proj_size), and the
        last hidden and cell states (D, B, size): step by step (Sak et al. 2014)."""
        lines, hidden, cells = [], [], []
        for direction, names in enumerate(self._names(layer)):
            weights = [getattr(self, name) for name in names]
            inputs = functional.linear(x, weights[0], weights[2] if self.bias else None)
            if self.bias:
                inputs = inputs + weights[3]
            zeros = f.zeros((x.shape[1], self.hidden_size), x.dtype)
            h = first[0][direction] if first else zeros[:, : self.proj_size]
            c = first[1][direction] if first else zeros
            steps: list[Tensor] = [h] * x.shape[0]
            order = range(x.shape[0])
            for t in reversed(order) if direction else order:
                gates = inputs[t] + functional.linear(h, weights[1])
                enter, forget, new, leave = f.split(gates, [self.hidden_size] * 4, 1)
                cell = functional.sigmoid(forget) * c + functional.sigmoid(enter) * f.tanh(new)
                line = functional.linear(functional.sigmoid(leave) * f.tanh(cell), weights[-1])
                if lengths is not None and t >= min(lengths):  # some sequences have ended
                    there = asarray([[t < length] for length in lengths])
                    cell, line = f.where(there, cell, c), f.where(there, line, h)
                c, h = cell, line
                steps[t] = h
            lines.append(f.stack(steps))
            hidden.append(h)
            cells.append(c)
        return f.stack(lines, axis=1), [f.stack(hidden), f.stack(cells)]

    def extra_repr(self) -> str:
        words = [f"{self.input_size}, {self.hidden_size}"]
        if self.num_layers != 1:
            words.append(f"num_layers={self.num_layers}")
        words += [f"proj_size={self.proj_size}"] if self.proj_size else []
        words += [] if self.bias else ["bias=False"]
        words += ["batch_first=True"] if self.batch_first else []
        words += [f"dropout={self.dropout}"] if self.dropout else []
        words += ["bidirectional=True"] if self.bidirectional else []
        return ", ".join(words)


class _OneState(_Recurrent):
    def forward(
        self, input: Tensor | PackedSequence, hx: Tensor | None = None
    ) -> tuple[Any, Tensor]:
        """input (T, B, input_size), (B, T, input_size) if batch_first, without B, or packed; hx
        (layers * directions, B, hidden_size), 0 if None. Gives the hidden states of the last layer
        (T, B, directions * hidden_size), packed if the input was, and those of all layers after the
        last step of each sequence."""
        output, (hidden,) = self._run(input, [] if hx is None else [hx])
        return output, hidden


class RNN(_OneState):
    """h = tanh(W_ih x + b_ih + W_hh h + b_hh) along a sequence, or relu instead of tanh.

    Raises OptionError for an unknown nonlinearity and for proj_size, ShapeError for inputs and
    states that do not fit.
    """

    cell = "rnn"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: str | None = None,
        dtype: str | None = None,
    ) -> None:
        _check_nonlinearity("RNN", nonlinearity)
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            proj_size, device, dtype,
        )  # fmt: skip
        self.nonlinearity = nonlinearity
        self.activations = _NONLINEARITIES[nonlinearity]


class GRU(_OneState):
    """r = sigmoid(W_ir x + b_ir + W_hr h + b_hr), z alike; n = tanh(W_in x + b_in +
    r (W_hn h + b_hn)); h = (1 - z) n + z h along a sequence.

    Raises OptionError for proj_size, ShapeError for inputs and states that do not fit.
    """

    cell = "gru"


class LSTM(_Recurrent):
    """c = f c + i g and h = o tanh(c) along a sequence, with the gates i, f, o = sigmoid(...) and
    g = tanh(W_ig x + b_ig + W_hg h + b_hg).

    proj_size: above 0, W_hr makes the hidden state that short; it then runs step by step. Raises
    OptionError for options, ShapeError for inputs and states that do not fit.
    """

    cell = "lstm"

    def forward(
        self, input: Tensor | PackedSequence, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Any, tuple[Tensor, Tensor]]:
        """(output, (hidden, cell)); hx: both states at first, zeros if None. Shapes are those of
        `GRU.forward`."""
        if hx is not None and (not isinstance(hx, (tuple, list)) or len(hx) != 2):
            raise ShapeError("LSTM: the initial states are a pair, hidden state and cell state")
        output, (hidden, cell) = self._run(input, [] if hx is None else list(hx))
        return output, (hidden, cell)


class _Cell(Module):
    """One step: the parameters weight_ih, weight_hh, bias_ih and bias_hh."""

    cell: ClassVar[str]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        width = _GATES[self.cell] * hidden_size
        shapes = (width, input_size), (width, hidden_size), (width,), (width,)
        for number, (name, shape) in enumerate(zip(_PARTS, shapes, strict=True)):
            value = f.zeros(shape, dtype)
            wanted = bias or number < 2
            self.register_parameter(name, Parameter(value, device=device) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new initial values, as in PyTorch: evenly within 1 / sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size else 0.0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def _parts(self, input: Tensor, hidden: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """What the inputs and the hidden state add to the gates, and the state itself."""
        kind = type(self).__name__
        if input.ndim not in (1, 2) or input.shape[-1] != self.input_size:
            raise ShapeError(
                f"{kind}: input {input.shape}; expected 1 or 2 axes, the last of {self.input_size}"
            )
        wanted = (*input.shape[:-1], self.hidden_size)
        h = f.zeros(wanted, input.dtype) if hidden is None else hidden
        if h.shape != wanted:
            raise ShapeError(f"{kind}: a state of shape {h.shape}, not {wanted}")
        inputs = functional.linear(input, self.weight_ih, self.bias_ih)
        return inputs, functional.linear(h, self.weight_hh, self.bias_hh), h

    def _gates(self, x: Tensor) -> list[Tensor]:
        n = self.hidden_size
        return [x[..., i * n : (i + 1) * n] for i in range(_GATES[self.cell])]

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(_Cell):
    """One step of `RNN`: input (B, input_size) and a state (B, hidden_size), or without B."""

    cell = "rnn"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: str | None = None,
        dtype: str | None = None,
    ) -> None:
        _check_nonlinearity("RNNCell", nonlinearity)
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def extra_repr(self) -> str:
        usual = self.nonlinearity == "tanh"
        return super().extra_repr() + ("" if usual else f", nonlinearity={self.nonlinearity}")

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        inputs, hidden, _ = self._parts(input, hx)
        function = f.tanh if self.nonlinearity == "tanh" else functional.relu
        return function(inputs + hidden)


class GRUCell(_Cell):
    """One step of `GRU`: input (B, input_size) and a state (B, hidden_size), or without B."""

    cell = "gru"

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        inputs, hidden, h = self._parts(input, hx)
        reset, update, new = self._gates(inputs)
        reset_h, update_h, new_h = self._gates(hidden)
        new = f.tanh(new + functional.sigmoid(reset + reset_h) * new_h)
        kept = functional.sigmoid(update + update_h)
        return (1.0 - kept) * new + kept * h


class LSTMCell(_Cell):
    """One step of `LSTM`: input (B, input_size) and a pair of states (B, hidden_size), or without
    B; gives the new pair."""

    cell = "lstm"

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        inputs, hidden, h = self._parts(input, None if hx is None else hx[0])
        c = f.zeros(h.shape, h.dtype) if hx is None else hx[1]
        if c.shape != h.shape:
            raise ShapeError(f"LSTMCell: a cell state of shape {c.shape}, not {h.shape}")
        enter, forget, new, leave = self._gates(inputs + hidden)
        c = functional.sigmoid(forget) * c + functional.sigmoid(enter) * f.tanh(new)
        return functional.sigmoid(leave) * f.tanh(c), c
