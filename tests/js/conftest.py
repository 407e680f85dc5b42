"""The tests of the page's modules that need no page: NAME.test.js, run by Node's own runner.

A file is one test here; support/ has what several of them use.
`node --test tests/js/NAME.test.js` runs it alone.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallow_build.environment import node_env
from tallow_build.paths import ROOT


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collects what Node's runner takes for tests."""
    if not file_path.name.endswith(".test.js"):
        return None
    collector: ScriptFile = ScriptFile.from_parent(parent, path=file_path)
    return collector


class ScriptFile(pytest.File):
    """A file of tests in JavaScript."""

    def collect(self) -> Iterator[pytest.Item]:
        yield Script.from_parent(self, name="node")


class Script(pytest.Item):
    """All the tests of a file; fails with what Node says of those that failed."""

    def runtest(self) -> None:
        command = [node_env.program(), "--test", "--test-reporter=spec", str(self.path)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.fail(done.stdout + done.stderr, pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.path.name
