"""The Open view: any ONNX file, facts about it, its answers, and errors of bad files.

All on one page.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from playwright.sync_api import expect
from tests.e2e.failures.test_page_worker import CRASH, IMPATIENT, WORKERS
from tests.e2e.failures.test_page_worker import PATIENCE as RULE
from tests.e2e.open.choosing import (
    damaged_files,
    external_data,
    files_are_dropped_anywhere,
    files_of_the_same_name_in_two_folders,
)
from tests.e2e.open.opening import FLOAT, INT64, MNIST, STRING, Opening, file, model, value

from tallow import onnx as tallow_onnx
from tallow_build.paths import ROOT

PATIENCE = 120_000
MARKUP = "<img src=x onerror='window.hacked = 1'>"

READING = "openModel: ({ id, file, others }, context) =>"
STUCK = f"{READING} file.name === 'stuck.onnx' ? (() => {{ for (;;); }})() :"
# Kills the worker; whether there is no answer on the page then.
CLEARED = f"{CRASH}, document.querySelector('#view-open .given').hidden"

# The object URLs that the page holds.
ADDRESSES = """
window.addresses = [];
const [make, revoke] = [URL.createObjectURL, URL.revokeObjectURL];
URL.createObjectURL = (file) => { addresses.push(make(file)); return addresses.at(-1); };
URL.revokeObjectURL = (url) => { addresses.splice(addresses.indexOf(url), 1); revoke(url); };
"""


def test_models_of_the_visitor_s_own(visitor: Any, photos: Any, patch: Any, tmp_path: Path) -> None:
    page = visitor.page
    page.add_init_script(ADDRESSES)
    page.add_init_script(WORKERS)
    patch(page, "engine/rpc.js", RULE, IMPATIENT)
    patch(page, "views/open/worker.js", READING, STUCK)
    visitor.open("./?device=webgpu")
    here = Opening(visitor)
    files_are_dropped_anywhere(here)
    for step in (
        a_digit_model,
        a_photograph,
        lengths_that_are_open,
        an_operator_of_the_host,
        nothing_is_supported,
        damaged_files,
        external_data,
        sequences_optionals_and_odd_values,
        a_run_that_is_cancelled,
        a_series_that_is_cancelled,
    ):
        step(here, photos)
    a_saved_output_keeps_its_address_while_it_is_shown(here)
    files_of_the_same_name_in_two_folders(here, tmp_path)
    texts_and_their_markup(here)
    in_chinese(here)
    a_file_that_stops_the_worker_and_what_replaces_it(here)


def a_digit_model(here: Opening, photos: Any) -> None:
    names = [f"number {i}" for i in range(10)]
    labels, unneeded = file("names.txt", "\n".join(names).encode()), file("else.bin", b"else")
    here.choose(labels, file("mnist.onnx", MNIST.read_bytes()), unneeded)
    expect(here.hook("open-labelled")).to_contain_text("10 labels")
    expect(here.hook("open-said")).to_contain_text("does not need else.bin")
    summary = here.hook("open-summary")
    expect(summary).to_have_attribute("data-parameters", "76514")
    expect(summary).to_have_attribute("data-multiply-adds", "3848960")
    expect(summary.locator("[data-fact=parameters]")).to_contain_text(re.compile(r"\d"))
    expect(summary.locator("[data-fact=multiply-adds]")).to_contain_text(re.compile(r"\d"))
    expect(summary).to_contain_text("tallow")
    expect(here.operator("Conv")).to_have_attribute("data-count", "5")
    expect(here.operator("Conv")).to_contain_text("GPU")
    expect(here.hook("open-unsupported")).to_be_hidden()
    expect(here.hook("open-error")).to_be_hidden()

    here.kind("image", "zeros")
    here.run()
    times = here.hook("open-times")
    expect(times).to_have_attribute("data-device", "webgpu")
    assert int(times.get_attribute("data-dispatches") or 0) > 0
    zeros = {"image": np.zeros((1, 1, 28, 28), np.float32)}
    with tallow_onnx.load(MNIST).session("numpy") as session:
        expected = session.run(zeros)["logits"]
    assert here.output("logits").get_attribute("data-shape") == "1,10"
    np.testing.assert_allclose(here.array("logits"), expected, atol=1e-4)
    assert here.apart("logits") < 1e-3
    best = here.output("logits").get_by_test_id("open-top").locator("li").first
    expect(best).to_have_attribute("data-index", str(int(expected.argmax())))

    expect(best).to_have_attribute("data-label", names[int(expected.argmax())])
    table = "index,name\n" + "\n".join(f'{i},"digit, {i}"' for i in range(9))
    here.hook("open-labels").set_input_files(file("names.csv", table.encode()))
    expect(here.hook("open-labelled")).to_contain_text("9 labels, but the outputs have 10")
    items = here.output("logits").get_by_test_id("open-top")
    expect(items.locator("[data-index='3']")).to_have_attribute("data-label", "digit, 3")
    expect(items.locator("[data-index='9']")).to_have_attribute("data-label", "class 9")
    by_index = {str(i): f"digit {i}" for i in range(10)}
    here.hook("open-labels").set_input_files(file("names.json", json.dumps(by_index).encode()))
    expect(best).to_have_attribute("data-label", f"digit {int(expected.argmax())}")
    for view, hook in (("table", "open-table"), ("histogram", "open-histogram")):
        here.output("logits").get_by_test_id("open-view").select_option(view)
        expect(here.output("logits").get_by_test_id(hook)).to_be_visible()

    field = here.kind("image", "image")
    field.get_by_test_id("open-file").set_input_files(photos["coffee"]["path"])
    here.run()
    expect(times).to_have_attribute("data-device", "webgpu")
    assert int(times.get_attribute("data-runs") or 0) >= 1
    here.hook("open-runs").fill("7")
    here.hook("open-time").click()
    here.rest()
    expect(times).to_have_attribute("data-runs", "7")
    expect(times).to_contain_text("7 warm runs: median")
    assert not np.allclose(here.array("logits"), expected)
    assert here.apart("logits") < 1e-3


def a_photograph(here: Opening, photos: Any) -> None:
    """With mean and scale from the model's card, as a visitor types them."""
    models = ROOT / "build" / "models"
    card = json.loads((ROOT / "models" / "squeezenet1_1" / "card.json").read_text("utf-8"))
    here.choose(models / "squeezenet1_1" / "squeezenet1_1.onnx")
    summary = here.hook("open-summary")
    expect(summary).to_have_attribute("data-parameters", str(card["parameters"]))
    expect(summary).to_have_attribute("data-multiply-adds", str(card["multiply_adds"]))
    field = here.kind("image", "image")
    field.get_by_test_id("open-file").set_input_files(photos["chelsea"]["path"])
    field.get_by_test_id("open-preset").select_option("imagenet")
    field.get_by_test_id("open-order").select_option("BGR")
    expect(field.get_by_test_id("open-mean")).to_have_value("103.53, 116.28, 123.675")
    field.get_by_test_id("open-order").select_option(card["preprocess"]["channels"])
    field.get_by_test_id("open-mean").fill(str(card["preprocess"]["mean"]))
    field.get_by_test_id("open-scale").fill("1")
    expect(field.get_by_test_id("open-preset")).to_have_value("own")
    here.run()
    here.hook("open-labels").set_input_files(models / "imagenet" / "labels.json")
    best = here.output("logits").get_by_test_id("open-top").locator("li").first
    expect(best).to_have_attribute("data-label", "Egyptian cat")
    expect(here.hook("open-times")).to_have_attribute("data-device", "webgpu")


def lengths_that_are_open(here: Opening, _: Any) -> None:
    ids = value("ids", INT64, ["batch", "length"])
    table = numpy_helper.from_array(np.arange(40, dtype=np.float32).reshape(10, 4), "table")
    gather = helper.make_node("Gather", ["table", "ids"], ["rows"])
    here.choose(
        file(
            "ids.onnx",
            model([gather], [ids], [value("rows", FLOAT, ["batch", "length", 4])], [table]),
        )
    )
    length = here.page.locator("[data-testid=open-length][data-name=length]")
    for count, shape in ((3, "1,3,4"), (5, "1,5,4")):
        length.fill(str(count))
        field = here.kind("ids", "numbers")
        field.get_by_test_id("open-numbers").fill(" ".join(map(str, range(count))))
        here.run()
        expect(here.output("rows")).to_have_attribute("data-shape", shape)
        expected = np.arange(4 * count, dtype=np.float32).reshape(1, count, 4)
        np.testing.assert_array_equal(here.array("rows"), expected)
    here.hook("open-run").click()  # again, with one number too few
    here.rest()
    length.fill("6")
    here.hook("open-run").click()
    here.rest()
    here.fails("ids", "6 numbers are needed, 5 were given")

    content = io.BytesIO()
    np.save(content, np.asfortranarray(np.array([[9, 1], [0, 2]], ">i4")))
    field = here.kind("ids", "npy")
    field.get_by_test_id("open-file").set_input_files(file("ids.npy", content.getvalue()))
    expect(length).to_have_value("2")
    here.run()
    assert here.array("rows")[..., 0].tolist() == [[36, 4], [0, 8]]


def an_operator_of_the_host(here: Opening, _: Any) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["positive"]),
        helper.make_node("NonZero", ["positive"], ["indices"]),
    ]
    indices = value("indices", INT64, [1, "found"])
    here.choose(file("indices.onnx", model(nodes, [value("x", FLOAT, [4])], [indices])))
    expect(here.operator("NonZero")).to_have_attribute("data-place", "host")
    expect(here.operator("NonZero")).to_contain_text("must be known when")
    expect(here.operator("Relu")).to_have_attribute("data-place", "device")
    here.kind("x", "numbers").get_by_test_id("open-numbers").fill("[-1, 2.5, 0, 1e-3]")
    here.run()
    expect(here.hook("open-times")).to_have_attribute("data-host", "1")
    expect(here.hook("open-times")).to_contain_text("moved to and from it")
    assert here.array("indices").tolist() == [[1, 3]]
    assert here.apart("indices") == 0


def nothing_is_supported(here: Opening, _: Any) -> None:
    nodes = [
        helper.make_node("Cosine", ["x"], ["a"], "first", domain="my.own"),
        helper.make_node("Sine", ["a"], ["b"], "second", domain="my.own"),
        helper.make_node("Relu", ["b"], ["y"]),
    ]
    x, y = (value(name, FLOAT, [2]) for name in "xy")
    graph = helper.make_graph(nodes, "own", [x], [y])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my.own", 1)]
    content = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    here.choose(file("own.onnx", content))
    lines = here.hook("open-unsupported").locator("li")
    expect(lines).to_have_count(2)
    expect(lines.first).to_contain_text("Cosine")
    expect(lines.last).to_contain_text("Sine")
    expect(here.operator("my.own.Sine")).to_have_attribute("data-place", "nowhere")
    expect(here.hook("open-run")).to_be_disabled()


def sequences_optionals_and_odd_values(here: Opening, _: Any) -> None:
    tensor = helper.make_tensor_type_proto(FLOAT, ["rows", 2])
    several = helper.make_sequence_type_proto(tensor)
    nodes = [
        helper.make_node("SequenceInsert", ["several", "x"], ["longer"]),
        helper.make_node("OptionalHasElement", ["maybe"], ["there"]),
        helper.make_node("SequenceEmpty", [], ["none"]),
        helper.make_node("Cast", ["x"], ["half"], to=TensorProto.FLOAT16),
        helper.make_node("Slice", ["x", "zero", "zero"], ["empty"]),
    ]
    inputs = [
        helper.make_value_info("several", several),
        helper.make_value_info("maybe", helper.make_optional_type_proto(tensor)),
        value("x", FLOAT, [2, 2]),
    ]
    outputs = [
        helper.make_value_info("longer", several),
        value("there", TensorProto.BOOL, []),
        helper.make_value_info("none", several),
        value("half", TensorProto.FLOAT16, [2, 2]),
        value("empty", FLOAT, [0, 2]),
    ]
    zero = numpy_helper.from_array(np.array([0]), "zero")
    here.choose(file("odd.onnx", model(nodes, inputs, outputs, [zero])))
    here.field("several").get_by_test_id("open-add").click()
    first, second = here.field("several").get_by_test_id("open-member").all()
    first.get_by_test_id("open-kind").select_option("counting")
    second.get_by_test_id("open-shape").fill("2, 2")
    second.get_by_test_id("open-kind").select_option("ones")
    here.kind("x", "numbers").get_by_test_id("open-numbers").fill("nan, inf, -inf, 0.5")
    for given in (False, True):
        here.field("maybe").get_by_test_id("open-given").set_checked(given)
        here.run()
        cells = here.output("there").get_by_test_id("open-table").locator("td")
        expect(cells).to_have_text([str(given).lower()])
    longer = here.output("longer")
    expect(longer).to_have_attribute("data-shape", "3")
    expect(longer.get_by_test_id("open-member")).to_have_count(3)
    for i, expected in enumerate(([["0", "1"]], [["1", "1"], ["1", "1"]])):
        member = longer.get_by_test_id("open-member").nth(i)
        member.get_by_test_id("open-view").select_option("table")
        cells = member.get_by_test_id("open-table").locator("td")
        expect(cells).to_have_text([cell for row in expected for cell in row])
    expect(here.output("none")).to_contain_text("an empty sequence")
    expect(here.output("half")).to_contain_text("3 not finite")
    assert here.array("half").dtype == np.float16
    np.testing.assert_array_equal(here.array("half"), [[np.nan, np.inf], [-np.inf, 0.5]])
    assert here.array("empty").shape == (0, 2)
    assert here.apart("half") == 0
    here.field("several").get_by_test_id("open-remove").first.click()
    here.run()
    expect(longer).to_have_attribute("data-shape", "2")


def a_run_that_is_cancelled(here: Opening, _: Any) -> None:
    """Cancels a Loop of a million steps; then opens another model during a second run."""
    state = value("s", FLOAT, [8, 8])
    go, still = (value(name, TensorProto.BOOL, []) for name in ("go", "still"))
    nodes = [helper.make_node("Identity", ["go"], ["still"]),
             helper.make_node("MatMul", ["s", "s"], ["t"])]  # fmt: skip
    body = helper.make_graph(
        nodes, "body", [value("i", INT64, []), go, state], [still, value("t", FLOAT, [8, 8])]
    )
    loop = helper.make_node("Loop", ["times", "true", "x"], ["y"], body=body)
    constants = [
        numpy_helper.from_array(np.array(10**6), "times"),
        numpy_helper.from_array(np.array(True), "true"),
    ]
    x, y = (value(name, FLOAT, [8, 8]) for name in "xy")
    here.choose(file("long.onnx", model([loop], [x], [y], constants)))
    here.hook("open-run").click()
    expect(here.hook("open-doing")).to_have_text("Running…")
    here.hook("open-cancel").click()
    here.rest()
    expect(here.hook("open-doing")).to_have_text("Cancelled.")
    expect(here.hook("open-error")).to_be_hidden()
    expect(here.hook("open-cancel")).to_be_hidden()
    here.hook("open-run").click()  # on the worker that replaced the other
    here.choose(MNIST)
    expect(here.hook("open-summary")).to_have_attribute("data-file", "mnist.onnx")
    here.run()
    expect(here.hook("open-times")).to_have_attribute("data-device", "webgpu")


def a_series_that_is_cancelled(here: Opening, _: Any) -> None:
    """Stops between two runs: the same worker goes on, with the same model."""
    before = here.page.evaluate("workers.length")
    here.hook("open-runs").fill("1000000")
    here.hook("open-time").click()
    expect(here.hook("open-doing")).to_have_text("Timing warm runs…")
    here.hook("open-cancel").click()
    here.rest()
    expect(here.hook("open-doing")).to_have_text("Cancelled.")
    here.hook("open-runs").fill("3")
    here.hook("open-time").click()
    here.rest()
    expect(here.hook("open-times")).to_have_attribute("data-runs", "3")
    here.hook("open-compare").click()
    here.rest()
    expect(here.hook("open-compared")).to_contain_text("NumPy")
    assert here.page.evaluate("workers.length") == before


def texts_and_their_markup(here: Opening) -> None:
    nodes = [helper.make_node("Identity", [MARKUP], ["same"], MARKUP)]
    texts = value(MARKUP, STRING, [2])
    content = model(nodes, [texts], [value("same", STRING, [2])], doc_string=MARKUP,
                    producer_name=MARKUP)  # fmt: skip
    here.choose(file("texts.onnx", content))
    expect(here.hook("open-summary")).to_contain_text(MARKUP)
    field = here.hook("open-field")
    expect(field).to_have_attribute("data-name", MARKUP)
    field.get_by_test_id("open-texts").fill(f"one\n{MARKUP}")
    here.run()
    cells = here.output("same").get_by_test_id("open-table").locator("td")
    expect(cells).to_have_text(["one", MARKUP])
    assert here.page.evaluate("window.hacked") is None
    assert here.page.locator("#view-open img").count() == 0


def in_chinese(here: Opening) -> None:
    here.hook("language-select").select_option("zh")
    expect(here.hook("open-run")).to_have_text("运行")
    expect(here.operator("Identity")).to_contain_text("主机")
    expect(here.operator("Identity")).to_contain_text("它处理文本")
    expect(here.hook("open-times")).to_contain_text("首次")
    here.choose(file("empty.onnx", b""))
    here.fails("无法打开")
    here.hook("language-select").select_option("en")


def a_file_that_stops_the_worker_and_what_replaces_it(here: Opening) -> None:
    visitor, page = here.visitor, here.page
    before = page.evaluate("workers.length")
    page.evaluate("globalThis.patience = 2")
    here.choose(file("stuck.onnx", b"anything"))
    here.fails("stuck.onnx", "has not responded")
    expect(here.hook("open-error").get_by_role("button", name="Try again")).to_be_visible()
    visitor.wait()
    assert page.evaluate("workers.length") == before + 1

    # The next file works, and is answered again after every change.
    here.choose(MNIST)
    here.run()
    took = here.hook("open-times")
    expect(took).to_have_attribute("data-device", "webgpu")
    first = here.array("logits")
    visitor.hook("device-select").select_option("numpy")
    expect(took).to_have_attribute("data-device", "numpy", timeout=PATIENCE)
    np.testing.assert_allclose(here.array("logits"), first, atol=1e-4)
    expect(here.operator("Conv")).to_contain_text("NumPy")
    here.rest()  # a run under way would prevent another answer
    assert page.evaluate(CLEARED)
    expect(took).to_be_visible(timeout=PATIENCE)
    np.testing.assert_allclose(here.array("logits"), first, atol=1e-4)
    assert page.evaluate("workers.length") == before + 2


def a_saved_output_keeps_its_address_while_it_is_shown(here: Opening) -> None:
    """The page can't know when the browser has read the file."""
    tensors = [value(name, FLOAT, [2]) for name in ("x", "one", "two")]
    nodes = [helper.make_node("Identity", ["x"], [name]) for name in ("one", "two")]
    here.choose(file("m.onnx", model(nodes, tensors[:1], tensors[1:])))

    def held() -> int:
        """How many there are, after all pending tasks."""
        count: int = here.page.evaluate(
            "new Promise((resolve) => setTimeout(() => resolve(addresses.length)))"
        )
        return count

    for _ in range(2):
        here.run()
        assert held() == 0
        first = here.array("one")
        assert held() == 1
        here.array("two")
        assert held() == 2
        np.testing.assert_array_equal(here.array("one"), first)
        assert held() == 2
    here.choose(file("n.onnx", model(nodes, tensors[:1], tensors[1:])))
    assert held() == 0
