"""The networks by name, and what all functions that build them share."""

from __future__ import annotations

import fnmatch
import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, NamedTuple, TypeVar

from ... import nn
from ...errors import MissingNameError, OptionError

M = TypeVar("M", bound=nn.Module)


class Published(NamedTuple):
    """A network: what builds it, the side of the square images that it was published for, and its
    paper."""

    build: Callable[..., nn.Module]
    size: int
    paper: str


PUBLISHED: dict[str, Published] = {}
"""All networks, by the names of the functions that build them."""


def published(paper: str, size: int = 224) -> Callable[[Callable[..., M]], Callable[..., M]]:
    """A function that builds a network gets torchvision's arguments `weights` and `progress`, and
    `pretrained` of older programs; it is found by its name. size: the side of the images it was
    published for, in pixels."""

    def registered(make: Callable[..., M]) -> Callable[..., M]:
        name = make.__name__

        @wraps(make)
        def build(*, weights: object = None, progress: bool = True, **options: Any) -> M:
            given = f"weights={weights!r}" if weights is not None else ""
            if options.pop("pretrained", False):
                given = "pretrained=True"
            if given:
                raise OptionError(
                    f"{name}: no weights come with Tallow, so {given} cannot be loaded. "
                    f"{_remedy(name)}"
                )
            return make(**options)

        shown = inspect.signature(make).parameters.values()
        named = [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=value)
                 for key, value in (("weights", None), ("progress", True))]  # fmt: skip
        build.__dict__["__signature__"] = inspect.Signature([*named, *shown])
        PUBLISHED[name] = Published(build, size, paper)
        return build

    return registered


def _remedy(name: str) -> str:
    """What to do where weights were asked for."""
    return (
        f"Build the network without, and load a file of them: model = {name}(); "
        "model.load_state_dict(tl.load('weights.pth')), or a .safetensors file"
    )


class NoWeights:
    """What stands for torchvision's lists of weights, such as ResNet18_Weights. A program may
    import it; for what is in it there is a MissingNameError."""

    def __init__(self, name: str, network: str) -> None:
        self._name, self._network = name, network

    def __getattr__(self, name: str) -> Any:
        raise MissingNameError(
            f"{self._name}.{name}: no weights come with Tallow. {_remedy(self._network)}"
        )


def weights_by_name(name: str) -> NoWeights:
    """What stands for a list of weights. Raises MissingNameError for another name."""
    network = name.removesuffix("_Weights").lower()
    if network == name.lower() or network not in PUBLISHED:
        raise MissingNameError(f"module 'tallow.vision.models' has no attribute {name!r}")
    return NoWeights(name, network)


def list_models(
    module: object = None,
    include: Iterable[str] | str | None = None,
    exclude: Iterable[str] | str | None = None,
) -> list[str]:
    """The names of all networks, sorted.

    module: `tl.vision.models`, which has all, or a file of it; None is all.
    include, exclude: patterns such as "resnet*", of which a name must match one, or none.
    """
    path = getattr(module, "__name__", "")
    found = [name for name, each in PUBLISHED.items() if each.build.__module__.startswith(path)]

    def matches(name: str, patterns: Iterable[str] | str) -> bool:
        several = [patterns] if isinstance(patterns, str) else patterns
        return any(fnmatch.fnmatch(name, pattern) for pattern in several)

    if include is not None:
        found = [name for name in found if matches(name, include)]
    if exclude is not None:
        found = [name for name in found if not matches(name, exclude)]
    return sorted(found)


def get_model_builder(name: str) -> Callable[..., nn.Module]:
    """The function that builds a network. Raises OptionError for a name that none has."""
    found = PUBLISHED.get(name.lower())
    if found is None:
        import difflib

        close = ", ".join(difflib.get_close_matches(name.lower(), PUBLISHED))
        hint = f"; close to it: {close}" if close else "; list_models() names all"
        raise OptionError(f"get_model: no network has the name {name!r}{hint}")
    return found.build


def get_model(name: str, **config: Any) -> nn.Module:
    """A network by name; config are its arguments. Errors as of `get_model_builder`."""
    return get_model_builder(name)(**config)
