"""torch.amp's names: a loss scale that adapts itself, and `autocast`, which changes nothing.

A small gradient of float16 becomes 0. `GradScaler` multiplies the loss, so that gradients are
larger, and divides them again before a step (Micikevicius et al. 2018, "Mixed Precision Training").
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ContextDecorator
from typing import Any, Self

from . import functions as f
from .autodiff.history import no_grad
from .dtype import DType
from .errors import OptionError
from .graph import make
from .ops.logic import isinf, isnan
from .optim.optimizer import Optimizer
from .runtime.variable import Variable, assign_together
from .tensor import Tensor, realize_now

__all__ = ["GradScaler", "autocast"]


class autocast(ContextDecorator):  # noqa: N801 - PyTorch's name
    """Accepted, so that PyTorch's code runs, and does nothing: all is computed in the types that it
    has, which is at least as exact.

    `tl.set_float32_matmul_precision` has products computed in float16 where a device is faster for
    it. device_type, dtype, cache_enabled: not looked at.
    """

    enabled = False

    def __init__(
        self,
        device_type: str,
        dtype: DType | str | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        self.device_type, self.dtype = device_type, dtype

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def _not_finite(x: Tensor) -> Tensor:
    """Where elements are infinite or not numbers."""
    return Tensor(make(isnan, x.node)) | Tensor(make(isinf, x.node))


class GradScaler:
    """Scales losses up and gradients down, and leaves out steps whose gradients are not finite.

    init_scale: the first scale. backoff_factor: what multiplies it when a gradient is not finite.
    growth_factor: what multiplies it after growth_interval steps in which all were. enabled: False
    passes everything on as it is. device: not looked at.

        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    Scale and count are variables, and nothing is read back, so that all of this may be in one
    function under `@tl.jit`. Gradients are divided in their own type.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if not growth_factor > 1:
            raise OptionError(f"GradScaler: growth_factor must be above 1, not {growth_factor}")
        if not 0 < backoff_factor < 1:
            raise OptionError(
                f"GradScaler: backoff_factor must be between 0 and 1, not {backoff_factor}"
            )
        if not init_scale > 0 or growth_interval < 1:
            raise OptionError(
                f"GradScaler: init_scale {init_scale} and growth_interval {growth_interval} must "
                "be above 0"
            )
        self._enabled = enabled
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._scale = Variable(float(init_scale), name="loss scale")
        self._tracker = Variable(0, dtype="int32", name="loss scale's steps")
        self._found: dict[int, Tensor] = {}  # by optimiser, until `update`: not all were finite
        self._stepped: set[int] = set()

    def scale(self, outputs: Any) -> Any:
        """A loss times the scale; also a list or tuple of them."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            with no_grad():
                factor = self._scale.astype(outputs.dtype)
            return outputs * factor
        return type(outputs)(self.scale(each) for each in outputs)

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divides the gradients of an optimiser's parameters by the scale, to clip them for one;
        `step` does not do it again. Raises OptionError the second time before `update`."""
        if not self._enabled:
            return
        if id(optimizer) in self._found:
            raise OptionError("GradScaler: unscale_() or step() again; call update() before")
        params = [p for group in optimizer.param_groups for p in group["params"]]
        found = [(p, p.grad) for p in params if p.grad is not None]
        if not found:
            raise OptionError(
                "GradScaler: the optimiser's parameters have no gradients; call "
                "scaler.scale(loss).backward() before"
            )
        with no_grad():
            factor = f.reciprocal(self._scale)
            changed = [gradient * factor.astype(gradient.dtype) for _, gradient in found]
            bad = f.any(f.stack([f.any(_not_finite(gradient)) for _, gradient in found]))
        realize_now([bad, *changed])
        for (p, _), gradient in zip(found, changed, strict=True):
            p.grad = gradient
        self._found[id(optimizer)] = bad

    def step(self, optimizer: Optimizer) -> Tensor | None:
        """A step of the optimiser with gradients divided by the scale, which changes nothing if one
        of them is not finite. Raises OptionError the second time before `update`."""
        if not self._enabled:
            return optimizer.step()
        if id(optimizer) in self._stepped:
            raise OptionError("GradScaler: step() again; call update() before")
        if id(optimizer) not in self._found:
            self.unscale_(optimizer)
        self._stepped.add(id(optimizer))
        return optimizer.step_unless(self._found[id(optimizer)])

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Adapts the scale to what the steps found, or sets it. Raises OptionError if there were
        none."""
        if not self._enabled:
            return
        found, self._found = list(self._found.values()), {}
        self._stepped.clear()
        if new_scale is not None:
            self._scale.assign(new_scale)
            return
        if not found:
            raise OptionError("GradScaler: update() without a step() before")
        with no_grad():
            bad = f.any(f.stack(found))
            steps = self._tracker + 1
            grown = steps >= self._growth_interval
            larger = self._scale * self._growth_factor
            # At the limit of float32 it stays.
            larger = f.where(_not_finite(larger), self._scale, larger)
            kept = f.where(grown, larger, self._scale)
            scale = f.where(bad, self._scale * self._backoff_factor, kept)
            count = f.where(f.logical_or(bad, grown), 0, steps)
            assign_together([(self._scale, scale), (self._tracker, count.astype("int32"))])

    # ---- settings ------------------------------------------------------------------------------

    def get_scale(self) -> float:
        """The scale now; blocks. 1 if it is not enabled."""
        return float(self._scale) if self._enabled else 1.0

    def is_enabled(self) -> bool:
        """Whether it does anything."""
        return self._enabled

    def get_growth_factor(self) -> float:
        """What multiplies the scale when it grows."""
        return self._growth_factor

    def get_backoff_factor(self) -> float:
        """What multiplies the scale when a gradient was not finite."""
        return self._backoff_factor

    def get_growth_interval(self) -> int:
        """After how many steps it grows."""
        return self._growth_interval

    def state_dict(self) -> dict[str, Any]:
        """What it goes on from, as in PyTorch; empty if it is not enabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": int(self._tracker),
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on from a `state_dict`. Compiled steps keep the factors that they were compiled
        with. Raises OptionError for an empty one, of a scaler that was not enabled."""
        if not self._enabled:
            return
        if not state_dict:
            raise OptionError("GradScaler: the state is that of one with enabled=False")
        self._scale.assign(float(state_dict["scale"]))
        self._tracker.assign(int(state_dict["_growth_tracker"]))
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
