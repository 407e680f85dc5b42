"""A service in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[2]
TALLOW = ("-m", "tallow", "serve")
PATIENCE = 60.0
"""Seconds in which an answer or a line of the log must come."""


class Service:
    """`python -m tallow serve` with arguments, on ports that are free.

    command: what Python starts. ports: of HTTP and gRPC, if they are to be these.
    lines: what it has logged. http, grpc: its addresses.
    """

    def __init__(
        self,
        *arguments: object,
        command: Sequence[str] = TALLOW,
        ports: tuple[int, int] = (0, 0),
        environment: dict[str, str] | None = None,
    ) -> None:
        listen = ("--host", "127.0.0.1", "--port", str(ports[0]), "--grpc-port", str(ports[1]))
        paths = os.pathsep.join((str(ROOT / "py"), str(ROOT)))
        self.process = subprocess.Popen(
            [sys.executable, *command, *map(str, arguments), *listen],
            stderr=subprocess.PIPE, text=True, cwd=ROOT,
            env=os.environ | {"PYTHONPATH": paths} | (environment or {}),
        )  # fmt: skip
        self.lines: list[str] = []
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        found = re.search(r"http://(\S+) and grpc://(\S+)", self.line("serving on"))
        assert found
        self.http, self.grpc = found.groups()

    @property
    def ports(self) -> tuple[int, int]:
        """Of HTTP and gRPC."""
        first, second = (int(each.rpartition(":")[2]) for each in (self.http, self.grpc))
        return first, second

    def _read(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            with self._more:
                self.lines.append(line.rstrip())
                self._more.notify_all()
        with self._more:
            self.lines.append("(end)")
            self._more.notify_all()

    def line(self, part: str, seconds: float = PATIENCE) -> str:
        """Waits for a line with these words."""
        found: list[str] = []

        def there() -> bool:
            found[:] = [each for each in self.lines if part in each]
            return bool(found) or "(end)" in self.lines

        with self._more:
            assert self._more.wait_for(there, seconds), self.lines
        assert found, self.lines
        return found[-1]

    def ask(
        self, path: str, body: bytes | None = None, method: str | None = None, **headers: str
    ) -> tuple[int, bytes]:
        """Status and body of an answer over HTTP."""
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        if body is not None and "content-type" not in named:
            named["content-type"] = "application/json"
        request = urllib.request.Request(f"http://{self.http}{path}", body, named, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def figure(self, name: str, **labels: str) -> float:
        """A measure of /metrics; 0 if there is none yet."""
        for line in self.ask("/metrics")[1].decode().splitlines():
            if line.startswith(f"{name}{{") and all(
                f'{key}="{value}"' in line for key, value in labels.items()
            ):
                return float(line.rpartition(" ")[2])
        return 0.0

    def end(self) -> int:
        """Ends it by SIGTERM; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        self._reader.join()
        return status

    def kill(self) -> None:
        """Ends it by SIGKILL, with whatever it has in hand."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._reader.join()
        assert self.process.stderr
        self.process.stderr.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()
