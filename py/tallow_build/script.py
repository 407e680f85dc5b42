"""Runs Python in headless Chromium: python.html of a served dist/, driven from here.

    python -m tallow_build.script [--device webgpu|numpy] [--file PATH ...] FILE.py

The script's output is passed on as it comes; its exit status is this program's.
"""

from __future__ import annotations

import argparse
import base64
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Error, Page, sync_playwright

from . import browser, server
from .errors import BuildError
from .paths import DIST

Write = Callable[[str, str], object]

# Everything that the worker says is queued in the page and fetched from here, so that output and
# end arrive in order. `next` waits until there is something, or so long, if it is told how long.
_QUEUE = """
() => {
  const queue = [];
  let wake = () => {};
  const put = (entry) => { queue.push(entry); wake(); };
  for (const name of ["stdout", "stderr"]) tallow.on(name, ({text}) => put([name, text]));
  window.tallowCalls = {
    start(action, args) {
      if (args.base64 !== undefined) {
        args.bytes = Uint8Array.from(atob(args.base64), (letter) => letter.charCodeAt(0));
        delete args.base64;
      }
      tallow.call(action, args).then(
        (result) => put(["result", result ?? null]),
        (error) => put(["error", String(error?.message ?? error)]),
      );
    },
    async next(milliseconds) {
      if (queue.length === 0) {
        await new Promise((resolve) => {
          wake = resolve;
          if (milliseconds) setTimeout(resolve, milliseconds);
        });
      }
      return queue.splice(0);
    },
  };
}
"""


class Booted(NamedTuple):
    """device: "webgpu" or "numpy". adapter: its name, "" on NumPy. reason: why not WebGPU."""

    device: str
    adapter: str
    reason: str | None


class Ended(NamedTuple):
    """status: the exit status. result: the last expression's value where it is JSON, else None."""

    status: int
    result: Any


class BrowserPython:
    """A Python in a browser, with Tallow and NumPy importable.

    Raises BuildError where the page or its worker fails; what the script does is told by `run`.
    """

    def __init__(self, page: Page, address: str) -> None:
        self._page = page
        with _explained("Opening python.html"):
            page.goto(f"{address}python.html")
            browser.until(page, "window.tallow !== undefined")
            page.evaluate(_QUEUE)

    def boot(self, device: str | None) -> Booted:
        """Starts Python. device None: WebGPU where it can be had."""
        return Booted(**self._call("boot", {"device": device}))

    def write(self, name: str, data: bytes) -> None:
        """Puts a file into the current folder of the script."""
        self._call("write", {"path": name, "base64": base64.b64encode(data).decode()})

    def run(self, code: str, filename: str, write: Write, patience: float | None = None) -> Ended:
        """Runs a file's text to its end. `write` is given "stdout" or "stderr" and a text.

        patience: seconds of silence after which BuildError is raised; the page is then of no use.
        """
        arguments = {"code": code, "filename": filename}
        return Ended(**self._call("exec", arguments, write, patience))

    def _call(
        self,
        action: str,
        arguments: dict[str, Any],
        write: Write | None = None,
        patience: float | None = None,
    ) -> Any:
        step = f"Running Python in the browser ({action})"
        with _explained(step):
            self._page.evaluate(
                "([name, args]) => tallowCalls.start(name, args)", [action, arguments]
            )
            while True:
                milliseconds = 1000 * patience if patience else None
                said = self._page.evaluate("(time) => tallowCalls.next(time)", milliseconds)
                if patience and not said:
                    raise BuildError(step, f"no word for {patience} seconds", "see what hangs")
                for kind, value in said:
                    if kind == "result":
                        return value
                    if kind == "error":
                        raise BuildError(step, value, "see the reason; dist/ may be incomplete")
                    if write:
                        write(kind, value)


@contextmanager
def _explained(step: str) -> Iterator[None]:
    try:
        yield
    except Error as error:  # the page is gone: it crashed, or Chromium was ended
        first = error.message.strip().splitlines()[0]
        raise BuildError(step, first, "try again; it may have run out of memory") from error


def run(script: Path, device: str | None, files: list[Path]) -> int:
    """Runs a script in a Chromium of its own and returns its exit status."""
    with (
        server.running(DIST) as address,
        sync_playwright() as playwright,
        browser.launch(playwright) as chromium,
    ):
        return run_in(chromium, address, script, device, files)


def run_in(
    chromium: Browser, address: str, script: Path, device: str | None, files: list[Path]
) -> int:
    """As `run`, in a Chromium and with a server of dist/ that are there already."""
    python = BrowserPython(chromium.new_page(), address)
    booted = python.boot(device)
    if device == "webgpu" and booted.device != "webgpu":
        why = booted.reason or "the browser did not say why"
        raise BuildError("Getting a WebGPU device", why, "leave out --device, or say numpy")
    if device is None and booted.device != "webgpu":
        print(f"Running on numpy, without WebGPU: {booted.reason}", file=sys.stderr)
    for path in (script, *files):  # the script too: a traceback quotes its lines
        python.write(path.name, path.read_bytes())
    code = script.read_bytes().decode("utf-8-sig")
    return python.run(code, script.name, _pass_on).status


def _pass_on(stream: str, text: str) -> None:
    target = sys.stdout if stream == "stdout" else sys.stderr
    target.write(text)
    target.flush()


def main() -> int:
    """The command line in this file's docstring."""
    parser = argparse.ArgumentParser(description="Run a Python file in headless Chromium.")
    parser.add_argument("script", type=Path)
    parser.add_argument("--device", choices=("webgpu", "numpy"))
    parser.add_argument("--file", type=Path, action="append", default=[], dest="files")
    options = parser.parse_args()
    # At once: Playwright's driver has had the signal too, closes Chromium, and answers no more.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    try:
        return run(options.script, options.device, options.files)
    except (BuildError, UnicodeDecodeError) as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever read our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


if __name__ == "__main__":
    sys.exit(main())
