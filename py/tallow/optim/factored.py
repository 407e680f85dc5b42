"""Optimisers for large tables: Adafactor, which keeps little, and SparseAdam, which changes only
the rows that have a gradient."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .. import functions as f
from ..core.dtype import as_dtype
from ..functions.data_types import finfo
from ..nn.parameter import Parameter
from ..runtime.variable import Variable
from ..tensor import Tensor
from .checks import check, torch_options
from .group import Group
from .optimizer import Changes, Optimizer, Params


class Adafactor(Optimizer):
    """Adam without momentum, whose squared gradients are kept as one number for each row and one
    for each column (Shazeer and Stern 2018), as PyTorch has it.

    beta2_decay: the new squares count with steps to this power. eps: the least mean square of a
    gradient, by default the spacing of the type's numbers near 1, and the least size of a parameter
    by which steps are scaled. d: the largest root mean square of a step.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check("Adafactor", lr=(lr, 0, math.inf), d=(d, 1, math.inf), eps=(eps[1], 0, math.inf))
        check("Adafactor", beta2_decay=(-beta2_decay, 0, math.inf))
        check("Adafactor", weight_decay=(weight_decay, 0, math.inf))
        super().__init__(
            params,
            {
                "lr": float(lr), "beta2_decay": float(beta2_decay), "eps": tuple(eps),
                "d": float(d), "weight_decay": float(weight_decay), "maximize": maximize,
                **torch_options("Adafactor", {"foreach": foreach}),
            },
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        least, least_size = group["eps"]
        least = finfo(as_dtype(p.dtype)).eps if least is None else least
        count, steps = self._count(p)
        share = steps ** group["beta2_decay"]
        rate = f.minimum(group.tensor("lr"), f.rsqrt(steps))
        size = f.sqrt(f.mean(p * p))
        rate = rate * f.maximum(size, f.full((), least_size, p.dtype))
        kept = p * (1.0 - group.tensor("lr") * group.tensor("weight_decay"))
        squares = gradient * gradient
        changes: list[tuple[Variable, Tensor]] = [(count, steps)]
        if p.ndim > 1:
            lengths = tuple(p.shape)
            rows = self._state(p, "row_var", f.zeros((*lengths[:-1], 1), p.dtype))
            columns = self._state(p, "col_var", f.zeros((*lengths[:-2], 1, lengths[-1]), p.dtype))
            row = rows + (f.mean(squares, axis=-1, keepdims=True) - rows) * share
            column = columns + (f.mean(squares, axis=-2, keepdims=True) - columns) * share
            changes += [(rows, row), (columns, column)]
            whole = f.mean(row, axis=-2, keepdims=True)
            spread = row * column / f.maximum(whole, f.full((), least, p.dtype))
        else:
            variance = self._state(p, "variance")
            spread = variance + (squares - variance) * share
            changes.append((variance, spread))
        step = gradient * f.rsqrt(f.maximum(spread, f.full((), least * least, p.dtype)))
        length = f.sqrt(f.mean(step * step)) / group["d"]
        length = f.maximum(length, f.full((), 1.0, p.dtype))
        return [*changes, (p, kept - step * (rate / length))]

    def _check_state(self, p: Parameter, number: object, values: Mapping[str, Any]) -> None:
        """As of all optimisers; the averages of rows and columns have one axis of length 1."""
        wanted = {"row_var": (*p.shape[:-1], 1), "col_var": (*p.shape[:-2], 1, *p.shape[-1:])}
        fits = {n for n, v in values.items() if n in wanted and tuple(v.shape) == wanted[n]}
        others = {name: value for name, value in values.items() if name not in fits}
        super()._check_state(p, number, others)


class SparseAdam(Optimizer):
    """Adam for tables of which a step reads few rows, such as `nn.Embedding(sparse=True)`: a row
    whose gradient is zero stays as it is, and so do its averages. The gradients are dense tensors
    here, so that a row counts as read where its gradient has an element other than zero."""

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check("SparseAdam", lr=(lr, 0, math.inf), eps=(eps, 0, math.inf))
        check("SparseAdam", betas=(betas[0], 0, 1))
        check("SparseAdam", betas=(betas[1], 0, 1))
        super().__init__(
            params,
            {
                "lr": float(lr), "betas": tuple(betas), "eps": float(eps), "maximize": maximize,
            },
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        first, second = group["betas"]
        count, steps = self._count(p)
        average, square = self._state(p, "exp_avg"), self._state(p, "exp_avg_sq")
        within = tuple(range(1, p.ndim))
        there = f.not_equal(gradient, f.zeros((), p.dtype))
        there = f.any(there, axis=within, keepdims=True) if within else there
        new_average = f.where(there, average + (gradient - average) * (1 - first), average)
        new_square = f.where(there, square + (gradient * gradient - square) * (1 - second), square)
        unbiased = [-f.expm1(steps * math.log(beta)) if beta else 1.0 for beta in (first, second)]
        scale = f.sqrt(unbiased[1]) / unbiased[0] * group.tensor("lr")
        step = new_average / (f.sqrt(new_square) + group["eps"]) * scale
        return [
            (count, steps), (average, new_average), (square, new_square),
            (p, f.where(there, p - step, p)),
        ]  # fmt: skip


__all__ = ["Adafactor", "SparseAdam"]
