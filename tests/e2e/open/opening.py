"""Helpers for tests of the Open view: small ONNX files, and a visitor who opens them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper
from playwright.sync_api import Locator, expect

from tallow_build.environment.browser import until
from tallow_build.paths import ROOT

FLOAT, INT64, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
MNIST = ROOT / "models" / "mnist" / "mnist.onnx"
ANYTHING = re.compile(".+")


def value(name: str, kind: int, shape: list[Any]) -> onnx.ValueInfoProto:
    """An input or output."""
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes: Any, inputs: Any, outputs: Any, constants: Any = (), **more: Any) -> bytes:
    """An ONNX file."""
    graph = helper.make_graph(nodes, "small", inputs, outputs, list(constants))
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, **more).SerializeToString()  # type: ignore[no-any-return]


def file(name: str, content: bytes) -> dict[str, Any]:
    """A file as a visitor chooses it."""
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content}


class Opening:
    """A visitor of the Open view."""

    def __init__(self, visitor: Any) -> None:
        self.visitor = visitor
        self.page = visitor.page
        self.hook = visitor.hook

    def choose(self, *files: Any) -> None:
        """Chooses files, and waits until they were read."""
        self.hook("open-input").set_input_files(list(files))
        self.rest()

    def rest(self) -> None:
        """Waits until nothing is under way."""
        idle = "document.querySelector('#view-open').getAttribute('aria-busy') === 'false'"
        until(self.page, idle, seconds=120)

    def run(self) -> None:
        """Runs the model; there must be an answer."""
        self.hook("open-run").click()
        self.rest()
        error = self.hook("open-error")
        assert error.is_hidden(), error.text_content()
        expect(self.hook("open-times")).to_be_visible()

    def field(self, name: str) -> Locator:
        """The field of an input."""
        found: Locator = self.page.locator(
            f"[data-testid=open-field][data-name={json.dumps(name)}]"
        )
        return found

    def kind(self, name: str, kind: str) -> Locator:
        """Chooses the kind of value of an input."""
        field = self.field(name)
        field.get_by_test_id("open-kind").select_option(kind)
        return field

    def output(self, name: str) -> Locator:
        """The section of an output."""
        found: Locator = self.page.locator(
            f"[data-testid=open-output][data-name={json.dumps(name)}]"
        )
        return found

    def array(self, name: str) -> Any:
        """An output, from its download."""
        with self.page.expect_download() as download:
            self.output(name).get_by_test_id("open-download").click()
        return np.load(Path(download.value.path()), allow_pickle=False)

    def apart(self, name: str) -> float:
        """The largest difference between WebGPU and NumPy that the page shows."""
        self.hook("open-compare").click()
        self.rest()
        expect(self.output(name)).to_have_attribute("data-difference", ANYTHING)
        return float(self.output(name).get_attribute("data-difference") or "nan")

    def operator(self, name: str) -> Locator:
        """The row of an operator."""
        return self.hook("open-operators").locator(f"[data-operator={json.dumps(name)}]")  # type: ignore[no-any-return]

    def fails(self, *words: str) -> None:
        """Expects an error of one line with these words."""
        error = self.hook("open-error")
        expect(error).to_be_visible()
        for each in words:
            expect(error).to_contain_text(each)
        assert "\n" not in (error.text_content() or "").strip()
