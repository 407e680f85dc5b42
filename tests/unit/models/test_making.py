"""The building of model files: safe reading of pickles, the recipes, the errors."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models.efficientnet_lite0 import make as efficientnet
from models.imagenet import make as imagenet
from models.making import command
from models.making.checkpoint import CheckpointError, read_array_pickle, read_torch_legacy
from models.making.onnx_graph import GraphWriter
from models.squeezenet1_1 import make as squeezenet

pytestmark = pytest.mark.unit


class Attack:
    """An object whose pickle makes the reader run a command that writes a file."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, (f"touch '{self.trace}'",)


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def numbers(values: tuple[int, ...]) -> bytes:
    return b"(" + b"".join(b"I%d\n" % value for value in values) + b"t"


def tensor(key: str, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> bytes:
    """The opcodes by which PyTorch describes a float32 tensor."""
    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(key) + text("cpu")
    storage += b"I%d\nNtQ" % int(np.prod(shape))
    call = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"I%d\n" % offset
    return call + numbers(shape) + numbers(strides) + b"I00\nccollections\nOrderedDict\n)RtR"


def checkpoint(tensors: dict[str, bytes], storages: dict[str, np.ndarray[Any, Any]]) -> bytes:
    """A file in PyTorch's legacy format."""
    state = b"ccollections\nOrderedDict\n)R"
    for name, described in tensors.items():
        state += text(name) + described + b"s"
    parts = [
        pickle.dumps(0x1950A86A20F9469CFC6C, 2),
        pickle.dumps(1001, 2),
        pickle.dumps({"little_endian": True}, 2),
        b"\x80\x02" + state + b".",
        pickle.dumps(list(storages), 2),
    ]
    for array in storages.values():
        parts.append(struct.pack("<q", array.size) + array.tobytes())
    return b"".join(parts)


SIX = np.arange(6, dtype="<f4")


def test_a_torch_checkpoint_is_read_without_torch() -> None:
    data = checkpoint(
        {"a": tensor("0", (2, 3), (3, 1)), "turned": tensor("0", (3, 2), (1, 3))}, {"0": SIX}
    )
    state = read_torch_legacy(data)
    np.testing.assert_array_equal(state["a"], SIX.reshape(2, 3))
    np.testing.assert_array_equal(state["turned"], SIX.reshape(2, 3).T)


def test_a_checkpoint_that_calls_a_command_is_refused(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    head = checkpoint({}, {}).split(b"\x80\x02ccollections")[0]
    for data in (head + pickle.dumps(Attack(trace), 2), pickle.dumps(Attack(trace), 2)):
        with pytest.raises(CheckpointError, match=r"the pickle names \w+\.system"):
            read_torch_legacy(data)
    with pytest.raises(CheckpointError, match=r"the pickle names \w+\.system"):
        read_array_pickle(pickle.dumps({"conv1": [Attack(trace)]}, 3))
    assert not trace.exists()


@pytest.mark.parametrize("name", ["builtins.eval", "builtins.getattr", "numpy.load", "torch.load"])
def test_only_what_weights_need_may_be_named(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    data = b"\x80\x02c" + f"{module}\n{attribute}\n".encode() + b"."
    with pytest.raises(CheckpointError, match=f"the pickle names {name}, which is not needed"):
        read_array_pickle(data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "cannot be read"),
        (b"PK\x03\x04 a newer checkpoint", "cannot be read"),
        (pickle.dumps(5, 2), "magic number is missing"),
        (checkpoint({"a": tensor("0", (2, 3), (3, 1))}, {"0": SIX})[:-4], "ends after 20 bytes"),
        (checkpoint({"a": tensor("0", (2, 3), (4, 1))}, {"0": SIX}), "reaches past the 6 elements"),
        (checkpoint({"a": tensor("0", (6,), (1,), 1)}, {"0": SIX}), "reaches past the 6 elements"),
        (checkpoint({"a": tensor("0", (6,), (-1,))}, {"0": SIX}), r"strides \(-1,\)"),
        (checkpoint({"a": tensor("1", (6,), (1,))}, {"0": SIX}), "storage '0' belongs to no"),
        (checkpoint({"a": text("not a tensor")}, {}), "not tensors: a"),
    ],
)
def test_a_damaged_checkpoint_is_refused_in_words(data: bytes, words: str) -> None:
    with pytest.raises(CheckpointError, match=words):
        read_torch_legacy(data)


def test_a_pickle_of_arrays_is_read() -> None:
    kernel = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)
    turned = np.asfortranarray(kernel[0, 0])
    found = read_array_pickle(pickle.dumps({"conv1": [kernel, turned]}, 3))
    np.testing.assert_array_equal(found["conv1"][0], kernel)
    np.testing.assert_array_equal(found["conv1"][1], turned)
    with pytest.raises(CheckpointError, match="type 'O8', expected 'f4'"):
        read_array_pickle(pickle.dumps({"conv1": [np.array([None])]}, 3))
    with pytest.raises(CheckpointError, match="conv1: not a list of arrays"):
        read_array_pickle(pickle.dumps({"conv1": [1]}, 3))


def squeezenet_weights() -> dict[str, list[np.ndarray[Any, Any]]]:
    random = np.random.default_rng(0)
    sizes = {"conv1": (3, 3, 4)}
    before = 4
    for fire in squeezenet.FIRES:
        sizes[f"{fire}/squeeze1x1"] = (1, before, 2)
        sizes[f"{fire}/expand1x1"] = (1, 2, 4)
        sizes[f"{fire}/expand3x3"] = (3, 2, 4)
        before = 8
    sizes["conv10"] = (1, before, 5)
    return {
        name: [random.normal(size=(k, k, i, o)).astype("<f4"), np.zeros(o, "<f4")]
        for name, (k, i, o) in sizes.items()
    }


def efficientnet_state() -> dict[str, np.ndarray[Any, Any]]:
    """The network with its real names and kernel sizes, but an eighth of the channels."""
    random = np.random.default_rng(0)
    state: dict[str, np.ndarray[Any, Any]] = {}

    def add(conv: str, norm: str, shape: tuple[int, ...]) -> None:
        state[f"{conv}.weight"] = random.normal(size=shape)
        for part in ("weight", "bias", "running_mean", "running_var"):
            state[f"{norm}.{part}"] = random.uniform(0.5, 1.5, shape[0])

    add("_conv_stem", "_bn0", (4, 3, 3, 3))
    before, index = 4, 0
    for stage in efficientnet.STAGES:
        for _ in range(stage.repeats):
            key, wide, after = f"_blocks.{index}", before * stage.expand, stage.outputs // 8
            if stage.expand != 1:
                add(f"{key}._expand_conv", f"{key}._bn0", (wide, before, 1, 1))
            add(f"{key}._depthwise_conv", f"{key}._bn1", (wide, 1, stage.kernel, stage.kernel))
            add(f"{key}._project_conv", f"{key}._bn2", (after, wide, 1, 1))
            before, index = after, index + 1
    add("_conv_head", "_bn1", (8, before, 1, 1))
    state["_fc.weight"], state["_fc.bias"] = random.normal(size=(5, 8)), random.normal(size=5)
    return state


def test_the_same_weights_give_the_same_bytes() -> None:
    assert squeezenet.build(squeezenet_weights(), 64) == squeezenet.build(squeezenet_weights(), 64)
    first = efficientnet.build(efficientnet_state(), 64)
    assert first == efficientnet.build(dict(reversed(efficientnet_state().items())), 64)


def test_a_missing_weight_is_named() -> None:
    state = efficientnet_state()
    del state["_blocks.3._bn1.running_var"]
    with pytest.raises(CheckpointError, match=r"no _blocks\.3\._bn1\.running_var"):
        efficientnet.build(state, 64)
    weights = squeezenet_weights()
    del weights["fire5/expand3x3"]
    with pytest.raises(CheckpointError, match="named fire5/expand3x3"):
        squeezenet.build(weights, 64)


def test_a_weight_too_large_for_float16_is_refused() -> None:
    writer = GraphWriter("toy", (1, 3, 8, 8))
    for value in (7e4, np.nan):
        with pytest.raises(ValueError, match="kernel: its largest weight"):
            writer.weight(np.array([1.0, value]), "kernel")


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "pads"),
    [
        (224, 3, 2, (0, 0, 1, 1)),
        (112, 3, 1, (1, 1, 1, 1)),
        (56, 5, 2, (1, 1, 2, 2)),
        (7, 1, 1, (0, 0, 0, 0)),
    ],
)
def test_same_padding_is_tensorflows(
    size: int, kernel: int, stride: int, pads: tuple[int, ...]
) -> None:
    assert efficientnet.same_pads(size, kernel, stride) == pads


def test_labels_become_a_list_in_the_order_of_the_classes() -> None:
    names = {str(index): f"thing {index}, ä" for index in reversed(range(1000))}
    assert json.loads(imagenet.convert(json.dumps(names).encode()))[998] == "thing 998, ä"
    del names["7"]
    with pytest.raises(ValueError, match="keys 0 to 999"):
        imagenet.convert(json.dumps(names).encode())


def entry_for(source: bytes, result: bytes) -> dict[str, Any]:
    return {
        "bytes": len(result),
        "sha256": hashlib.sha256(result).hexdigest(),
        "made_from": {
            "package": "toy",
            "version": "1.0",
            "member": "toy/weights.bin",
            "sha256": hashlib.sha256(source).hexdigest(),
        },
    }


def test_make_checks_what_goes_in_and_what_comes_out(tmp_path: Path) -> None:
    source, out = tmp_path / "weights.bin", tmp_path / "deep" / "model.onnx"
    entry = entry_for(b"good", b"GOOD")
    with pytest.raises(
        command.MakeError, match=r"cannot read .*weights\.bin \(toy/weights\.bin of"
    ):
        command.make(source, out, entry, bytes.upper)
    source.write_bytes(b"bad")
    with pytest.raises(command.MakeError, match=r"is not toy/weights\.bin of toy 1\.0: its sha256"):
        command.make(source, out, entry, bytes.upper)
    source.write_bytes(b"good")
    with pytest.raises(command.MakeError, match="put the new values in manifest"):
        command.make(source, out, entry, bytes.title)
    assert not out.parent.exists()
    command.make(source, out, entry, bytes.upper)
    assert out.read_bytes() == b"GOOD"
    assert [path.name for path in out.parent.iterdir()] == ["model.onnx"]


def test_the_command_says_in_one_line_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--source", str(tmp_path / "none.pth"), "--out", str(tmp_path / "m.onnx")]
    assert command.run(efficientnet.__file__, efficientnet.convert, arguments) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("efficientnet_lite0: cannot read ")
    assert shown.err.count("\n") == 1


def test_a_persistent_id_of_another_kind_is_refused() -> None:
    file = io.BytesIO(checkpoint({}, {}))
    head = file.getvalue().split(b"\x80\x02ccollections")[0]
    with pytest.raises(CheckpointError, match="persistent id of another kind"):
        read_torch_legacy(head + b"\x80\x02" + text("elsewhere") + b"Q.")
