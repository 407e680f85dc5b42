"""torch.utils.checkpoint's names: intermediate results that are computed again instead of kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..autodiff import transforms
from ..errors import OptionError

__all__ = ["checkpoint", "checkpoint_sequential"]


def checkpoint(
    function: Callable[..., Any],
    *args: object,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    determinism_check: str = "default",
    debug: bool = False,
    **kwargs: object,
) -> Any:
    """As `tl.checkpoint`; random numbers within are the same when they are drawn again.

    function: what is computed twice.
    args, kwargs: its arguments; tensors may be among them, in tuples, lists and dicts too.
    use_reentrant, preserve_rng_state, determinism_check, debug: change nothing.
    Returns: what the function gives.
    Source: PyTorch, `torch.utils.checkpoint.checkpoint`.
    """
    return transforms.checkpoint(function, *args, **kwargs)


def checkpoint_sequential(
    functions: Sequence[Callable[..., Any]],
    segments: int,
    input: object,
    use_reentrant: bool | None = None,
    **kwargs: object,
) -> Any:
    """Functions one after the other, in several parts: all but the last part are checkpoints.

    functions: the functions, such as the layers of an nn.Sequential.
    segments: the number of parts.
    input: the argument of the first function.
    use_reentrant, kwargs: change nothing.
    Returns: what the last function gives.
    Raises: OptionError for fewer than one segment, or more than there are functions.
    Source: PyTorch, `torch.utils.checkpoint.checkpoint_sequential`.
    """
    layers = list(functions)
    if not 1 <= segments <= len(layers):
        raise OptionError(f"checkpoint_sequential: {segments} segments of {len(layers)} functions")
    size = len(layers) // segments
    for start in range(0, size * (segments - 1), size):
        input = checkpoint(_chain(layers[start : start + size]), input)
    return _chain(layers[size * (segments - 1) :])(input)


def _chain(functions: Sequence[Callable[..., Any]]) -> Callable[[Any], Any]:
    def run(x: object) -> Any:
        for function in functions:
            x = function(x)
        return x

    return run
