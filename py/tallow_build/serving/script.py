"""Runs Python in headless Chromium, through python.html of a served dist/.

    python -m tallow_build.serving.script [--device webgpu|wasm|numpy] [--as-torch]
        [--file PATH ...] [--set NAME=VALUE ...] FILE.py

The script's output is passed on immediately; its exit status becomes this program's.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Error, Page, sync_playwright

from ..environment import browser
from ..errors import BuildError
from ..paths import DIST
from . import mirror, server
from .devices import DEVICES

Write = Callable[[str, str], object]

# All messages of the worker are queued in the page and fetched from here, so that output and the
# result arrive in order. `next` waits until there is a message, or for `milliseconds` if given.
_QUEUE = """
() => {
  const queue = [];
  let wake = () => {};
  const put = (entry) => { queue.push(entry); wake(); };
  for (const name of ["stdout", "stderr"]) tallow.on(name, ({text}) => put([name, text]));
  const given = Object.assign(document.createElement("input"), { type: "file", id: "given" });
  document.body.append(given);
  window.tallowCalls = {
    start(action, args) {
      if (action === "write") args.bytes = given.files[0];
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


INSTALL = "import tallow.torch\ntallow.torch.install()\n"
"""Makes `import torch` find tallow.torch in what runs afterwards."""


class Booted(NamedTuple):
    """device: its name. adapter: the name of its GPU or engine, or "". reason: why it is not the
    requested one, or None."""

    device: str
    adapter: str
    reason: str | None


class Ended(NamedTuple):
    """status: the exit status. result: the last expression's value if it is JSON, else None."""

    status: int
    result: Any


class BrowserPython:
    """Python in a browser, with Tallow and NumPy importable.

    Raises BuildError if the page or its worker fails; `run` returns how the script ended.
    """

    def __init__(self, page: Page, address: str) -> None:
        self._page = page
        with _explained("Opening python.html"):
            page.goto(f"{address}python.html")
            browser.until(page, "window.tallow !== undefined")
            page.evaluate(_QUEUE)

    def boot(self, device: str | None) -> Booted:
        """Starts Python. device None: the best one here."""
        return Booted(**self._call("boot", {"device": device}))

    def write(self, name: str, data: bytes | Path) -> None:
        """Writes a file into the script's current folder: bytes, or what is in a file here."""
        if isinstance(data, bytes):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "given"
                path.write_bytes(data)
                self.write(name, path)
            return
        # The browser reads the file itself: as text, large ones would end the page.
        with _explained(f"Reading {data} in the browser"):
            self._page.set_input_files("#given", data)
        self._call("write", {"path": name})

    def run(self, code: str, filename: str, write: Write, patience: float | None = None) -> Ended:
        """Runs a file's code to its end. `write` is called with "stdout" or "stderr" and text.

        patience: seconds without output after which BuildError is raised; the page can't be used
        afterwards.
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
                messages = self._page.evaluate("(time) => tallowCalls.next(time)", milliseconds)
                if patience and not messages:
                    raise BuildError(
                        step, f"no output for {patience} seconds", "find out what hangs"
                    )
                for kind, value in messages:
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
    except Error as error:  # the page crashed, or Chromium was closed
        first = error.message.strip().splitlines()[0]
        raise BuildError(step, first, "try again; it may have run out of memory") from error


def run(
    script: Path,
    device: str | None,
    files: list[Path],
    as_torch: bool = False,
    variables: list[str] | None = None,
) -> int:
    """Runs a script in its own Chromium and returns its exit status. variables: of its environment,
    as NAME=VALUE."""
    with (
        server.running(DIST, also=mirror.mounts()) as address,
        sync_playwright() as playwright,
        browser.launch(playwright) as chromium,
    ):
        environment = {"TALLOW_MIRROR": mirror.PATH}
        environment |= dict(each.split("=", 1) for each in variables or [])
        return run_in(chromium, address, script, device, files, as_torch, environment)


def run_in(
    chromium: Browser,
    address: str,
    script: Path,
    device: str | None,
    files: list[Path],
    as_torch: bool = False,
    environment: dict[str, str] | None = None,
) -> int:
    """Like `run`, in a running Chromium and with a running server of dist/."""
    python = BrowserPython(chromium.new_page(), address)
    booted = python.boot(device)
    if device == "webgpu" and booted.device != "webgpu":
        why = booted.reason or "the browser gave no reason"
        raise BuildError("Getting a WebGPU device", why, "omit --device, or use another one")
    if device is None and booted.reason:
        print(f"Running on {booted.device}, without WebGPU: {booted.reason}", file=sys.stderr)
    for path in (script, *files):  # including the script, because tracebacks quote its lines
        python.write(path.name, path)
    if environment:
        python.run(f"import os; os.environ.update({environment!r})", "environment", _pass_on)
    if as_torch:
        python.run(INSTALL, "install", _pass_on)
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
    parser.add_argument("--device", choices=DEVICES)
    parser.add_argument("--as-torch", action="store_true")
    parser.add_argument("--file", type=Path, action="append", default=[], dest="files")
    parser.add_argument("--set", action="append", default=[], dest="variables")
    options = parser.parse_args()
    # Exit now: Playwright's driver gets the signal too, closes Chromium, and stops answering.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    try:
        return run(
            options.script, options.device, options.files, options.as_torch, options.variables
        )
    except (BuildError, UnicodeDecodeError) as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output is gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


if __name__ == "__main__":
    sys.exit(main())
