"""Which tests share a process, and what happens when a process dies: pytest-xdist's scheduler for
--dist=loadfile, with three things put right that keep a run from its end (pytest-xdist 3.8).

A worker waits before its last test until it knows the next one, so a replacement whose first file
has one test would wait for ever. The test that killed its worker would run again, and kill the next
one. A replacement that is still collecting would be given work.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from xdist.report import report_collection_diff
from xdist.scheduler import LoadFileScheduling

OP_SUITE = "tests/ops/test_ops.py::test_cases["


def process_group(test: str) -> str:
    """The tests of a group run in one process: those of a file, or of a device of the op suite."""
    end = "-" if test.startswith(OP_SUITE) else "::"
    return test.partition(end)[0]


class Groups(LoadFileScheduling):  # type: ignore[misc]  # it has no types here
    """Gives whole groups to workers. A test in which a worker dies has failed; the rest of its
    group goes to others."""

    def _split_scope(self, nodeid: str) -> str:
        return process_group(nodeid)

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        """Raises RuntimeError, which ends the run, if a replacement found other tests: work is
        given as positions in the list of tests."""
        super().add_node_collection(node, collection)
        if node not in self.registered_collections:
            first = next(iter(self.registered_collections)).gateway.id
            of = (self.collection, collection, first, node.gateway.id)
            raise RuntimeError(report_collection_diff(*of))

    def remove_node(self, node: Any) -> str | None:
        """The test in which this worker died, if any."""
        workload = self.assigned_work.pop(node)
        if self.collection is None:  # others still collect, and its replacement counts instead
            self.registered_collections.pop(node, None)
        left = [test for group in workload.values() for test, ended in group.items() if not ended]
        if not left:
            return None
        for name, group in workload.items():
            group[left[0]] = True
            if not all(group.values()):
                self.workqueue[name] = group
        for other in self.nodes:
            self._reschedule(other)
        return left[0]

    def _reschedule(self, node: Any) -> None:
        if node not in self.registered_collections:
            return
        super()._reschedule(node)
        while self._pending_of(self.assigned_work[node]) < 2 and not node.shutting_down:
            super()._reschedule(node)

    def _assign_work_unit(self, node: Any) -> None:
        with suppress(OSError):  # it has just died, and `remove_node` comes next
            super()._assign_work_unit(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Groups | None:
    """Divides the tests between processes, for --dist=loadfile."""
    return Groups(config, log) if config.getvalue("dist") == "loadfile" else None
