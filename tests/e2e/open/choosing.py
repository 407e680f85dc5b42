"""Steps of test_page_open: the ways to give the page files, damaged and missing ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from playwright.sync_api import expect
from tests.e2e.open.opening import FLOAT, MNIST, Opening, file, model, value


def files_are_dropped_anywhere(here: Opening) -> None:
    assert not here.page.url.endswith("#open")
    here.page.evaluate(
        """content => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([new Uint8Array(content)], "dropped.onnx"));
            document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, dataTransfer }));
        }""",
        list(MNIST.read_bytes()),
    )
    expect(here.hook("open-summary")).to_have_attribute("data-file", "dropped.onnx")
    assert here.page.url.endswith("#open")
    here.rest()


def damaged_files(here: Opening, _: Any) -> None:
    here.choose(file("cut.onnx", MNIST.read_bytes()[:9000]))
    here.fails("cut.onnx", "truncated or corrupted")
    expect(here.hook("open-summary")).to_be_hidden()
    here.choose(file("page.onnx", b"<html></html>"))
    here.fails("page.onnx", "HTML")
    here.choose(file("empty.onnx", b""))
    here.fails("empty.onnx", "empty")


def external_data(here: Opening, _: Any) -> None:
    weights = [numpy_helper.from_array(np.array([2, 3], np.float32), name) for name in "vw"]
    content = weights[0].raw_data
    for weight in weights:
        weight.ClearField("raw_data")
        weight.data_location = TensorProto.EXTERNAL
        weight.external_data.add(key="location", value=f"weights/{weight.name}.data")
    x, y = (value(name, FLOAT, [2]) for name in "xy")
    nodes = [helper.make_node("Mul", ["x", "v"], ["z"]), helper.make_node("Mul", ["z", "w"], ["y"])]
    here.choose(file("w.onnx", model(nodes, [x], [y], weights)))
    here.fails("still missing: weights/v.data, weights/w.data.")
    here.choose(file("v.data", content))  # is added to the earlier model, like all that follow
    here.fails("still missing: weights/w.data.", "Given so far: v.data.")
    here.choose(file("w.data", content[:4]))
    here.fails("w.data", "which has 4")
    here.choose(file("w.data", content))
    here.kind("x", "numbers").get_by_test_id("open-numbers").fill("5")
    here.run()
    assert here.array("y").tolist() == [20, 45]


def outside(locations: dict[str, str]) -> bytes:
    """x + the sum of weights, each a single number at a location."""
    weights = []
    for name, location in locations.items():
        weight = TensorProto(name=name, dims=[1], data_type=FLOAT)
        weight.data_location = TensorProto.EXTERNAL
        weight.external_data.add(key="location", value=location)
        weights.append(weight)
    nodes = [
        helper.make_node("Mul", ["x", "v"], ["z"]),
        helper.make_node("Add", ["z", "w"], ["y"]),
    ]
    return model(nodes, [value("x", FLOAT, [1])], [value("y", FLOAT, [1])], weights)


def files_of_the_same_name_in_two_folders(here: Opening, tmp_path: Path) -> None:
    """Alone, either is refused; a folder, chosen or dropped, shows which is which."""
    content = outside({"v": "enc/w.bin", "w": "dec/w.bin"})
    three, five, seven = (np.float32([number]).tobytes() for number in (3, 5, 7))
    net = tmp_path / "net"
    for path, each in {
        "m.onnx": content, "enc/w.bin": three, "dec/w.bin": five, "w.bin": seven,
        "a/other.onnx": b"", "enc/labels.json": b"{}", "enc/v.bin": seven,
    }.items():  # fmt: skip
        (net / path).parent.mkdir(parents=True, exist_ok=True)
        (net / path).write_bytes(each)
    visitor = here.visitor
    clear = "Drop the folder that holds the model and all its files here, or choose it."

    def answers(number: float) -> None:
        expect(here.hook("open-error")).to_be_hidden()
        here.kind("x", "numbers").get_by_test_id("open-numbers").fill("10")
        here.run()
        assert here.array("y").tolist() == [number]

    here.choose(file("m.onnx", content), file("w.bin", three))
    here.fails("“m.onnx” stores weights in enc/w.bin, dec/w.bin, but you gave w.bin.", clear)
    expect(here.hook("open-run")).to_be_disabled()
    here.choose(file("w.bin", three), file("w.bin", five))
    here.fails("Two of these files are called w.bin.", clear)
    with here.page.expect_file_chooser() as chooser:
        here.hook("open-error").get_by_role("button", name="Choose the folder").click()
    chooser.value.set_files(net)
    expect(here.hook("open-summary")).to_have_attribute("data-file", "m.onnx")
    here.rest()
    # Of the rest of a folder, only other models are mentioned.
    expect(here.hook("open-said")).to_have_text("The model does not need a/other.onnx.")
    answers(35)

    here.choose(file("n.onnx", content), file("w.bin", seven))
    here.fails("but you gave w.bin.")
    visitor.drop(net / "dec")  # replaces w.bin
    here.fails("still missing: enc/w.bin.", "Given so far: dec/w.bin.")
    visitor.drop(net / "enc")
    expect(here.hook("open-summary")).to_have_attribute("data-file", "n.onnx")
    here.rest()
    answers(35)

    (net / "dec" / "w.bin").write_bytes(seven)
    visitor.drop(net)
    expect(here.hook("open-summary")).to_have_attribute("data-file", "m.onnx")
    here.rest()
    answers(37)
