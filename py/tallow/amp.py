"""Mixed precision, with torch.amp's names (Micikevicius et al. 2018, "Mixed Precision Training").

Within `autocast` products are computed in float16, while parameters stay float32. A small gradient
of float16 becomes 0: `GradScaler` multiplies the loss, so that gradients are larger, and divides
them again before a step.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import ContextDecorator
from typing import Any, Self

from . import functions as f
from .core import context
from .core.devices import REMOTE
from .core.dtype import DType, as_dtype, bfloat16, float16
from .errors import DeviceUnavailableError, OptionError
from .facts import Fact
from .grad_mode import no_grad
from .graph import make
from .ops.logic import isinf, isnan
from .optim.optimizer import Optimizer
from .runtime.device import DEVICES, backend
from .runtime.variable import Variable, assign_together
from .tensor import Tensor, realize_now

__all__ = ["GradScaler", "autocast", "is_autocast_available"]


_OTHERS = ("cpu", "cuda", "mps", "xpu")
"""PyTorch's names of devices: here they stand for the default device."""

_told: set[str] = set()


def is_autocast_available(device_type: str) -> bool:
    """Whether a device computes float16, so that `autocast` does something there: WebGPU with the
    feature shader-f16, once it is open.

    device_type: "webgpu", "wasm" or "numpy"; "cpu", "cuda", "mps" and "xpu" mean the default
      device.
    Returns: True or False.
    Raises: OptionError for another name.
    Source: PyTorch, `torch.amp.is_autocast_available`.
    """
    try:
        used = backend(_device_of(device_type))
        return used.target.computes_float16(used.limits)
    except DeviceUnavailableError:
        return False


def _device_of(device_type: str) -> str | None:
    """The name of a device, None for the default; OptionError for a name that none has."""
    if device_type.startswith(REMOTE):
        return device_type
    name = device_type.partition(":")[0]
    if name not in DEVICES and name not in _OTHERS:
        known = ", ".join(map(repr, (*DEVICES, *_OTHERS)))
        raise OptionError(f"autocast: {device_type!r} is not a device; choose one of {known}")
    return name if name in DEVICES else None


class autocast(ContextDecorator):  # noqa: N801 - PyTorch's name
    """Within it, products are computed in float16, where the device does that.

        with tl.amp.autocast("webgpu"):
            loss = nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()

    Also a decorator. As in PyTorch's table for CUDA, products and convolutions take factors that
    are rounded to float16 and give float16; softmax, losses, normalisations, sums, exp, log, pow
    and the like are float32; the rest has the widest type of its operands. Products add up in
    float32. Parameters stay float32 and receive gradients of float32. A backward pass belongs
    outside; it computes in the types of the forward pass either way.

    device_type: see `is_autocast_available`. On a device without float16 nothing changes: all is
      computed as without autocast, at least as exactly, and a warning says so once.
    dtype: float16, the default; with bfloat16, which no device here computes, nothing changes
      either, and a warning says so.
    enabled: False turns it off, also within another.
    cache_enabled: not looked at, since equal casts of one graph are computed once.
    Raises: OptionError for another dtype or device.
    Source: PyTorch, `torch.amp.autocast`; Micikevicius et al. 2018, "Mixed Precision Training".
    """

    def __init__(
        self,
        device_type: str,
        dtype: DType | str | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        _device_of(device_type)
        self.device_type, self.enabled = device_type, enabled
        self.dtype = float16 if dtype is None else as_dtype(dtype)
        if self.dtype not in (float16, bfloat16):
            raise OptionError(f"autocast: the dtype must be float16, not {self.dtype.name}")
        self._entered: list[context.Override] = []

    def _is_available(self) -> bool:
        if self.dtype == bfloat16:
            reason = "no device computes bfloat16"
        elif not is_autocast_available(self.device_type):
            reason = f"the device {self.device_type!r} does not compute float16"
        else:
            return True
        if reason not in _told:
            _told.add(reason)
            warnings.warn(
                f"autocast: {reason}; everything stays in its type, as without autocast",
                stacklevel=3,
            )
        return False

    def __enter__(self) -> Self:
        switch = context.autocast.override(self.enabled and self._is_available())
        switch.__enter__()
        self._entered.append(switch)
        return self

    def __exit__(self, *error: object) -> None:
        self._entered.pop().__exit__(None, None, None)


def _not_finite(x: Tensor) -> Tensor:
    """Where elements are infinite or not numbers."""
    return Tensor(make(isnan, x.node)) | Tensor(make(isinf, x.node))


class GradScaler:
    """Scales losses up and gradients down, and leaves out steps whose gradients are not finite.

        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    Scale and count are variables, and nothing is read back, so that all of this may be in one
    function under `@tl.jit`. Gradients are divided in their own type.

    device: not looked at.
    init_scale: the first scale, above 0.
    growth_factor: what multiplies the scale after growth_interval steps in which all gradients were
      finite; above 1.
    backoff_factor: what multiplies the scale when a gradient is not finite; between 0 and 1.
    growth_interval: after how many steps the scale grows, 1 or more.
    enabled: False passes everything on as it is.
    Raises: OptionError for numbers out of these bounds.
    Source: PyTorch, `torch.amp.GradScaler`.
    """

    _growth_factor = Fact[float](said="growth_factor")
    _backoff_factor = Fact[float](said="backoff_factor")
    _growth_interval = Fact[int](said="growth_interval")

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
        """A loss times the scale.

        outputs: a tensor, or a list or tuple of tensors.
        Returns: the products, in the structure of outputs.
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            with no_grad():
                factor = self._scale.astype(outputs.dtype)
            return outputs * factor
        return type(outputs)(self.scale(each) for each in outputs)

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divides the gradients of an optimiser's parameters by the scale, for example to clip
        them; `step` does not do it again.

        optimizer: the optimiser whose parameters have the gradients.
        Raises: OptionError the second time before `update`, and if there are no gradients.
        """
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
        of them is not finite.

        optimizer: the optimiser.
        Returns: what the optimiser's step gives.
        Raises: OptionError the second time before `update`, and if there are no gradients.
        """
        if not self._enabled:
            return optimizer.step()
        if id(optimizer) in self._stepped:
            raise OptionError("GradScaler: step() again; call update() before")
        if id(optimizer) not in self._found:
            self.unscale_(optimizer)
        self._stepped.add(id(optimizer))
        return optimizer.step_unless(self._found[id(optimizer)])

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Adapts the scale to what the steps found, or sets it.

        new_scale: the scale to set; None adapts it.
        Raises: OptionError if there were no steps and no new_scale.
        """
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
        """The scale and its counters, as in PyTorch; empty if it is not enabled."""
        state = self.unread_state()
        if state:
            state["scale"], state["_growth_tracker"] = self.get_scale(), int(self._tracker)
        return state

    def unread_state(self) -> dict[str, Any]:
        """As `state_dict`, with tensors that stay on the device for the two numbers there."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._tracker,
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues from a `state_dict`.

        state_dict: what `state_dict` gave.
        Raises: OptionError for an empty one, which a scaler gives that is not enabled.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise OptionError("GradScaler: the state is that of one with enabled=False")
        self._scale.assign(float(state_dict["scale"]))
        self._tracker.assign(int(state_dict["_growth_tracker"]))
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
