"""A multilayer perceptron (Rumelhart et al. 1986)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import nn


class MLP(nn.Sequential):
    """Linear layers (..., in_features) to (..., sizes[-1]), an activation and, if it is more than
    0, dropout between them. norm: makes a layer of a number of features, which goes before each
    activation, such as `nn.BatchNorm1d`."""

    def __init__(
        self,
        in_features: int,
        sizes: Sequence[int],
        activation: Callable[[], nn.Module] = nn.ReLU,
        norm: Callable[[int], nn.Module] | None = None,
        dropout: float = 0.0,
    ) -> None:
        layers: list[nn.Module] = []
        for number, size in enumerate(sizes):
            layers.append(nn.Linear(in_features, size))
            if number < len(sizes) - 1:
                layers += [norm(size)] if norm else []
                layers.append(activation())
                layers += [nn.Dropout(dropout)] if dropout else []
            in_features = size
        super().__init__(*layers)
