"""Checks of an optimiser's settings."""

from __future__ import annotations

from ..errors import OptionError


def check(name: str, **limits: tuple[float, float, float]) -> None:
    """OptionError for a setting (value, least, most) that is out of range; "beta..." must be less
    than the most."""
    for setting, (value, least, most) in limits.items():
        inside = least <= value < most if setting.startswith("beta") else least <= value <= most
        if not inside:
            below = "and below" if setting.startswith("beta") else "to"
            raise OptionError(f"{name}: {setting} must be from {least} {below} {most}, not {value}")


def torch_options(name: str, options: dict[str, bool | None]) -> dict[str, bool | None]:
    """Options of PyTorch's that say how a step is computed: a plan is as if fused, so that they
    change nothing, but belong to the groups. OptionError for a differentiable step, and for two
    ways at once."""
    if options.get("fused") and options.get("foreach"):
        raise OptionError(f"{name}: fused=True and foreach=True exclude each other")
    if options.get("differentiable"):
        raise OptionError(
            f"{name}: differentiable=True is not supported; leave it False, and write the steps "
            "out with tl.grad to differentiate through them"
        )
    return options
