"""The options of the command, without a service."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.cli import main
from tallow.errors import DeviceLostError
from tallow.onnx import load
from tallow.serve.addresses import place
from tallow.serve.models import OnnxModel

from . import running


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "name a model"),
        (["m.onnx", "--max-batch", "0"], "--max-batch 0: too little"),
        (["m.onnx", "--max-queue", "0"], "--max-queue 0: too little"),
        (["m.onnx", "--max-body-mb", "-1"], "--max-body-mb -1"),
        (["m.onnx", "--timeout", "nan"], "--timeout nan"),
        (["m.onnx", "--grace", "0"], "--grace 0"),
        (["m.onnx", "--drain", "-1"], "--drain -1"),
        (["m.onnx", "--drain", "nan"], "--drain nan"),
        (["m.onnx", "--batch-wait-ms", "-1"], "--batch-wait-ms -1"),
        (["m.onnx", "--max-body-mb", "1e300"], "--max-body-mb 1e+300: too much"),
        (["--compute", "--memory-gb", "1e300"], "--memory-gb 1e+300: too much"),
        (["m.onnx", "--host", ""], "--host is empty"),
        (["m.onnx", "--port", "70000"], "--port 70000: is no port"),
        (["m.onnx", "--grpc-port", "-1"], "--grpc-port -1: is no port"),
        (["m.onnx", "--device", "gpu"], "invalid choice: 'gpu'"),
        (["m.onnx", "--module", "resnet18"], "--input-shape"),
        (["m.onnx", "--module", "resnet18", "--input-shape", "3,x"], "--input-shape"),
        (["m.onnx", "--name", "a", "--name", "b"], "2 names for 1 models"),
        (["m.onnx", "--name", "a/b"], "cannot be a model's name"),
        (["m.onnx", "--name", ".."], "cannot be a model's name"),
        (["m.onnx", "--mean", "a"], "not a list of numbers"),
        (["m.onnx", "--std", "0"], "can't be 0"),
        (["m.onnx", "--labels", "nowhere.txt"], "nowhere.txt"),
        (["m.onnx", "--token", ""], "the token"),
        (["m.onnx", "--token", "a secret"], "the token"),
        (["m.onnx", "--token", "a\n"], "the token"),
        (["m.onnx", "--token", "\u00e9"], "the token"),
        (["--compute", "--token", ""], "the token"),
        (["m.onnx", "--compute"], "takes no model"),
        (["--compute", "--memory-gb", "0"], "too little"),
        (["--compute", "--borrowers", "0"], "too little"),
        (["--compute", "--port", "70000"], "is no port"),
    ],
)
def test_options_that_are_wrong(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *options]) == 1
    line = capsys.readouterr().err
    assert words in line and line.startswith("tallow: ") and line.count("\n") == 1


def test_an_address_as_a_url_has_it() -> None:
    assert place("127.0.0.1", 80) == "127.0.0.1:80"
    assert place("::1", 80) == "[::1]:80"


@pytest.mark.parametrize("given", [[str(running.MNIST)], ["--compute"]], ids=["models", "compute"])
def test_an_address_that_is_taken(given: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        made = subprocess.run(
            [sys.executable, "-m", "tallow", "serve", *given, "--port", str(port)],
            capture_output=True, text=True, check=False,
            env=os.environ | {"PYTHONPATH": str(running.ROOT / "py")},
        )  # fmt: skip
    assert made.returncode == 1 and "address already in use" in made.stderr.lower()
    assert "Traceback" not in made.stderr


def test_a_device_that_was_lost_is_opened_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model = OnnxModel(load(running.MNIST), "numpy")
    feeds = {"image": np.zeros((1, 1, 28, 28), np.float32)}
    wanted = model(feeds)["logits"]

    def lost(feeds: Any) -> Any:
        raise DeviceLostError("gone")

    monkeypatch.setattr(model._session, "run", lost)
    assert (model(feeds)["logits"] == wanted).all()


def test_a_token_that_is_given_is_not_in_the_log() -> None:
    command = [sys.executable, "-m", "tallow", "serve", "--compute", "--device", "numpy"]
    environment = os.environ | {
        "PYTHONPATH": str(running.ROOT / "py"), "TALLOW_TOKEN": "very-secret"
    }  # fmt: skip
    with subprocess.Popen(
        [*command, "--port", "0"], stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stderr is not None
        said = process.stderr.readline() + process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        said += process.stderr.read()
        assert process.wait(60) == 0
    assert "borrow it" in said and "very-secret" not in said


def test_a_device_is_lent_until_sigterm() -> None:
    command = [sys.executable, "-m", "tallow", "serve", "--compute", "--device", "numpy"]
    environment = os.environ | {"PYTHONPATH": str(running.ROOT / "py"), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [*command, "--port", "0"], stderr=subprocess.PIPE, text=True, env=environment
    )
    with process:
        assert process.stderr is not None
        said = process.stderr.readline() + process.stderr.readline()
        found = re.search(r"open_device\('(remote:http://127\.0\.0\.1:\d+)', token='(\S+)'\)", said)
        assert found, said
        name, token = found.groups()
        asyncio.run(tl.open_device(name, token=token))
        assert (tl.ones(3, device=name) * 2).numpy().tolist() == [2, 2, 2]
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert "Traceback" not in process.stderr.read()
    with pytest.raises(tl.DeviceLostError, match="the server ends"):
        tl.ones(3, device=name).numpy()
