"""RNN, GRU and LSTM, step by step along a sequence of known length.

Written against the array API: `xp` is tallow.functions, which gives an unrolled graph, or NumPy.
All inputs' projections are one product before the first step; both directions of a bidirectional
layer take their steps together, the backward one from the end of the sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Array = Any
States = list[Array]


@dataclass(frozen=True)
class Activation:
    """An activation function of the standard, by its name in lower case, with its parameters."""

    name: str
    alpha: float
    beta: float

    def __call__(self, xp: Any, x: Array) -> Array:
        return FUNCTIONS[self.name](xp, x, self.alpha, self.beta)


def _elu(xp: Any, x: Array, alpha: float, beta: float) -> Array:
    return xp.where(x >= 0, x, (xp.exp(xp.minimum(x, 0.0)) - 1.0) * alpha)


def _softplus(xp: Any, x: Array, alpha: float, beta: float) -> Array:
    return xp.maximum(x, 0.0) + xp.log(xp.exp(-abs(x)) + 1.0)


FUNCTIONS: dict[str, Callable[[Any, Array, float, float], Array]] = {
    "affine": lambda xp, x, alpha, beta: x * alpha + beta,
    "elu": _elu,
    "hardsigmoid": lambda xp, x, a, b: xp.minimum(xp.maximum(x * a + b, 0.0), 1.0),
    "leakyrelu": lambda xp, x, alpha, beta: xp.where(x >= 0, x, x * alpha),
    "relu": lambda xp, x, alpha, beta: xp.maximum(x, 0.0),
    "scaledtanh": lambda xp, x, alpha, beta: xp.tanh(x * beta) * alpha,
    "sigmoid": lambda xp, x, alpha, beta: xp.reciprocal(xp.exp(-x) + 1.0),
    "softplus": _softplus,
    "softsign": lambda xp, x, alpha, beta: x / (abs(x) + 1.0),
    "tanh": lambda xp, x, alpha, beta: xp.tanh(x),
    "thresholdedrelu": lambda xp, x, alpha, beta: xp.where(x >= alpha, x, 0.0 * x),
}
ALPHAS = {
    "affine": 1.0, "elu": 1.0, "hardsigmoid": 0.2, "leakyrelu": 0.01, "scaledtanh": 1.0,
    "thresholdedrelu": 1.0,
}  # fmt: skip
"""The functions that have an alpha, and its default."""
BETAS = {"affine": 0.0, "hardsigmoid": 0.5, "scaledtanh": 1.0}
"""The functions that have a beta, and its default."""


@dataclass(frozen=True)
class Layer:
    """The weights of a layer of D directions and H elements, and how its cells compute.

    inputs (D, gates * H, I), hidden (D, gates * H, H), biases (D, 1, gates * H) or None: those of
    inputs and of hidden; peepholes (D, 1, 3 * H) or None. activations: per direction.
    """

    xp: Any
    inputs: Array
    hidden: Array
    input_bias: Array | None
    hidden_bias: Array | None
    activations: Sequence[Sequence[Activation]]
    backward: Sequence[bool]
    clip: float | None = None
    peepholes: Array | None = None
    linear_before_reset: bool = False
    input_forget: bool = False

    @property
    def size(self) -> int:
        """H."""
        length: int = self.hidden.shape[-1]
        return length

    def activate(self, number: int, x: Array) -> Array:
        """The activation of that number on x (D, batch, n)."""
        chosen = [functions[number] for functions in self.activations]
        if len(set(chosen)) == 1:
            return chosen[0](self.xp, x)
        return self.xp.concat([act(self.xp, x[i : i + 1]) for i, act in enumerate(chosen)], axis=0)

    def gate(self, number: int, x: Array) -> Array:
        """The activation of a gate, which is clipped before."""
        if self.clip is not None:
            x = self.xp.maximum(self.xp.minimum(x, self.clip), -self.clip)
        return self.activate(number, x)

    def gates(self, x: Array) -> list[Array]:
        """Pieces of H elements."""
        return [x[..., i : i + self.size] for i in range(0, x.shape[-1], self.size)]

    def turned(self, x: Array) -> Array:
        """x (time, D, ...), time running backwards in the directions that do."""
        if not any(self.backward):
            return x
        parts = [
            self.xp.flip(x[:, i : i + 1], axis=0) if back else x[:, i : i + 1]
            for i, back in enumerate(self.backward)
        ]
        return parts[0] if len(parts) == 1 else self.xp.concat(parts, axis=1)

    def run(
        self, x: Array, states: States, lengths: Array | None, step: Step
    ) -> tuple[Array, States]:
        """The hidden state after every step (time, D, batch, H), and the last states.

        x (time, batch, I); states (D, batch, H), the hidden one first; lengths (batch,): a
        sequence that is over keeps its states, and gives zeros.
        """
        xp = self.xp
        time, batch, features = x.shape
        directions, width = self.inputs.shape[:2]
        weights = xp.permute_dims(xp.reshape(self.inputs, (directions * width, features)), (1, 0))
        projected = xp.matmul(xp.reshape(x, (time * batch, features)), weights)
        projected = xp.reshape(projected, (time, batch, directions, width))
        projected = xp.permute_dims(projected, (0, 2, 1, 3))
        if self.input_bias is not None:
            projected = projected + self.input_bias
        projected = self.turned(projected)
        alive = None
        if lengths is not None:
            times = xp.reshape(xp.arange(time), (time, 1, 1, 1))
            times = self.turned(xp.broadcast_to(times, (time, directions, 1, 1)))
            alive = times < xp.reshape(lengths, (1, 1, batch, 1))
        hidden = xp.permute_dims(self.hidden, (0, 2, 1))
        outputs = []
        for t in range(time):
            new = step(self, projected[t], hidden, states)
            if alive is None:
                outputs.append(new[0])
                states = new
            else:
                now = alive[t]
                outputs.append(xp.where(now, new[0], 0.0 * new[0]))
                states = [xp.where(now, n, old) for n, old in zip(new, states, strict=True)]
        return self.turned(xp.stack(outputs, axis=0)), states


Step = Callable[[Layer, Array, Array, States], States]
"""(layer, projected inputs, transposed hidden weights, states) to the next states."""


def rnn_step(layer: Layer, projected: Array, hidden: Array, states: States) -> States:
    return [layer.gate(0, projected + layer.xp.matmul(states[0], hidden))]


def gru_step(layer: Layer, projected: Array, hidden: Array, states: States) -> States:
    """Gates: update, reset, hidden."""
    xp, (h,), two = layer.xp, states, 2 * layer.size
    if layer.linear_before_reset:
        recurrent = xp.matmul(h, hidden)
        if layer.hidden_bias is not None:
            recurrent = recurrent + layer.hidden_bias
        update_reset = projected[..., :two] + recurrent[..., :two]
    else:
        update_reset = projected[..., :two] + xp.matmul(h, hidden[..., :two])
    update, reset = layer.gates(layer.gate(0, update_reset))
    if layer.linear_before_reset:
        candidate = reset * recurrent[..., two:]
    else:
        candidate = xp.matmul(reset * h, hidden[..., two:])
    candidate = layer.gate(1, projected[..., two:] + candidate)
    return [(1.0 - update) * candidate + update * h]


def lstm_step(layer: Layer, projected: Array, hidden: Array, states: States) -> States:
    """Gates: input, output, forget, cell; peepholes: input, output, forget.

    The cell itself is not clipped, as in onnxruntime.
    """
    xp, (h, c) = layer.xp, states
    enter, leave, forget, cell = layer.gates(projected + xp.matmul(h, hidden))
    peep = None if layer.peepholes is None else layer.gates(layer.peepholes)
    enter = layer.gate(0, enter if peep is None else enter + peep[0] * c)
    if layer.input_forget:
        forget = 1.0 - enter
    else:
        forget = layer.gate(0, forget if peep is None else forget + peep[2] * c)
    c = forget * c + enter * layer.gate(1, cell)
    leave = layer.gate(0, leave if peep is None else leave + peep[1] * c)
    return [leave * layer.activate(2, c), c]
