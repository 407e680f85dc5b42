"""Names that mean one thing in the array API and another in PyTorch: the door has PyTorch's."""

from __future__ import annotations

import collections
import math
import pickle
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.errors import ArgumentError, AxisError, DeviceUnavailableError, MissingNameError


def test_integers_are_int64(torch: Any) -> None:
    assert torch.tensor([1, 2]).dtype is torch.int64 is torch.long
    assert torch.arange(3).dtype is torch.full((2,), 7).dtype is torch.int64
    x = torch.tensor([3, 1, 2], dtype=torch.int32)
    assert x.sum().dtype is x.cumsum(0).dtype is x.prod().dtype is torch.int64
    assert x.argmax().dtype is torch.argsort(x).dtype is x.nonzero().dtype is torch.int64
    assert torch.max(x, 0).indices.dtype is torch.topk(x, 1).indices.dtype is torch.int64
    assert (x > 1).sum().dtype is torch.count_nonzero(x).dtype is torch.int64
    assert (x + 1).dtype is torch.int32 and (torch.tensor(True) + 1).dtype is torch.int64
    assert torch.tensor([2**31 - 1, 1]).sum().item() == 2**31
    assert torch.randint(0, 5, (3,)).dtype is torch.randperm(4).dtype is torch.int64
    assert torch.nn.functional.one_hot(torch.tensor([0, 1])).dtype is torch.int64
    assert torch.unique(x, return_counts=True)[1].dtype is torch.int64
    assert torch.multinomial(torch.ones(3), 2).dtype is torch.int64


def test_the_sign_of_nan(torch: Any, device: str) -> None:
    """PyTorch's methods and functions give 0, the array API's function NaN."""
    x = torch.tensor([math.nan, 2.0, -3.0, 0.0])
    for found in (torch.sign(x), x.sign(), torch.sgn(x), x.sgn(), x.clone().sign_(), tl.sgn(x)):
        assert found.tolist() == [0.0, 1.0, -1.0, 0.0]
    assert np.isnan(tl.sign(x).numpy()).tolist() == [True, False, False, False]
    assert torch.sign(torch.tensor([-2, 5])).tolist() == [-1, 1]


def test_arrays_of_tensors_that_require_a_gradient(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for tensor in (x, x * 2):
        for read in (tensor.numpy, lambda tensor=tensor: np.asarray(tensor)):
            with pytest.raises(RuntimeError, match=r"detach\(\)"):
                read()
    assert x.detach().numpy().tolist() == x.numpy(force=True).tolist() == x.tolist() == [1.0, 2.0]
    assert torch.tensor([x[0], x[1]]).tolist() == [1.0, 2.0]
    y = torch.ones(2)
    value, tangent = torch.func.jvp(torch.sin, (y,), (y,))  # of no leaf
    assert value.numpy().tolist() == y.sin().tolist() and tangent.numpy().tolist()
    assert torch.func.grad(lambda y: (y**3).sum())(y).numpy().tolist() == [3.0, 3.0]
    assert str(x) == "tensor([1., 2.], requires_grad=True)"
    with torch.no_grad():
        assert x.numpy().tolist() == np.asarray(x).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "make",
    [
        lambda nn: nn.Embedding(5, 2, padding_idx=5),
        lambda nn: nn.Embedding(5, 2, padding_idx=-6),
        lambda nn: nn.EmbeddingBag(5, 2, padding_idx=9),
        lambda nn: nn.Embedding.from_pretrained(tl.zeros(3)),
        lambda nn: nn.functional.embedding(tl.asarray([1]), tl.zeros((5, 2)), padding_idx=9),
        lambda nn: nn.MultiheadAttention(5, 2),
        lambda nn: nn.TransformerEncoderLayer(5, 2),
    ],
)
def test_what_pytorch_refuses_by_assert(torch: Any, make: Any) -> None:
    with pytest.raises(AssertionError) as caught:
        make(torch.nn)
    assert isinstance(caught.value, tl.OptionError)
    with pytest.raises(ValueError, match="0 elements") as other:
        torch.nn.MultiheadAttention(0, 2)
    assert not isinstance(other.value, AssertionError)


def test_outside_of_the_door_integers_are_int32(torch: Any) -> None:
    from tallow.core import context

    with context.pytorch.override(False):
        assert tl.asarray([1]).dtype is tl.int32 and tl.arange(2).dtype is tl.int32
        assert tl.argmax(tl.asarray([1])).dtype is tl.int32
        assert repr(tl.float32) == "tallow.float32" and tl.zeros(2).shape == (2,)
        assert type(tl.zeros(2).shape) is tuple


def test_a_compiled_function_sees_the_habits_of_its_call(torch: Any) -> None:
    from tallow.core import context

    @tl.jit
    def count(x: tl.Tensor) -> tl.Tensor:
        return (x > 0).sum()

    x = torch.ones(3)
    assert count(x).dtype is torch.int64
    with context.pytorch.override(False):
        assert count(x).dtype is torch.int32
    assert count(x).dtype is torch.int64


def test_tensors_of_sizes_and_of_data(torch: Any) -> None:
    assert torch.Tensor(2, 3).shape == (2, 3) and torch.Tensor().shape == (0,)
    assert torch.Tensor(torch.Size([2])).shape == (2,)
    assert torch.Tensor([1, 2]).tolist() == [1.0, 2.0] and torch.Tensor([1]).dtype is torch.float32
    assert torch.Tensor(np.ones((2, 2))).dtype is torch.float32
    assert torch.LongTensor([1.5, 2]).tolist() == [1, 2]
    assert torch.FloatTensor(2, 3).shape == (2, 3) and torch.ByteTensor([1]).dtype is torch.uint8
    assert isinstance(torch.ones(1), torch.FloatTensor)
    assert not isinstance(torch.ones(1), torch.LongTensor)
    assert type(torch.ones(1)) is torch.Tensor and isinstance(torch.ones(1), torch.Tensor)
    assert torch.tensor(collections.deque([1, 2])).tolist() == [1, 2]
    assert torch.tensor([torch.tensor(1.0), torch.tensor(2.0)]).tolist() == [1.0, 2.0]
    assert torch.ones(1).type(torch.DoubleTensor).dtype is torch.float64
    assert torch.ones(1).type() == "torch.FloatTensor"
    assert torch.ones(1).type("torch.LongTensor").dtype is torch.int64


def test_orders_and_extremes(torch: Any) -> None:
    x = torch.tensor([[3.0, 1.0], [2.0, 4.0]])
    values, indices = torch.sort(x, 1)
    assert values.tolist() == [[1, 3], [2, 4]] and indices.tolist() == [[1, 0], [0, 1]]
    assert torch.sort(input=x, dim=0, descending=True).values.tolist() == [[3, 4], [2, 1]]
    assert torch.max(x, 1).values.tolist() == [3, 4] and torch.max(x).item() == 4
    assert torch.max(x, torch.full((2, 2), 2.5)).tolist() == [[3, 2.5], [2.5, 4]]
    assert torch.std(torch.tensor([1.0, 3.0])).item() == pytest.approx(2**0.5)
    assert torch.var(x, dim=0, unbiased=False).tolist() == [0.25, 2.25]
    assert torch.equal(x, x) is True and torch.split(x, 1)[1].tolist() == [[2, 4]]


def test_arguments_have_pytorchs_names(torch: Any) -> None:
    x = torch.arange(start=0, end=6).reshape(shape=(2, 3)).float()
    assert torch.sum(input=x, dim=1, keepdim=True).shape == (2, 1)
    assert torch.cat(tensors=[x, x], dim=-1).shape == (2, 6)
    assert torch.add(input=x, other=x, alpha=2).tolist() == (x * 3).tolist()
    assert torch.linspace(start=0, end=1, steps=3, dtype=torch.float64).dtype is torch.float64
    assert torch.zeros(size=(2,), layout=torch.strided, pin_memory=False).shape == (2,)
    assert torch.ones(2, dtype=None).dtype is torch.float32
    assert torch.mean(x, (0, 1)).item() == 2.5 and torch.mean(x, axis=0).shape == (3,)
    whole = torch.tensor([1, 2, 3])
    assert torch.remainder(7, whole).tolist() == [0, 1, 1] and torch.pow(2, whole).tolist() == [
        2,
        4,
        8,
    ]
    assert torch.bitwise_and(3, whole).tolist() == [1, 2, 3] and torch.isin(2, whole).item() is True
    assert torch.polygamma(1, torch.ones(1)).item() == pytest.approx(np.pi**2 / 6, rel=1e-5)
    with pytest.raises(TypeError, match="argument 'input' must be a Tensor, not int"):
        torch.sqrt(2)
    out = torch.empty(2, 3)
    assert torch.mul(x, 2, out=out) is out and out.tolist() == (x * 2).tolist()
    with pytest.raises(ArgumentError, match=r"torch.sum.* takes no argument 'axes'.*dim"):
        torch.sum(x, axes=1)
    with pytest.raises(TypeError, match="alhpa"):
        torch.add(x, 1, alhpa=2)


def test_default_types(torch: Any) -> None:
    torch.set_default_dtype(torch.float64)
    made = [torch.zeros(1), torch.rand(1), torch.tensor(1.5), torch.nn.Linear(1, 1).weight,
            torch.arange(0.0, 1.0), torch.Tensor(1), torch.eye(1)]  # fmt: skip
    layers = [torch.nn.Conv2d(1, 1, 1), torch.nn.ConvTranspose1d(1, 1, 1), torch.nn.LSTM(1, 1),
              torch.nn.BatchNorm2d(1), torch.nn.LayerNorm(1), torch.nn.Embedding(1, 1)]  # fmt: skip
    made += [x for layer in layers for x in layer.parameters()] + [layers[3].running_mean]
    assert {x.dtype for x in made} == {torch.float64} == {torch.get_default_dtype()}
    assert (torch.tensor([1, 2]) / 2).dtype is torch.float64
    torch.set_default_tensor_type(torch.FloatTensor)
    assert torch.zeros(1).dtype is torch.float32
    with pytest.raises(TypeError, match="int64"):
        torch.set_default_dtype(torch.int64)


def test_kinds_of_exceptions(torch: Any) -> None:
    x = torch.zeros(2, 3)
    with pytest.raises(IndexError):
        x.sum(2)
    with pytest.raises(AxisError):
        torch.softmax(x, dim=5)
    for wrong in (
        lambda: x + torch.zeros(4),
        lambda: x @ x,
        lambda: x.view(4),
        lambda: x.backward(),
    ):
        with pytest.raises(RuntimeError):
            wrong()
    with pytest.raises(IndexError):
        x[5]
    with pytest.raises(ValueError, match=r"target"):
        torch.nn.functional.cross_entropy(x, torch.tensor([0]))
    with pytest.raises(RuntimeError):
        torch.zeros(2, requires_grad=True).add_(1)


def test_names_that_are_missing(torch: Any) -> None:
    with pytest.raises(MissingNameError, match=r"torch.complex64.*two real tensors"):
        _ = torch.complex64
    with pytest.raises(AttributeError, match=r"torch.nn.functional.nothing"):
        _ = torch.nn.functional.nothing
    assert not hasattr(torch, "no_such_name") and not hasattr(torch.nn, "NoSuchLayer")
    with pytest.raises(ImportError, match="NoSuchLayer"):
        from tallow.torch.nn import NoSuchLayer  # noqa: F401


@pytest.mark.parametrize("place", ["numpy", "wasm"])
def test_the_processor_is_cpu(torch: Any, place: str) -> None:
    x = torch.ones(2, device=place).realize()
    net = torch.nn.Linear(2, 1, device=place)
    for found in (x.device, net.weight.device):
        assert found == torch.device("cpu") == "cpu" and hash(found) == hash(torch.device("cpu"))
        assert (str(found), f"{found}", found.type, found.index) == ("cpu", "cpu", "cpu", None)
        assert repr(found) == "device(type='cpu')"
    assert x.is_cpu and repr(torch.device("cuda", 1)) == "device(type='cuda', index=1)"
    for kept in (x.device, pickle.loads(pickle.dumps(x.device))):  # it is still that device
        moved = [x.to(kept), torch.zeros(1, device=kept), torch.zeros(1).realize("numpy").to(kept)]
        assert [each.device.place for each in moved] == [place] * 3
    assert torch.nn.Linear(1, 1).to(x.device).weight.device.place == place
    assert torch.get_default_device() in ("cpu", "webgpu")


def test_devices(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tallow.core import device_name

    monkeypatch.setattr(device_name, "_told", set())
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
    assert str(torch.device("cuda", 0)) == "cuda:0" and torch.device(0) == "cuda:0"
    x = torch.ones(2)
    with pytest.warns(UserWarning, match="'cuda' stands for the best device"):
        assert x.to("cuda").tolist() == [1.0, 1.0]
    moved = [x.cuda(), x.to(torch.device("cuda:0")), torch.zeros(1, device="cuda"),
             torch.nn.Linear(1, 1, device="cuda").weight, x.to("cpu")]  # fmt: skip
    assert {str(each.device) for each in moved} == {str(x.device)}  # said once, and no more
    for wrong in (lambda: x.to("cuda:1"), lambda: x.cuda(3)):
        with pytest.raises(DeviceUnavailableError, match="one device"):
            wrong()
    assert not (x.is_cuda or x.is_xpu or x.is_mps or x.is_sparse) and x.is_cpu
    with pytest.raises(RuntimeError, match="no CUDA"):
        torch.cuda.get_device_name(0)


def test_variables_of_older_programs(torch: Any) -> None:
    x = torch.autograd.Variable(torch.FloatTensor([1.0, 2.0]), requires_grad=True)
    assert isinstance(x, torch.autograd.Variable)
    (x * x).sum().backward()
    assert x.grad.data.tolist() == [2.0, 4.0]
    F = torch.nn.functional
    assert F.mse_loss(x, torch.zeros(2), size_average=False).item() == 5.0
    assert torch.nn.MSELoss(size_average=False)(x, torch.zeros(2)).item() == 5.0
    assert torch.nn.MSELoss(reduce=False)(x, torch.zeros(2)).tolist() == [1.0, 4.0]
    weight, target = torch.ones(3), torch.tensor([0, 1])
    summed = F.cross_entropy(torch.zeros(2, 3), target, weight, False)
    assert summed.item() == pytest.approx(2 * np.log(3))
    assert torch.nn.CrossEntropyLoss(weight, True).reduction == "mean"
    assert torch.nn.init.xavier_uniform(torch.empty(2, 2)).shape == (2, 2)
    with pytest.warns(UserWarning, match="softmax: give dim"):
        assert F.softmax(torch.zeros(1, 2)).tolist() == [[0.5, 0.5]]


def test_bfloat16_is_computed_wider_where_it_must_be(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tallow.runtime import variable

    x = torch.tensor([1.0, 2.0]).bfloat16()
    assert (x * 2 + 1).dtype is torch.bfloat16 and x.sum().item() == 3.0
    monkeypatch.setattr(variable, "_told", [])
    with pytest.warns(UserWarning, match="bfloat16 are stored and computed in float32"):
        layer = torch.nn.Linear(2, 1).to(torch.bfloat16)
    assert layer.weight.dtype is torch.float32 and layer(x).shape == (1,)
    half = torch.nn.Linear(2, 1).half()
    assert half(torch.ones(1, 2).half()).dtype is torch.float16


def test_states_of_modules_that_older_programs_change(torch: Any) -> None:
    class Renamed(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.new = torch.nn.Linear(1, 1)
            self._register_load_state_dict_pre_hook(self.rename)

        def rename(self, state_dict: Any, prefix: str, *others: Any) -> None:
            state_dict[f"{prefix}new.weight"] = state_dict.pop(f"{prefix}old.weight")

        def _load_from_state_dict(self, state_dict: Any, prefix: str, *others: Any) -> None:
            state_dict[f"{prefix}new.bias"] = state_dict.pop(f"{prefix}old.bias")
            super()._load_from_state_dict(state_dict, prefix, *others)

    net = torch.nn.Sequential(Renamed())
    net.load_state_dict({"0.old.weight": torch.tensor([[2.0]]), "0.old.bias": torch.tensor([3.0])})
    assert net[0].new(torch.ones(1)).item() == 5.0


def test_truth_values_add_and_multiply(torch: Any) -> None:
    a, b = torch.tensor([True, False, True]), torch.tensor([True, True, False])
    assert (a + b).tolist() == [True, True, True] and (a * b).tolist() == [True, False, False]
    assert (a * b).dtype is torch.bool and (a * 2).tolist() == [2, 0, 2]
    with pytest.raises(TypeError):
        a - b


def test_older_factorisations_have_their_own_meaning(torch: Any) -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    u, s, v = torch.svd(x)  # v, not its transpose; no more vectors than values
    assert (u.shape, s.shape, v.shape) == ((3, 2), (2,), (2, 2))
    np.testing.assert_allclose((u @ torch.diag(s) @ v.mT).numpy(), x.numpy(), rtol=1e-5)
    assert torch.svd(x, False).U.shape == (3, 3) and torch.linalg.svd(x)[0].shape == (3, 3)
    np.testing.assert_allclose(torch.svd(x, compute_uv=False).S.numpy(), s.numpy(), rtol=1e-5)
    q, r = torch.qr(x, some=False)
    assert (q.shape, r.shape) == ((3, 3), (3, 2)) and torch.qr(x).Q.shape == (3, 2)
    np.testing.assert_allclose((q @ r).numpy(), x.numpy(), rtol=1e-5)
    assert not hasattr(torch, "lstsq")  # PyTorch has removed it; torch.linalg.lstsq is another
