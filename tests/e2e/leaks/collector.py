"""Measures the memory of a page and its worker: JavaScript heaps without garbage, GPU buffers."""

from __future__ import annotations

import json
import time
from math import inf
from typing import Any

from playwright.sync_api import CDPSession, Page

# In a worker: `held` counts its GPU buffers and their bytes.
COUNT_BUFFERS = """
globalThis.held = { bytes: 0, buffers: 0 };
{
  const alive = new Set();
  const create = GPUDevice.prototype.createBuffer;
  GPUDevice.prototype.createBuffer = function (...args) {
    const buffer = create.apply(this, args);
    alive.add(buffer);
    held.bytes += buffer.size;
    held.buffers += 1;
    return buffer;
  };
  const destroy = GPUBuffer.prototype.destroy;
  GPUBuffer.prototype.destroy = function () {
    if (alive.delete(this)) {
      held.bytes -= this.size;
      held.buffers -= 1;
    }
    return destroy.call(this);
  };
}
"""


class Collector:
    """Collects a worker's garbage and measures its JavaScript heap, through DevTools."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._worker = ""
        self._answers: dict[int, Any] = {}
        self._session.on("Target.attachedToTarget", self._attached)
        self._session.on("Target.receivedMessageFromTarget", self._received)
        attach = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": False}
        self._session.send("Target.setAutoAttach", attach)
        self._count = 0

    def _attached(self, event: dict[str, Any]) -> None:
        if event["targetInfo"]["type"] == "worker":
            self._worker = event["sessionId"]

    def _received(self, event: dict[str, Any]) -> None:
        answer = json.loads(event["message"])
        self._answers[answer.get("id", 0)] = answer.get("result")

    def _send(self, method: str) -> Any:
        self._count += 1
        message = json.dumps({"id": self._count, "method": method})
        arguments = {"sessionId": self._worker, "message": message}
        self._session.send("Target.sendMessageToTarget", arguments)
        while self._count not in self._answers:
            self._page.evaluate("0")  # lets events arrive
        return self._answers[self._count]

    def page_bytes_used(self) -> int:
        """The size of the page's JavaScript heap, without garbage."""
        self._session.send("HeapProfiler.collectGarbage")
        used: int = self._session.send("Runtime.getHeapUsage")["usedSize"]
        return used

    def bytes_used(self, most: float = inf) -> int:
        """The size of the worker's JavaScript heap, without garbage.

        Unfinished work, such as pipelines of a failed program, holds some of it. So while it is
        more than `most`, it is measured again, for half a minute.
        """
        end = time.monotonic() + 30
        while True:
            self._send("HeapProfiler.collectGarbage")
            used: int = self._send("Runtime.getHeapUsage")["usedSize"]
            if used <= most or time.monotonic() > end:
                return used
