"""A host for each test that changes what the server has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.network.hosting import Host, copied


@pytest.fixture
def host(dist: Path, tmp_path: Path) -> Iterator[Host]:
    host = Host(copied(dist, tmp_path / "site"))
    yield host
    host.shut()
