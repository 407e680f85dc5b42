"""What libraries on top of PyTorch take from it: tables of operators, DLPack, futures, text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.core import context
from tallow.errors import MissingNameError

with context.pytorch.override(True):  # its habits stay within
    from tallow import torch


def test_operators_are_keys_and_call_functions() -> None:
    aten = torch.ops.aten
    handlers = {aten.add.Tensor: "add", aten.clone.default: "clone"}
    assert handlers[aten.add.Tensor] == "add"
    assert aten.add is aten.add
    assert aten.add.Tensor.overloadpacket is aten.add
    assert (aten.add.Tensor.name(), aten.clone.default.name()) == (
        "aten::add.Tensor",
        "aten::clone",
    )
    x = tl.asarray([1.0, 4.0])
    assert aten.add.Tensor(x, x).tolist() == [2.0, 8.0]
    assert aten.sqrt(x).tolist() == [1.0, 2.0]
    assert aten.softmax.int(x, dim=0).tolist() == tl.softmax(x, 0).tolist()


def test_an_operator_that_is_missing_says_so() -> None:
    with pytest.raises(MissingNameError, match="_to_copy is not in Tallow"):
        torch.ops.aten._to_copy.default(tl.asarray([1.0]))
    with pytest.raises(MissingNameError, match="knn is not in Tallow"):
        _ = torch.ops.pyg.knn
    assert not hasattr(torch.ops.pyg, "knn")
    with pytest.raises(MissingNameError, match="load_library"):
        torch.ops.load_library("kernels.so")


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "float16"])
def test_arrays_come_and_go_by_dlpack(dtype: str) -> None:
    array = np.arange(6, dtype=dtype).reshape(2, 3).T
    x = tl.from_dlpack(array)
    assert (x.dtype.name, x.shape) == (dtype, (3, 2))
    array[:] = 0
    assert x.tolist() == np.arange(6).reshape(2, 3).T.tolist()
    given = np.from_dlpack(x + tl.asarray(1, dtype=dtype))
    assert (given.dtype, given.tolist()) == (np.dtype(dtype), (x.numpy() + 1).tolist())
    again = torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x))
    assert again.tolist() == x.tolist()
    assert torch.from_dlpack(given).tolist() == given.tolist()


def test_dlpack_says_what_it_cannot() -> None:
    x = tl.asarray([1.0])
    assert x.__dlpack_device__() == (1, 0)
    for options in ({"copy": False}, {"dl_device": (2, 0)}):
        with pytest.raises(tl.OptionError, match="a copy on"):
            x.__dlpack__(**options)
    with pytest.raises(tl.OptionError, match="share no memory"):
        tl.from_dlpack(np.ones(2), copy=False)


def test_futures() -> None:
    first: Any = torch.futures.Future()
    second = first.then(lambda done: done.value() + 1)
    failing = first.then(lambda done: done.value() / 0)
    assert not first.done()
    first.set_result(2)
    assert (first.wait(), second.wait()) == (2, 3)
    with pytest.raises(ZeroDivisionError):
        failing.wait()
    assert torch.futures.wait_all([first, second]) == [2, 3]
    assert torch.futures.collect_all([first, second]).wait() == [first, second]


def test_elements_as_text_and_the_settings_of_printing() -> None:
    room = torch._tensor_str
    before = room.PRINT_OPTS.threshold
    try:
        room.PRINT_OPTS.threshold = 3
        assert room._tensor_str(tl.arange(9), 0) == "[0, 1, 2,  ..., 6, 7, 8]"
    finally:
        room.PRINT_OPTS.threshold = before
    assert room._tensor_str(tl.asarray([0.5], requires_grad=True), 0) == "[0.5000]"
    for use in (lambda: room.PRINT_OPTS.color, lambda: setattr(room.PRINT_OPTS, "color", 1)):
        with pytest.raises(AttributeError):
            use()


def test_what_libraries_ask_before_they_use_it() -> None:
    rpc, parameter = torch.distributed.rpc, torch.nn.parameter
    loader = torch.utils.data.dataloader
    assert not rpc.is_available()
    with pytest.raises(MissingNameError, match="init_rpc"):
        _ = rpc.init_rpc
    weight = tl.nn.Linear(2, 2).weight
    assert not isinstance(weight, parameter.UninitializedParameter)
    assert not parameter.is_lazy(weight)
    with pytest.raises(NotImplementedError, match="LazyLinear"):
        parameter.UninitializedParameter()
    assert not isinstance(iter(tl.data.DataLoader([1, 2])), loader._BaseDataLoaderIter)
    assert weight.layout not in (torch.sparse_csr, torch.sparse_csc)
    assert torch._C._disabled_torch_function_impl(max, (), (1, 2)) == 2
