"""Changes in place: of parameters, of what requires a gradient, and through views."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import DeviceUnavailableError, DTypeError, GradientError, OptionError, ShapeError


@pytest.fixture(params=["numpy", "wasm"], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    before = tl.default_device()
    tl.set_default_device(request.param)
    yield request.param
    tl.set_default_device(before)


def test_a_parameter_is_assigned_to_within_no_grad() -> None:
    layer = nn.Linear(2, 2)
    with pytest.raises(GradientError, match="no_grad"):
        layer.weight.add_(1)
    with tl.no_grad():
        layer.weight.fill_(2.0)
        layer.bias.zero_()
        layer.bias[1] = 5.0
        weights: list[tl.Tensor] = [*layer.parameters()]
        for parameter in weights:
            parameter *= 2
    assert layer.weight.numpy().tolist() == [[4, 4], [4, 4]]
    assert layer.bias.numpy().tolist() == [0, 10]
    assert layer.weight.is_leaf and layer.weight.requires_grad


def test_a_parameter_is_changed_through_its_data() -> None:
    weight = nn.Parameter(np.ones((2, 2), np.float32))
    weight.data.mul_(3)
    weight.data[0] += 1
    weight.data.view(-1)[3] = 7
    weight.data -= 1
    weight.detach()[1, 0] = 9
    assert weight.numpy().tolist() == [[3, 3], [9, 6]]
    weight.data = tl.zeros((2, 2))
    assert weight.numpy().tolist() == [[0, 0], [0, 0]]
    nn.init.constant_(weight, 4.0)
    assert weight.requires_grad and weight.numpy()[0, 0] == 4


def test_a_step_of_gradient_descent_by_hand() -> None:
    w = tl.tensor([1.0, 5.0], requires_grad=True)
    for _ in range(40):
        ((w - 2) ** 2).sum().backward()
        with tl.no_grad():
            assert w.grad is not None
            w -= 0.3 * w.grad
        w.grad.zero_()
    assert w.is_leaf and np.allclose(w.numpy(), 2)


def test_a_step_by_hand_under_jit() -> None:
    weight = nn.Parameter([1.0, 5.0])

    @tl.jit
    def step(target: tl.Tensor) -> tl.Tensor:
        loss = ((weight - target) ** 2).sum()
        loss.backward()
        with tl.no_grad():
            weight.sub_(weight.grad, alpha=0.3)
        weight.grad = None
        return loss

    for _ in range(40):
        loss = step(np.array([2, 3], np.float32))
    assert np.allclose(weight.numpy(), [2, 3]) and loss.item() < 1e-6


def test_what_was_computed_before_stays() -> None:
    x = tl.asarray([1.0, 2.0])
    y = x * 3
    x.add_(10)
    assert y.numpy().tolist() == [3, 6] and (x * 3).numpy().tolist() == [33, 36]


def test_a_view_whose_tensor_is_gone_is_a_tensor_of_its_own() -> None:
    x = (tl.arange(4) * 1.0).view(2, 2)
    assert x.add_(1).numpy().tolist() == [[1, 2], [3, 4]]


def test_random_numbers() -> None:
    x = tl.zeros((1000,))
    assert abs(float(x.normal_(3, 0.1).mean()) - 3) < 0.05
    x.uniform_(2, 4)
    assert float(x.min()) >= 2 and float(x.max()) <= 4 and abs(float(x.mean()) - 3) < 0.1
    assert set(x.bernoulli_(0.3).numpy().tolist()) == {0.0, 1.0}
    made = nn.init.uniform_(tl.empty((50,)), 5.0, 6.0)
    assert float(made.min()) >= 5.0


def test_what_cannot_be_put_in_place() -> None:
    x = tl.zeros((2, 3))
    with pytest.raises(ShapeError, match=r"\(2, 3\)"):
        x.add_(tl.zeros((4, 2, 3)))
    with pytest.raises(DTypeError, match="int32"):
        tl.tensor([1, 2]).mul_(0.5)
    with pytest.raises(GradientError, match="no_grad"):
        tl.tensor([1.0], requires_grad=True).mul_(2)
    with pytest.raises(ShapeError):
        x[x > 0] = tl.zeros((3, 3))


def test_to_takes_a_device_a_type_or_a_tensor() -> None:
    x = tl.tensor([1.5])
    assert x.to(tl.float16).dtype == tl.float16 and x.to("int32").numpy() == 1
    assert x.to("numpy", "float16").dtype == tl.float16
    assert x.to(device="numpy", dtype=tl.int32, non_blocking=True).device == "numpy"
    assert x.to("cpu") is x and x.to(tl.tensor([1])).dtype == tl.int32
    assert x.type() == "float32" and x.type(tl.int32).dtype == tl.int32
    with pytest.raises(DeviceUnavailableError, match="nowhere"):
        x.to("nowhere")
    with pytest.raises(OptionError, match=r"1\.5"):
        x.to(1.5)
    assert len({x, x, x * 1}) == 2


def test_a_value_may_have_more_leading_axes_of_one() -> None:
    x = tl.zeros((2, 3))
    x[0] = tl.tensor([[[1.0, 2.0, 3.0]]])
    x[1, 2] = tl.tensor([4.0])
    assert x.tolist() == [[1.0, 2.0, 3.0], [0.0, 0.0, 4.0]]
    with pytest.raises(ShapeError):
        x[0] = tl.ones((2, 3))


# ---- += and the like ---------------------------------------------------------------------------


def test_an_augmented_assignment_changes_the_tensor_itself() -> None:
    x = tl.tensor([1.0, 2.0])
    other, weights = x, [tl.tensor([1.0]), tl.tensor([2.0])]
    x += 1
    x *= tl.tensor([2.0, 3.0])
    for w in weights:
        w -= 0.5
    assert other is x and other.tolist() == [4.0, 9.0]
    assert [w.item() for w in weights] == [0.5, 1.5]


def test_it_gives_another_tensor_where_shape_or_type_would_change() -> None:
    total, whole = tl.tensor(0.0), tl.tensor([1, 2])
    grown = total
    grown += tl.tensor([1.0, 2.0])
    halves = whole
    halves /= 2
    assert total.tolist() == 0.0 and grown.tolist() == [1.0, 2.0]
    assert whole.tolist() == [1, 2] and halves.tolist() == [0.5, 1.0]


def test_a_narrow_tensor_keeps_its_type() -> None:
    x = tl.tensor([1.0, 2.0], dtype="float16")
    x += tl.tensor([0.5, 0.5])
    assert x.dtype == tl.float16 and x.tolist() == [1.5, 2.5]


def test_what_was_computed_before_stays_as_it_was() -> None:
    x = tl.tensor([1.0, 2.0])
    doubled = x * 2
    x += 10
    assert doubled.tolist() == [2.0, 4.0] and x.tolist() == [11.0, 12.0]


def test_it_goes_through_views_of_numbers_and_slices_alone() -> None:
    x = tl.zeros((3, 2))
    row = x[1]
    row += 1
    x[0] += 5
    x[:, 1] *= 2
    assert x.tolist() == [[5.0, 10.0], [1.0, 2.0], [0.0, 0.0]]
    picked, masked = x[tl.tensor([0, 1])], x[x > 4]  # copies, as in PyTorch
    picked += 100
    masked += 100
    picked.add_(1)
    assert x.tolist() == [[5.0, 10.0], [1.0, 2.0], [0.0, 0.0]]
    x[tl.tensor([0, 2])] += 1
    x[x > 5] -= 3
    assert x.tolist() == [[3.0, 8.0], [1.0, 2.0], [1.0, 1.0]]


def test_a_view_that_was_changed_can_be_written_elsewhere() -> None:
    x = tl.zeros(3)
    part = x[0]
    part += 7
    x[1] = part
    assert x.tolist() == [7.0, 7.0, 0.0]


def test_gradients_pass_what_was_changed_in_place() -> None:
    w = tl.tensor([1.0, 2.0], requires_grad=True)
    y = w * 3
    y += w
    y[0] *= 2
    y.sum().backward()
    assert w.grad is not None and w.grad.tolist() == [8.0, 4.0]


def test_a_derivative_needs_the_value_from_before_the_change_and_has_it() -> None:
    x = tl.tensor([2.0, 3.0])
    w = tl.tensor([1.0, 1.0], requires_grad=True)
    loss = (w * x).sum()
    x += 100
    loss.backward()
    assert w.grad is not None and w.grad.tolist() == [2.0, 3.0]


def test_what_was_a_vector_transposed_is_a_view() -> None:
    x = tl.asarray([1.0, 2.0])
    x.T[0] = 5.0
    x.t().add_(1)
    assert x.tolist() == [6.0, 3.0]
    turned = tl.zeros((2, 3)).t()
    turned.t()[0, 1] = 4.0
    assert turned.tolist() == [[0.0, 0.0], [4.0, 0.0], [0.0, 0.0]]


# ---- another shape -------------------------------------------------------------------------------


def test_a_view_in_another_shape_is_still_one() -> None:
    whole = tl.arange(12.0).reshape(2, 2, 3).clone()
    view = whole[1]
    assert view.t_() is view and view.unsqueeze_(0).shape == (1, 3, 2)
    view[0, 0] = 9.0
    further = view[0]
    further.swapaxes_(0, 1).mul_(2.0)
    assert whole.tolist() == [[[0, 1, 2], [3, 4, 5]], [[18, 14, 16], [18, 20, 22]]]
    whole.add_(1.0)
    view.mul_(10.0)
    assert whole[1].tolist() == [[190, 150, 170], [190, 210, 230]]
    assert view.tolist() == [[[190, 190], [150, 210], [170, 230]]]
    assert view.squeeze_(0).transpose_(0, 1).tolist() == whole[1].tolist()


def test_gradients_pass_another_shape() -> None:
    x = tl.ones((2, 3)).requires_grad_()
    y = x * tl.arange(6.0).reshape(2, 3)
    y.t_()
    (y * tl.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [[0, 2, 8], [3, 12, 25]]
    x.grad = None
    y = x * 2.0
    row = y[0]
    row.unsqueeze_(1).mul_(3.0)
    y.sum().backward()
    assert x.grad.tolist() == [[6, 6, 6], [2, 2, 2]]


def test_resize() -> None:
    x = tl.arange(6)
    assert x.resize_(2, 2) is x and x.tolist() == [[0, 1], [2, 3]]
    assert x.resize_((5,))[:4].tolist() == [0, 1, 2, 3] and x.shape == (5,)
    assert tl.zeros(0).resize_as_(tl.zeros((2, 2))).fill_(1.0).tolist() == [[1, 1], [1, 1]]
    whole = tl.arange(12.0).reshape(2, 6).clone()
    whole[1].resize_(2, 2).fill_(-1.0)
    assert whole[1].tolist() == [-1, -1, -1, -1, 10, 11]
    with pytest.raises(tl.OptionError, match="6 elements"):
        whole[1].resize_(7).fill_(0.0)
    with pytest.raises(tl.GradientError):
        tl.ones(2, requires_grad=True).resize_(1)


def test_views_from_before_a_change_of_shape_change_nothing_any_more() -> None:
    whole = tl.reshape(tl.arange(6.0), (2, 3))
    row = whole[0]
    whole.t_()
    for change in (row.zero_, lambda: row.add_(1.0), lambda: row.__setitem__(0, 5.0)):
        with pytest.raises(tl.OptionError, match="changed its shape since; take the view again"):
            change()
    again = whole[0]
    again.zero_()
    assert whole.tolist() == [[0, 0], [1, 4], [2, 5]]
    assert row.tolist() == [0, 1, 2]
