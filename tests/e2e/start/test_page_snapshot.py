"""Python is restored from a memory snapshot; if that fails, it starts normally at once.

NumPy has a snapshot of its own; if that fails, the first one is tried, then a normal start. Most
faults are tried in a worker that only starts Python. For other damage of downloads see
tests/js/fetch.test.js.
"""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, Route, expect
from tests.e2e.runtime import asked_of_runtime, known, retell

SNAPSHOT = "**/runtime/snapshot-*.bin"
NUMPY = "**/runtime/numpy-*.bin"
MODULE = "**/sources/worker/snapshot.js"
LIBRARY = "**/runtime/_umath_linalg-*.wasm"


def image(dist: Path) -> Path:
    """The snapshot."""
    return dist / "runtime" / known(dist)["snapshot"]["file"]


def test_nothing_is_loaded_that_the_snapshot_contains(visitor):
    asked = asked_of_runtime(visitor.page)
    visitor.open()
    visitor.draw_seven()
    assert visitor.read() == "7"
    assert [name for name in asked if name.startswith("snapshot-")]
    assert not [name for name in asked if name.endswith((".zip", ".whl"))]

    visitor.hook("device-select").select_option("numpy")
    visitor.wait()
    assert visitor.read() == "7"
    assert [name[:6] for name in asked if name.endswith((".zip", ".whl"))] == ["numpy-"]


def test_numpy_comes_from_a_snapshot_too(visitor):
    asked = asked_of_runtime(visitor.page)
    visitor.open("?device=numpy")
    visitor.draw_seven()
    assert visitor.read() == "7"
    for start in ("snapshot-", "numpy-", "_multiarray_umath-", "_umath_linalg-"):
        assert len([name for name in asked if name.startswith(start)]) == 1
    assert not [name for name in asked if name.endswith((".zip", ".whl"))]
    stages = visitor.hook("boot-log").locator("[data-stage]")
    names = [stage.get_attribute("data-stage") for stage in stages.all()]
    assert names[0] == "numpySnapshot"
    assert not {"snapshot", "python", "numpy"} & set(names)
    assert int(stages.first.get_attribute("data-bytes")) > 10_000_000


def no_room_for_a_library(runtime: dict[str, Any]) -> None:
    runtime["numpy"]["libraries"][1]["slots"][0] -= 1


def of_another_tallow(runtime: dict[str, Any]) -> None:
    runtime["version"] = "9.9.9"


def stage(visitor, name: str) -> Locator:
    """The line of a stage in the boot log."""
    found: Locator = visitor.hook("boot-log").locator(f"[data-stage={name}]")
    return found


def failed(visitor, name: str, why: str) -> None:
    """This stage has failed, for this reason."""
    expect(stage(visitor, name)).to_have_attribute("data-state", "failed")
    expect(stage(visitor, name)).to_contain_text(why)


def test_if_both_snapshots_fail_python_starts_normally_and_the_boot_log_says_why(visitor):
    def change(runtime) -> None:
        no_room_for_a_library(runtime)
        of_another_tallow(runtime)

    retell(visitor.page, change)
    visitor.open("?device=numpy")
    visitor.draw_seven()
    assert visitor.read() == "7"
    failed(visitor, "numpySnapshot", "the table has")
    failed(visitor, "snapshot", "The snapshot contains another version of Tallow, 0.1.0")
    for name in ("python", "tallow", "numpy"):
        expect(stage(visitor, name)).to_have_attribute("data-state", "done")
    visitor.hook("language-select").select_option("zh")
    failed(visitor, "snapshot", "失败")


# A worker that only starts Python, as the page's worker does, and runs code.
TRY = """
import { startPython } from "./worker/python.js";
onmessage = async ({ data: { numpy, code } }) => {
  try {
    const { pyodide } = await startPython({ numpy });
    postMessage({ result: pyodide.runPython(code) });
  } catch (error) {
    postMessage({ failed: String(error) });
  }
};
"""
# Starts such a worker. Returns the result, and for each stage [its last state, the reason]. The
# workers stay, so that the browser need not compile Python for each.
START = """({ say }, given) => new Promise((resolve) => {
  const worker = new Worker("try.js", { type: "module" });
  (window.workers ??= []).push(worker);
  const stages = {};
  worker.onerror = ({ message }) => resolve({ failed: message });
  worker.onmessage = ({ data }) => {
    if (data.event === "stage") stages[data.name] = [data.state, data.why ? say(data.why) : ""];
    else if (!data.event) resolve({ ...data, stages });
  };
  worker.postMessage(given);
})"""
COMPUTE = """
import tallow as tl
if NUMPY:
    import numpy as np
    assert np.arange(3).sum() == 3
str(tl.zeros((2, 3)).shape)
"""


class Starts:
    """Starts Python again and again on one page, with the list of runtime/ that a test changes."""

    def __init__(self, page: Page, module: Any, listed: dict[str, Any]) -> None:
        self.page = page
        self.listed = listed
        self._module = module

        def tell(route: Route) -> None:
            body = f"export default {json.dumps(self.listed)};"
            route.fulfill(body=body, content_type="text/javascript")

        def script(route: Route) -> None:
            # An isolated page runs only workers that are isolated, too.
            headers = {"Cross-Origin-Embedder-Policy": "require-corp"}
            route.fulfill(body=TRY, content_type="text/javascript", headers=headers)

        page.route("**/sources/runtime/runtime.js", tell)
        page.route("**/sources/try.js", script)

    def start(self, *, numpy: bool) -> dict[str, list[str]]:
        """The stages of a start, which must succeed."""
        given = {"numpy": numpy, "code": COMPUTE.replace("NUMPY", str(numpy))}
        ended = self._module("./i18n/messages.js", START, given)
        assert ended.get("result") == "(2, 3)", ended
        stages: dict[str, list[str]] = ended["stages"]
        return stages


def cut_off(starts: Starts, content: bytes) -> str:
    starts.page.route(SNAPSHOT, lambda route: route.fulfill(body=content[:-100_000]))
    return "is damaged: it has"


def serve_as_right(starts: Starts, content: bytes) -> None:
    """Serves another snapshot with its hash."""
    facts = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    starts.listed["snapshot"].update(facts)
    starts.page.route(SNAPSHOT, lambda route: route.fulfill(body=content))


def of_another_pyodide(starts: Starts, content: bytes) -> str:
    at = content.index(b'{"hiwireKeys"')
    serve_as_right(starts, content[: at - 8] + bytes(8) + content[at:])
    return "mismatch"


def without_python(starts: Starts, content: bytes) -> str:
    """Its memory is that of a new instance, in which nothing has run."""
    at = content.index(b'{"hiwireKeys"') - 48
    serve_as_right(starts, content[:8] + bytes(4) + content[at:])
    return "Python could not be started"


def refused_by_the_browser(starts: Starts, content: bytes) -> str:
    def handle(route: Route) -> None:
        response = route.fetch()
        body = response.text()
        assert "memory.set(fresh)" in body
        body = body.replace("memory.set(fresh)", "memory.refuse(fresh)")
        route.fulfill(response=response, body=body)

    starts.page.route(MODULE, handle)
    return "Python could not be started"


def no_numpy(starts: Starts) -> str:
    starts.page.route(NUMPY, lambda route: route.abort())
    return "can’t be reached"


def library_that_is_none(starts: Starts) -> str:
    starts.page.route(LIBRARY, lambda route: route.fulfill(body=bytes(1_056_155)))
    return "its sha256 is"


def library_without_room(starts: Starts) -> str:
    no_room_for_a_library(starts.listed)
    return "the table has"


FAULTS = (cut_off, of_another_pyodide, without_python, refused_by_the_browser)
# Each start takes six seconds of processor time: a file that is missing or changed is tried once
# here, in each way by tests/js/fetch.test.js.
FAULTS_OF_NUMPY = (no_numpy, library_that_is_none, library_without_room)


def test_whatever_is_wrong_with_a_snapshot_python_starts_without_it(page, module, dist):
    listed = known(dist)
    content = image(dist).read_bytes()
    starts = Starts(page, module, listed)
    assert starts.start(numpy=True).keys() == {"numpySnapshot"}

    for fault in FAULTS:
        starts.listed = copy.deepcopy(listed)
        why = fault(starts, content)
        stages = starts.start(numpy=False)
        page.unroute(SNAPSHOT)
        page.unroute(MODULE)
        state, reason = stages.pop("snapshot")
        assert state == "failed", fault.__name__
        assert why in reason
        assert stages == {"python": ["done", ""], "tallow": ["done", ""]}

    for fault_of_numpy in FAULTS_OF_NUMPY:
        starts.listed = copy.deepcopy(listed)
        why = fault_of_numpy(starts)
        stages = starts.start(numpy=True)
        page.unroute(NUMPY)
        page.unroute(LIBRARY)
        state, reason = stages.pop("numpySnapshot")
        assert state == "failed", fault_of_numpy.__name__
        assert why in reason
        assert stages == {"snapshot": ["done", ""], "numpy": ["done", ""]}


def test_its_listed_facts_are_right(dist):
    listed = known(dist)
    assert listed["version"] == "0.1.0"
    assert listed["snapshot"]["bytes"] == image(dist).stat().st_size
