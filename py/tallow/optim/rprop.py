"""Rprop: steps by the signs of gradients, of a length for each element."""

from __future__ import annotations

import math

from .. import functions as f
from ..errors import OptionError
from ..nn.parameter import Parameter
from ..tensor import Tensor
from .checks import check, torch_options
from .group import Group
from .optimizer import Changes, Optimizer, Params


class Rprop(Optimizer):
    """Each element goes a step of its own length against the sign of its gradient. The length grows
    while the sign stays, and shrinks when it changes, where the element waits for a step
    (Riedmiller and Braun 1993; Igel and Huesken 2000, "iRprop-"). For whole batches.

    lr: the first length; later changes of it have no effect. etas: by what a length shrinks and
    grows. step_sizes: the shortest and the longest. foreach and capturable change nothing.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check("Rprop", lr=(lr, 0, math.inf))
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise OptionError(
                f"Rprop: etas must be from 0 to 1 and above 1, without these, not {tuple(etas)}"
            )
        super().__init__(
            params,
            {
                "lr": float(lr), "etas": tuple(etas), "step_sizes": tuple(step_sizes),
                "maximize": maximize,
                **torch_options("Rprop", {
                    "foreach": foreach, "differentiable": differentiable, "capturable": capturable,
                }),
            },
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        count, steps = self._count(p)
        last, length = self._state(p, "prev"), self._state(p, "step_size")
        agrees = f.sign(gradient * last)
        factor = f.where(agrees > 0.0, group.tensor("etas", 1), 1.0)
        factor = f.where(agrees < 0.0, group.tensor("etas", 0), factor)
        least, most = group.tensor("step_sizes", 0), group.tensor("step_sizes", 1)
        before = f.where(steps > 1.0, length, group.tensor("lr"))
        new_length = f.minimum(f.maximum(before * factor, least), most)
        kept = f.where(agrees < 0.0, 0.0, gradient)
        return [
            (count, steps), (last, kept), (length, new_length),
            (p, p - f.sign(kept) * new_length),
        ]  # fmt: skip
