"""`MetricCollection`: several metrics of the same predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import OptionError
from .metric import Metric


class MetricCollection(Metric):
    """Several metrics that are updated together; the value is a dict of theirs.

    metrics: a metric or a collection, several of them, or a dict of them by name. Without a dict,
      the name is that of the class.
    additional_metrics: further ones.
    prefix, postfix: stand before and behind each name.
    compute_groups: changes nothing; what metrics share is computed once in a compiled function.
    Raises: OptionError for a name that two have.
    Source: torchmetrics, `MetricCollection`.
    """

    def __init__(
        self,
        metrics: Metric | Sequence[Metric] | Mapping[str, Metric],
        *additional_metrics: Metric,
        prefix: str | None = None,
        postfix: str | None = None,
        compute_groups: bool | list[list[str]] = True,
    ) -> None:
        super().__init__()
        given: list[tuple[str, Metric]] = []
        if isinstance(metrics, Mapping):
            given = list(metrics.items())
            metrics = []
        for each in [*([metrics] if isinstance(metrics, Metric) else metrics), *additional_metrics]:
            given.append((type(each).__name__, each))
        self.prefix, self.postfix = prefix or "", postfix or ""
        self.metrics: dict[str, Metric] = {}
        for name, metric in given:
            inner = metric.metrics if isinstance(metric, MetricCollection) else {name: metric}
            for key, value in inner.items():
                if key in self.metrics:
                    raise OptionError(
                        f"MetricCollection: two metrics are named {key!r}; give a dict of them"
                    )
                self.metrics[key] = value
                self.register_module(key, value)
        self.collects = any(metric.collects for metric in self.metrics.values())

    def _by_name(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {f"{self.prefix}{name}{self.postfix}": value for name, value in values.items()}

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Takes a batch into account, in each metric."""
        for metric in self.metrics.values():
            metric.update(*args, **kwargs)

    def compute(self) -> dict[str, Any]:
        """The value of each metric, by name."""
        return self._by_name({name: metric.compute() for name, metric in self.metrics.items()})

    def forward(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The values of one batch, which is also taken into account."""
        return self._by_name({name: each(*args, **kwargs) for name, each in self.metrics.items()})

    def reset(self) -> None:
        """Forgets all batches, in each metric."""
        for metric in self.metrics.values():
            metric.reset()

    def items(self) -> list[tuple[str, Metric]]:
        """Each name, with prefix and postfix, and its metric."""
        return list(self._by_name(self.metrics).items())

    def keys(self) -> list[str]:
        """Each name, with prefix and postfix."""
        return list(self)

    def values(self) -> list[Metric]:
        """The metrics."""
        return list(self.metrics.values())

    def __getitem__(self, name: str) -> Metric:
        return dict(self.items())[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name(self.metrics))

    def __len__(self) -> int:
        return len(self.metrics)
