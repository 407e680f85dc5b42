"""What KServe's handlers ask: which models there are, whether they are ready, what they take."""

from __future__ import annotations

from typing import Any

from kserve.model_repository import ModelRepository
from kserve.protocol.dataplane import DataPlane

from ..version import __version__
from .models import Port
from .repository import Repository


class _Registry(ModelRepository):  # type: ignore[misc]
    """Our models in KServe's registry, which lists names alone."""

    def __init__(self, repository: Repository) -> None:
        super().__init__()
        self._repository = repository

    def get_models(self) -> dict[str, Any]:
        """See KServe."""
        return dict(self._repository.sources)


class Plane(DataPlane):  # type: ignore[misc]
    """KServe's data plane over our models."""

    def __init__(self, repository: Repository) -> None:
        super().__init__(_Registry(repository))
        self.repository = repository

    def metadata(self) -> dict[str, Any]:
        """See KServe."""
        extensions = ["binary_tensor_data", "model_repository"]
        return {"name": "tallow", "version": __version__, "extensions": extensions}

    async def ready(self) -> bool:
        """See KServe."""
        return self.repository.ready

    def described(self, name: str, version: str | None) -> dict[str, Any]:
        """What a model takes and gives. Raises ServiceError if there is none."""
        found = self.repository.find(name, version)
        return {
            "name": name,
            "versions": [str(each) for each in self.repository.versions(name)],
            "platform": found.model.platform,
            "inputs": list(map(_described, found.model.inputs)),
            "outputs": list(map(_described, found.model.outputs)),
        }


def _described(port: Port) -> dict[str, Any]:
    return {"name": port.name, "datatype": port.datatype, "shape": list(port.shape or (-1,))}
