"""LoRA (Hu et al. 2021): a layer's product, and a product of low rank added to it.

The layer's own weights are not touched: they may be packed in blocks of few bits, or constants.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from .. import functional, nn
from .. import functions as f
from ..core.dtype import float32
from ..errors import OptionError
from ..generation import LanguageModel
from ..tensor import Tensor, asarray, host_values
from ..zoo.gpt2 import Conv1D

Model = nn.Module | LanguageModel


class LoRALayer(nn.Module):
    """base(x) + scale * (x @ lora_A.T) @ lora_B.T.

    base: a linear layer. lora_A: (rank, inputs). lora_B: (outputs, rank). alpha: the scale is
    alpha / rank, or alpha / sqrt(rank) with `rslora` (Kalajdzievski 2023). dropout: of the input of
    lora_A, in training.
    """

    def __init__(
        self,
        base: nn.Module,
        lora_A: Tensor,
        lora_B: Tensor,
        alpha: float,
        dropout: float = 0.0,
        rslora: bool = False,
    ) -> None:
        super().__init__()
        self.base_layer = base
        self.lora_A, self.lora_B = lora_A, lora_B
        self.alpha, self.dropout, self.rslora = alpha, dropout, rslora

    @property
    def rank(self) -> int:
        """The rank of what is added."""
        return int(self.lora_A.shape[0])

    @property
    def scale(self) -> float:
        """What the added product is multiplied by."""
        return self.alpha / (math.sqrt(self.rank) if self.rslora else self.rank)

    def forward(self, input: Tensor) -> Any:
        x = functional.dropout(input, self.dropout, self.training) if self.dropout else input
        added = functional.linear(functional.linear(x, self.lora_A), self.lora_B)
        return self.base_layer(input) + added * self.scale

    def merged(self) -> Tensor:
        """The weight of one layer that computes the same."""
        added = f.matmul(self.lora_B, self.lora_A) * self.scale
        weight: Tensor = self.base_layer.weight
        turned = f.matrix_transpose(added) if isinstance(self.base_layer, Conv1D) else added
        return f.astype(weight, float32) + turned

    def extra_repr(self) -> str:
        return f"rank={self.rank}, alpha={self.alpha:g}"


def lora(
    model: Model,
    rank: int = 8,
    alpha: float = 16,
    targets: str | Iterable[str] = ("q_proj", "v_proj"),
    dropout: float = 0.0,
) -> list[nn.Parameter]:
    """Adds adapters that can be trained; all other parameters are frozen.

    model: a network, or a language model.
    rank, alpha: what is added is a product of this rank, times alpha / rank.
    targets: the layers: the last parts of their names, such as "q_proj"; or, as one text, a pattern
      that a whole name matches; "all-linear" is every linear layer but the one of the scores.
    dropout: of what adapters read, in training.
    Returns: the parameters of the adapters, for an optimiser. They add nothing at first.
    Raises: OptionError for values that do not fit, for targets that are no linear layers, and for
      a model that has adapters.
    """
    if not isinstance(rank, int) or isinstance(rank, bool) or rank < 1:
        raise OptionError(f"rank is a whole number from 1 on, not {rank!r}")
    if not 0 <= dropout < 1:
        raise OptionError(f"dropout is a number from 0 to below 1, not {dropout!r}")
    network = network_of(model)
    check_bare(network)
    found = list(targeted(network, targets))
    network.requires_grad_(False)
    parameters = []
    for name, base in found:
        outputs, inputs = sizes(base, name)
        first = nn.Parameter(f.zeros((rank, inputs)))
        nn.init.kaiming_uniform_(first, a=math.sqrt(5))
        second = nn.Parameter(f.zeros((outputs, rank)))
        layer = LoRALayer(base, first, second, alpha, dropout)
        network.set_submodule(name, layer.train(base.training))
        parameters += [first, second]
    forget(model)
    return parameters


def merge(model: Model) -> Model:
    """Adds all adapters to the weights of their layers, and takes them away. Blocks.

    Weights that were packed are float32 then; leave adapters apart where memory is short.
    Returns: the model itself.
    """
    layers = dict(adapted(network_of(model)))
    values = host_values([layer.merged() for layer in layers.values()])
    for layer, value in zip(layers.values(), values, strict=True):
        base = layer.base_layer
        weight = base.weight
        if isinstance(weight, nn.Parameter):
            weight.assign(asarray(value))
        else:
            base.weight = asarray(value)
    return unload(model)


def unload(model: Model) -> Model:
    """Takes all adapters away. Returns: the model itself, as it was before them."""
    network = network_of(model)
    for name, layer in list(adapted(network)):
        network.set_submodule(name, layer.base_layer)
    forget(model)
    return model


def adapted(network: nn.Module) -> Iterator[tuple[str, LoRALayer]]:
    """The layers that have adapters, by their names."""
    for name, module in network.named_modules():
        if isinstance(module, LoRALayer):
            yield name, module


def network_of(model: Model) -> nn.Module:
    """The network of a model. Raises: OptionError for what is none."""
    network = model.network if isinstance(model, LanguageModel) else model
    if not isinstance(network, nn.Module):
        raise OptionError(f"adapters go into a network or a language model, not {model!r:.60}")
    return network


def forget(model: Model) -> None:
    """A language model computes anew what it has of its texts: its network has changed."""
    if isinstance(model, LanguageModel):
        model.writer.forget()


def targeted(network: nn.Module, targets: str | Iterable[str]) -> Iterator[tuple[str, nn.Module]]:
    """The layers that targets mean. Raises: OptionError for none, and for others than linear."""
    ends = None if isinstance(targets, str) else tuple(targets)
    count = 0
    for name, module in list(network.named_modules()):
        if ends is not None:
            wanted = any(name == end or name.endswith(f".{end}") for end in ends)
        elif targets == "all-linear":
            wanted = isinstance(module, (nn.Linear, Conv1D)) and name != "lm_head"
        else:
            wanted = _matches(str(targets), name)
        if wanted:
            sizes(module, name)
            count += 1
            yield name, module
    if not count:
        raise OptionError(f"the network has no layers {targets!r:.80}")


def sizes(base: nn.Module, name: str) -> tuple[int, int]:
    """The outputs and the inputs of a linear layer. Raises: OptionError for another one."""
    if isinstance(base, (nn.Linear, Conv1D)):
        outputs, inputs = base.weight.shape
        return (inputs, outputs) if isinstance(base, Conv1D) else (outputs, inputs)
    raise OptionError(f"{name} is a {type(base).__name__}: adapters go into linear layers")


def _matches(pattern: str, name: str) -> bool:
    try:
        return re.fullmatch(pattern, name) is not None
    except re.error as error:
        raise OptionError(f"targets {pattern!r:.80} are no pattern: {error}") from error


def check_bare(network: nn.Module) -> None:
    """Raises: OptionError for a network that has adapters."""
    if any(adapted(network)):
        raise OptionError("the model has adapters: tl.peft.merge or tl.peft.unload them first")
