"""The five minutes of docs/serving.md, as they are written there but for the ports."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from . import running

TEXT = (running.ROOT / "docs" / "serving.md").read_text("utf-8").split("\n## ")[1]


def test_the_start_works_as_it_is_written(tmp_path: Path) -> None:
    start, ask = re.findall(r"^```sh\n(.*?)^```", TEXT, re.M | re.S)
    (program,) = re.findall(r"^```python\n(.*?)^```", TEXT, re.M | re.S)
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(running.ROOT / "py"),
    }
    (tmp_path / "models").symlink_to(running.ROOT / "models")
    start = start.replace("8080", "0").replace("8081", "0").strip()
    with subprocess.Popen(
        ["bash", "-c", f"exec {start}"], stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        env=environment,
    ) as service:  # fmt: skip
        try:
            assert service.stderr
            found = re.search(r"http://[^:]*:(\d+)", service.stderr.readline())
            assert found
            assert "mnist: version 1 serves" in service.stderr.readline()
            port = found[1]
            until = time.monotonic() + 30
            health = ask.splitlines()[0].replace("8080", port)
            while subprocess.run(health, shell=True, env=environment, check=False).returncode:
                assert time.monotonic() < until
            asked = subprocess.run(
                ["bash", "-e", "-c", ask.replace("8080", port)], capture_output=True, text=True,
                cwd=tmp_path, env=environment, check=True,
            )  # fmt: skip
            assert '"ready":true' in asked.stdout and '"probability":' in asked.stdout
            assert "tallow_serve_requests_total" in asked.stdout
            answered = subprocess.run(
                [sys.executable, "-c", program.replace("8080", port)], capture_output=True,
                text=True, env=environment, check=True,
            )  # fmt: skip
            assert answered.stdout.strip() == program.rpartition("# ")[2].strip()
        finally:
            service.send_signal(signal.SIGTERM)
        assert service.wait(60) == 0
