"""L-BFGS: steps along an estimate of Newton's direction, for small problems in whole batches."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .. import functions as f
from ..core import context
from ..errors import OptionError
from ..grad_mode import enable_grad, no_grad
from ..nn.parameter import Parameter
from ..runtime.variable import assign_together
from ..tensor import Tensor, asarray, host_values
from .checks import check
from .line_search import Vector, strong_wolfe
from .optimizer import Closure, Optimizer, Params


class LBFGS(Optimizer):
    """Limited-memory BFGS (Liu and Nocedal 1989; Nocedal and Wright 2006, chapter 7).

    max_iter: directions in one `step`. max_eval: evaluations in one `step`, 1.25 max_iter if None.
    tolerance_grad: it is done when no element of the gradient is larger. tolerance_change: nor
    any of a step, nor the change of the loss. history_size: how many steps it remembers.
    line_search_fn: "strong_wolfe", or None, which goes `lr` along each direction.

    `step` needs a closure that forgets the gradients, computes the loss and calls `backward`. The
    history is on the host, in NumPy, and each evaluation reads loss and gradient back. So it
    blocks, and raises OptionError within `@tl.jit`; the closure may call a jitted function.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check("LBFGS", lr=(lr, 0, math.inf), max_iter=(max_iter, 1, math.inf))
        check("LBFGS", history_size=(history_size, 1, math.inf))
        if line_search_fn not in (None, "strong_wolfe"):
            raise OptionError(
                f"LBFGS: line_search_fn {line_search_fn!r} is neither 'strong_wolfe' nor None"
            )
        super().__init__(
            params,
            {
                "lr": float(lr), "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
                "history_size": history_size, "line_search_fn": line_search_fn,
            },
        )  # fmt: skip
        if len(self.param_groups) != 1:
            raise OptionError("LBFGS: has one group of parameters; give them in one list")

    # ---- parameters as one vector on the host --------------------------------------------------

    def _params(self) -> list[Parameter]:
        return self._numbered()

    def _values(self) -> Vector:
        return self._flat([Tensor(p.node) for p in self._params()])

    @staticmethod
    def _flat(tensors: list[Tensor]) -> Vector:
        import numpy as np

        return np.concatenate([x.numpy().reshape(-1) for x in host_values(tensors)])

    def _evaluated(self, closure: Closure) -> tuple[Tensor, float, Vector]:
        """The loss, its value, and the gradient."""
        with enable_grad():
            loss = closure()
        gradients = [
            f.zeros(p.shape, p.dtype) if p.grad is None else p.grad for p in self._params()
        ]
        return loss, float(loss), self._flat(gradients)

    def _assign(self, vector: Vector) -> None:
        pairs, start = [], 0
        for p in self._params():
            part = vector[start : start + int(p.size)].reshape(p.shape)
            pairs.append((p, asarray(part.copy()).astype(p.dtype)))
            start += int(p.size)
        assign_together(pairs)

    # ---- steps ---------------------------------------------------------------------------------

    def step(self, closure: Closure | None = None) -> Tensor | None:
        """Up to max_iter directions; gives the loss before them. Raises OptionError without a
        closure, and while `@tl.jit` traces."""
        if closure is None:
            raise OptionError(
                "LBFGS: step() needs a closure that forgets the gradients, computes the loss, "
                "calls its backward() and returns it"
            )
        if context.trace.get():
            raise OptionError(
                "LBFGS: step() looks at losses to decide how to go on, which a function under "
                "@tl.jit cannot; call it outside, with a jitted function in the closure"
            )
        with no_grad():
            return self._step(closure)

    def _step(self, closure: Closure) -> Tensor:
        import numpy as np

        group = self.param_groups[0]
        state = self.state.setdefault(
            self._params()[0].number,
            {"func_evals": 0, "n_iter": 0, "old_dirs": [], "old_stps": [], "ro": []},
        )
        original, loss, gradient = self._evaluated(closure)
        state["func_evals"] += 1
        evaluations = 1
        least, lr = group["tolerance_grad"], group["lr"]
        change, max_eval = group["tolerance_change"], group["max_eval"]
        if np.abs(gradient).max() <= least:
            return original
        for turn in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self._direction(state, gradient, group["history_size"])
            state["d"], state["prev_flat_grad"], state["prev_loss"] = direction, gradient, loss
            before = loss
            t = lr
            if state["n_iter"] == 1:
                t = min(1.0, 1.0 / float(np.abs(gradient).sum())) * lr
            state["t"] = t
            slope = float(gradient @ direction)
            if slope > -change:  # it does not go down
                break
            start = self._values()
            used = 0
            if group["line_search_fn"]:

                def evaluate(
                    t: float, start: Vector = start, along: Vector = direction
                ) -> tuple[float, Vector]:
                    self._assign(start + (along * t).astype(along.dtype))
                    return self._evaluated(closure)[1:]

                loss, gradient, t, used = strong_wolfe(
                    evaluate, t, direction, loss, gradient, slope
                )
                state["t"] = t
                self._assign(start + (direction * t).astype(direction.dtype))
            else:
                self._assign(start + (direction * t).astype(direction.dtype))
                if turn != group["max_iter"]:  # the next step evaluates this point anyway
                    _, loss, gradient = self._evaluated(closure)
                    used = 1
            evaluations += used
            state["func_evals"] += used
            if evaluations >= max_eval or np.abs(gradient).max() <= least:
                break
            if np.abs(direction * t).max() <= change or abs(loss - before) < change:
                break
        return original

    @staticmethod
    def _direction(state: dict[str, Any], gradient: Vector, most: int) -> Vector:
        """The negative gradient times the estimate of the inverse Hessian, by the two loops of
        Nocedal and Wright, algorithm 7.4; takes the last step into the history."""
        changes, steps, ro = state["old_dirs"], state["old_stps"], state["ro"]
        if state["n_iter"] == 1:
            state["H_diag"] = 1.0
            return -gradient
        y = gradient - state["prev_flat_grad"]
        s = (state["d"] * state["t"]).astype(gradient.dtype)
        curvature = float(y @ s)
        if curvature > 1e-10:
            for each, new in ((changes, y), (steps, s), (ro, 1.0 / curvature)):
                each.append(new)
                del each[:-most]
            state["H_diag"] = curvature / float(y @ y)
        q: Vector = -gradient
        shares = []
        for y, s, r in reversed(list(zip(changes, steps, ro, strict=True))):
            share = float(s @ q) * r
            shares.append(share)
            q = q - y * share
        q = q * state["H_diag"]
        for y, s, r, share in zip(changes, steps, ro, reversed(shares), strict=True):
            q = q + s * (share - float(y @ q) * r)
        return q.astype(gradient.dtype)

    def _check_state(self, p: Parameter, number: object, values: Mapping[str, Any]) -> None:
        """What is kept is of all parameters together."""

    def _load_state(self, p: Parameter, values: Mapping[str, Any]) -> None:
        """The history is no variables."""
        import numpy as np

        self.state.pop(p.number, None)
        if not values:
            return
        own: dict[str, Any] = {"old_dirs": [], "old_stps": [], "ro": []}
        for name, value in values.items():
            if name in ("old_dirs", "old_stps"):
                own[name] = [np.asarray(x) for x in value or ()]
            elif name == "ro":
                own[name] = [float(x) for x in value or ()]
            elif name in ("d", "prev_flat_grad"):
                own[name] = None if value is None else np.asarray(value)
            elif name != "al":  # of PyTorch's; it is computed anew at each step
                own[name] = value if isinstance(value, int) else float(value)
        self.state[p.number] = own
