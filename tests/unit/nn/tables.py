"""docs/training/: its tables of layers, losses, optimisers, schedules and distributions.

    python -m tests.unit.nn.tables

writes them anew, from the signatures and the first sentences of docstrings.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tallow import distributions, functional, nn, optim
from tallow.nn import lazy
from tallow.optim import lr_scheduler, swa_utils
from tallow_build.paths import ROOT

PAGES = ROOT / "docs" / "training"

BEGIN = "<!-- {}: written by `python -m tests.unit.nn.tables` -->"
END = "<!-- end -->"

KINDS = {
    "linear": "Linear",
    "convolution": "Convolution",
    "pooling": "Pooling",
    "normalization": "Normalisation",
    "activation": "Activation",
    "recurrent": "Recurrent",
    "attention": "Attention and Transformer",
    "transformer": "Attention and Transformer",
    "encodings": "Attention and Transformer",
    "embedding": "Embedding",
    "dropout": "Dropout",
    "borders": "Borders",
    "resampling": "Shapes and sizes of images",
    "distance": "Distances",
    "containers": "Containers and parameters",
    "parameter": "Containers and parameters",
    "module": "Containers and parameters",
    "lazy": "Layers that learn their number of inputs",
}
"""What the files of nn/ are called on the page, in its order."""

ACCEPTED = {"device", "dtype", "inplace", "foreach", "capturable", "differentiable", "fused"}
ACCEPTED |= {"last_epoch", "verbose", "size_average", "reduce", "optimizer", "params"}
ACCEPTED |= {"enable_nested_tensor", "mask_check", "validate_args"}
"""Settings that the tables leave out: the same everywhere, or without an effect here."""


BASES = (
    optim.Optimizer,
    lr_scheduler.LRScheduler,
    distributions.Distribution,
    distributions.ExponentialFamily,
    lazy.LazyModule,
)


def sentence(definition: Any) -> str:
    """The first sentence of a docstring; of a function's that it refers to, that one's."""
    text = " ".join((inspect.getdoc(definition) or "").partition("\n\n")[0].split())
    reference = re.match(r"See `functional\.(\w+)`[.;]", text)
    if reference:
        return sentence(getattr(functional, reference[1]))
    return re.split(r"(?<=[^.]\.)\s+(?=[A-Z`_]|\w+: )", text)[0]


def call(definition: type) -> str:
    """How an object is made, without what the tables leave out."""
    settings = []
    for each in inspect.signature(definition).parameters.values():
        if each.name in ACCEPTED or each.name.startswith("_") or each.kind is each.VAR_KEYWORD:
            continue
        if each.kind is each.VAR_POSITIONAL:
            settings.append("...")
            continue
        default = each.default
        shown = f"{default:g}" if isinstance(default, float) else repr(default).replace("'", '"')
        settings.append(each.name if default is each.empty else f"{each.name}={shown}")
    return f"{definition.__name__}({', '.join(settings)})"


def table(first: str, second: str, definitions: Iterable[type]) -> str:
    rows = [f"| {first} | {second} |\n|---|---|\n"]
    for each in definitions:
        does = sentence(each).replace("|", "\\|")
        rows.append(f"| `{call(each)}` | {does} |\n")
    return "".join(rows)


def classes(room: Any, names: Iterable[str], base: type) -> list[type]:
    """Those that derive from the base, without the bases that nobody makes objects of."""
    found = (getattr(room, name) for name in names)
    derived = (each for each in found if isinstance(each, type) and issubclass(each, base))
    return [each for each in derived if each not in BASES]


def loss(definition: type) -> bool:
    return definition.__module__ == "tallow.nn.loss" or definition.__name__.endswith("WithLoss")


def layers() -> str:
    """A table for each kind of layer."""
    waiting = sorted(name for name in vars(lazy) if name.startswith("Lazy"))
    other: list[type] = [nn.Parameter, nn.Buffer]
    kinds: dict[str, list[type]] = {kind: [] for kind in KINDS.values()}
    for each in [*classes(nn, nn.__all__, nn.Module), *other, *classes(lazy, waiting, nn.Module)]:
        if not loss(each):
            kinds[KINDS[each.__module__.rpartition(".")[2]]].append(each)
    assert all(kinds.values())
    return "\n".join(
        f"### {kind}\n\n{table('layer', 'computes', found)}" for kind, found in kinds.items()
    )


def losses() -> str:
    return table("loss", "computes", filter(loss, classes(nn, nn.__all__, nn.Module)))


def optimisers() -> str:
    return table("optimiser", "is", classes(optim, optim.__all__, optim.Optimizer))


def schedules() -> str:
    """Of the rate, and of means of models."""
    found = classes(lr_scheduler, lr_scheduler.__all__, lr_scheduler.LRScheduler)
    return table("schedule", "is", [*found, swa_utils.SWALR])


def families() -> str:
    return table(
        "family",
        "is",
        classes(distributions, distributions.__all__, distributions.Distribution),
    )


TABLES: dict[str, tuple[str, Callable[[], str]]] = {
    "layers": ("layers.md", layers),
    "losses": ("losses.md", losses),
    "optimisers": ("optimisers.md", optimisers),
    "schedules": ("optimisers.md", schedules),
    "distributions": ("distributions.md", families),
}
"""The page and the text of each table."""


def written(name: str, page: str) -> str:
    """The page with one table anew."""
    begin = BEGIN.format(name)
    head, found, rest = page.partition(begin)
    assert found, name
    return f"{head}{begin}\n\n{TABLES[name][1]()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    for name, (file, _) in TABLES.items():
        path: Path = PAGES / file
        path.write_text(written(name, path.read_text("utf-8")), "utf-8")
