"""The lazy Tensor: a node of a graph with operators.

Building computes shapes and types, nothing else. `numpy()`, `await numpy_async()`, `item()` and
`tolist()` compile and run what the tensor needs; `realize()` does too, and leaves the result where
it is.
"""

from __future__ import annotations

from functools import cache
from types import EllipsisType, NoneType
from typing import TYPE_CHECKING, Any, Protocol, Self
from weakref import ref

from ..core import hostarray
from ..core.context import pytorch
from ..core.device_name import DeviceName
from ..core.dtype import DType, as_dtype
from ..core.hostarray import HostArray
from ..core.shape import Count, Shape, as_size
from ..errors import ArgumentError, DTypeError, GradientError, OptionError, ShapeError, TallowError
from ..facts import Same
from ..graph import Graph, Node, constant, make, seams
from ..ops.elementwise import cast
from ..ops.movement import permute
from .methods import Methods

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from ..core.hooks import RemovableHandle

Scalar = bool | int | float


class Derivation(Protocol):
    """What rules make of the graph of some nodes, such as its gradients.

    tensors: they are computed too. beside: further nodes of which something is made. repeats:
    whether the same is made of a graph of the same structure, with the same marks.
    """

    tensors: Sequence[Tensor]
    beside: Sequence[Node]
    repeats: bool

    def references(self) -> Iterable[Node]:
        """The nodes that this refers to, once for each time."""

    def marks(self, numbers: Mapping[Node, int]) -> Hashable:
        """What the rules look at, besides the structure of the graph with these numbers of its
        nodes."""

    def make(self) -> list[Tensor | None]:
        """What is made; None where there is nothing."""


class Evaluator(Protocol):
    """Computes tensors; runtime/ has one."""

    def host(self, tensor: Tensor, device: str | None) -> HostArray:
        """The elements; blocks until they are there."""

    async def host_async(self, tensor: Tensor, device: str | None) -> HostArray:
        """As `host`."""

    def realize(self, tensors: Sequence[Tensor], device: str | None) -> None:
        """Computes tensors and leaves them on their device; does not wait."""

    def derived(self, derivation: Derivation) -> list[Tensor | None]:
        """Computes what rules make of a graph, and its tensors; as `realize`."""

    def to(self, tensor: Tensor, device: str) -> Tensor:
        """The tensor on a device."""

    def changed(self, tensor: Tensor) -> None:
        """Called for a tensor that was changed in place: it is computed with the next one."""

    def device(self, tensor: Tensor) -> str:
        """The name of the device on which a tensor lies, or would be computed."""


class Differentiator(Protocol):
    """Takes derivatives of tensors; autodiff/ has one."""

    def receive(self, tensor: Tensor, wanted: bool) -> None:
        """Sets whether `backward` stores gradients in a tensor."""

    def backward(
        self, tensor: Tensor, gradient: Tensor | None, keep: bool, differentiable: bool
    ) -> None:
        """Adds the gradients of a tensor to those of all that receive them."""

    def detached(self, tensor: Tensor) -> Tensor:
        """The same values, which no gradient passes."""

    def hook(self, tensor: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Registers a function called with the gradient of a tensor."""

    def retain(self, tensor: Tensor) -> None:
        """Makes a tensor that is computed from others keep its gradient."""

    def is_leaf(self, tensor: Tensor) -> bool:
        """Whether it is a leaf: nothing that it is computed from receives a gradient."""

    def changes(self, tensor: Tensor, free: bool) -> bool:
        """Whether a tensor may be changed in place: one that receives a gradient may within
        `no_grad`, or if it is free."""

    def replace(self, tensor: Tensor, value: Tensor, free: bool) -> None:
        """Replaces the value of a tensor in place; if it receives a gradient, it still does."""


_evaluators: list[Evaluator] = []
_differentiators: list[Callable[[], Differentiator]] = []


def use_differentiator(differentiator: Callable[[], Differentiator]) -> None:
    """Sets the function that makes the differentiator of tensors; it is called once, when the
    first derivative is taken."""
    _differentiators[:] = [cache(differentiator)]


def _differentiator() -> Differentiator:
    return _differentiators[0]()


def use_evaluator(evaluator: Evaluator) -> None:
    """Sets the evaluator that computes tensors."""
    _evaluators[:] = [evaluator]


def _evaluator() -> Evaluator:
    return _evaluators[0]


def realize_now(tensors: Sequence[Tensor]) -> None:
    """Computes tensors together where they are stored, unless a function is being traced."""
    _evaluator().realize(tensors, None)


def derived(derivation: Derivation) -> list[Tensor | None]:
    """What rules make of a graph, computed with it, unless a function is being traced."""
    return _evaluator().derived(derivation)


def host_values(tensors: Sequence[Tensor]) -> list[HostArray]:
    """The elements of tensors, which are computed together; blocks."""
    computed = [Tensor(each.node) for each in tensors]
    pending = [each for each in computed if not each.node.is_constant]
    if pending:
        _evaluator().realize(pending, None)
    return [_evaluator().host(each, None) for each in computed]


class Tensor(Methods):
    """An array that is not computed until it is asked for.

    Made by `tallow.asarray`, the creation functions, and operations on tensors. Its operators and
    most of its methods are functions, which names.py lists and binding.py gives it.
    """

    __slots__ = ("__weakref__", "_gradient", "_hooks", "_put_as", "_shares", "node", "view_key")
    __array_priority__ = 1000  # NumPy leaves `ndarray + Tensor` to the tensor

    node: Node
    view_key: Any  # of x[key], for a view
    _put_as: Node  # what the tensor of which it is a view stood for once this was changed

    def __init__(self, node: Any = None, *more: Any, **options: Any) -> None:
        if node.__class__ is not Node:  # a user's call: PyTorch's Tensor(2, 3), Tensor([1.5])
            node = self.of_sizes_or_data(node, *more, **options).node
        self.node = node

    @property
    def shape(self) -> Shape:
        shape = self.node.shape
        return as_size(shape) if pytorch.used and pytorch.get() else shape

    @property
    def dtype(self) -> DType:
        return self.node.dtype

    @property
    def ndim(self) -> int:
        return len(self.node.shape)

    @property
    def size(self) -> Count:
        """The number of elements; `size()` is the shape, as in PyTorch."""
        return Count(self.node.size, self.shape)

    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged."""
        if self.ndim < 2:
            raise ShapeError(f"mT: needs two axes or more, the shape is {self.shape}")
        axes = [*range(self.ndim - 2), self.ndim - 1, self.ndim - 2]
        return Tensor(make(permute, self.node, axes=tuple(axes)))

    def __repr__(self) -> str:
        from .printing import text_of  # the page starts without it

        return text_of(self)

    def described(self) -> str:
        """A description that needs no elements."""
        return f"Tensor(shape={self.shape}, dtype={self.dtype.name}, op={self.node.op.name})"

    def __len__(self) -> int:
        if not self.shape:
            raise ArgumentError("len: a tensor without axes has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        """The slices along the first axis, as x[0], x[1] and so on give them."""
        return iter([self[at] for at in range(len(self))])

    # ---- realisation ---------------------------------------------------------------------------

    def graph(self) -> Graph:
        """The graph that computes this tensor, its output named "output"."""
        return Graph((), {"output": self.node}, "tensor")

    @property
    def device(self) -> DeviceName:
        """The name of the device that stores it, or would compute it: a text."""
        return DeviceName(_evaluator().device(self))

    def realize(self, device: str | None = None) -> Self:
        """Computes it, and keeps it on the device. Returns the tensor itself.

        Does not wait for the device and reads nothing back, so that it works everywhere. What is
        built from it later computes nothing again. device: where; if None, the device that stores
        what it needs. A tensor of a type of few bits (bfloat16, int4) is kept on the host.
        """
        _evaluator().realize([self], device)
        return self

    def on_device(self, device: str) -> Tensor:
        """The same tensor on another device; itself if it is there already. Blocks if it moves."""
        return _evaluator().to(self, device)

    def numpy(self, device: str | None = None) -> Any:
        """The elements as a NumPy array; blocks. "webgpu" computes float64 in float32.

        Only reads, if the tensor was realized. In a browser, blocking on "webgpu" needs JSPI; where
        it is missing, RealizeError says so and `numpy_async` works.
        """
        return self._host(device).numpy()

    async def numpy_async(self, device: str | None = None) -> Any:
        """The elements as a NumPy array; works everywhere."""
        return (await self._host_async(device)).numpy()

    def item(self) -> Scalar:
        """The only element as a Python number; blocks."""
        value: Scalar = self._host(None).item()
        return value

    def tolist(self) -> Any:
        """Nested lists of Python numbers; blocks."""
        return self._host(None).tolist()

    def _host(self, device: str | None) -> HostArray:
        return _evaluator().host(self, device)

    async def _host_async(self, device: str | None) -> HostArray:
        return await _evaluator().host_async(self, device)

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __index__(self) -> int:
        if not self.dtype.is_integer:
            raise TypeError(f"a tensor of {self.dtype.name} is no index")
        return int(self.item())

    def __format__(self, spec: str) -> str:
        """A single number as Python formats it, for which it is read; f"{loss:.3f}"."""
        if self.shape:
            return super().__format__(spec)
        try:
            return format(self.item(), spec)
        except TallowError:
            if spec:
                raise
            return repr(self)  # while a function is being traced, it has no number

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        result = self.numpy()
        return result if dtype is None else result.astype(dtype)

    # ---- derivatives ---------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether it receives a gradient, or is computed from a tensor that does."""
        return seams.derivatives.tracked(self.node)

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        _differentiator().receive(self, wanted)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Sets whether `backward` stores a gradient here. Returns the tensor itself.

        Raises GradientError if its element type is not floating.
        """
        self.requires_grad = requires_grad
        return self

    @property
    def grad(self) -> Tensor | None:
        """The gradient that `backward` has accumulated; None if there is none."""
        return getattr(self, "_gradient", None)

    @grad.setter
    def grad(self, gradient: Tensor | None) -> None:
        check_gradient(self, gradient)
        self._gradient = gradient

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
    ) -> None:
        """Adds the gradient of this tensor to `grad` of all that require one.

        gradient: that of what follows, in the shape of this tensor; may be left out for a single
        number, and is 1 then. retain_graph: allows a second call. create_graph: the gradients can
        be differentiated in turn. Outside `@tl.jit`, everything is computed before the call
        returns, this tensor too, and stays on the device.

        Raises GradientError if the tensor is not a single number and has no `gradient`, if nothing
        requires one, or for an op without a derivative.
        """
        keep = create_graph if retain_graph is None else retain_graph
        _differentiator().backward(self, gradient, keep, create_graph)

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Registers hook(gradient), which is called with this tensor's gradient and may return
        another one. Returns a handle, whose `remove()` removes the hook.

        Under `@tl.jit`, a hook is called while the function is traced, and what it computes is part
        of the plan. Raises GradientError if nothing that the tensor is computed from requires a
        gradient; if the hook gives another shape or type, `backward` raises ShapeError or
        DTypeError.
        """
        return _differentiator().hook(self, hook)

    def retain_grad(self) -> None:
        """Makes `backward` store the gradient of this tensor in `grad`, though it is no leaf."""
        _differentiator().retain(self)

    @property
    def own_hooks(self) -> dict[int, Any]:
        """The hooks of its gradient, as it is one that receives it."""
        if not hasattr(self, "_hooks"):
            self._hooks: dict[int, Any] = {}
        return self._hooks

    @property
    def gradient_hooks(self) -> Mapping[int, Any]:
        """`own_hooks`, to be called."""
        return getattr(self, "_hooks", {})

    fact_lasts = False
    """A plain tensor can be changed in place without a count (facts.py)."""

    def fact_identity(self) -> Hashable:
        """What of it decides about a plan that has read it: which tensor it is, and its value."""
        return Same(self), Same(self.node)

    def detach(self) -> Tensor:
        """The same values, which no gradient passes."""
        return (
            _differentiator()
            .detached(self)
            .view_of(self, _differentiator().detached, lambda _, new: new, True)
        )

    @property
    def is_leaf(self) -> bool:
        """Whether it is computed from nothing that requires a gradient."""
        return _differentiator().is_leaf(self)

    # ---- changes in place: see methods/in_place.py ---------------------------------------------

    def view_of(
        self,
        whole: Tensor,
        again: Callable[[Tensor], Tensor],
        put_back: Callable[[Tensor, Tensor], Tensor],
        free: bool = False,
    ) -> Self:
        """Marks this as a view, again(whole), of another tensor: a change in place changes that
        to put_back(whole, new), also outside of `no_grad` if it is free."""
        held = whole._whole() is not None  # a view of a view, which may be nobody else's
        self._shares = (lambda: whole) if held else ref(whole), again, put_back, free
        return self

    def renew(self) -> None:
        """Refreshes a view from its base before it is changed in place."""
        whole = self._whole()
        if whole is not None:
            whole.renew()
            self.node = self._shares[1](whole).node

    def _whole(self) -> Tensor | None:
        """The tensor that this is a view of, if it is still there."""
        shares = getattr(self, "_shares", None)
        found: Tensor | None = None if shares is None else shares[0]()
        return found

    def become(self, value: Any, free: bool = False) -> Self:
        """Replaces the value in place by one of its shape and type. free: also outside of
        `no_grad`."""
        new = self._fitting(value)
        whole = self._whole()
        if whole is not None:
            _, _, put_back, own_free = self._shares
            whole.become(put_back(whole, new), free or own_free)
            self._put_as = whole.node
            self.node = new.detach().node if own_free else new.node
        else:
            _differentiator().replace(self, new, free)
            _evaluator().changed(self)
        return self

    def _fitting(self, value: Any) -> Tensor:
        """A value that can be put in place. Raises ShapeError or DTypeError."""
        new = asarray(value)
        if new.shape != self.shape:
            raise ShapeError(f"in place: {self.shape} cannot become {new.shape}")
        if new.dtype != self.dtype:
            if new.dtype.is_floating and not self.dtype.is_floating:
                raise DTypeError(f"in place: {self.dtype.name} cannot become {new.dtype.name}")
            new = new.astype(self.dtype)
        return new

    def __setitem__(self, key: Any, value: Any) -> None:
        """x[key] = value, for what `x[key]` takes, and for truth values in the shape of x; see
        methods/in_place.py."""
        put = isinstance(value, Tensor) and getattr(value, "_put_as", None) is self.node
        if (
            put and value.view_key is key
        ):  # the end of x[key] += y, which has changed x through x[key]
            return
        self.renew()
        self.become(self.with_items(key, value))

    def __iadd__(self, other: Operand) -> Tensor:  # noqa: PYI034
        self.renew()
        return self._changed(self + other)

    def __isub__(self, other: Operand) -> Tensor:  # noqa: PYI034
        self.renew()
        return self._changed(self - other)

    def __imul__(self, other: Operand) -> Tensor:  # noqa: PYI034
        self.renew()
        return self._changed(self * other)

    def __itruediv__(self, other: Operand) -> Tensor:  # noqa: PYI034
        self.renew()
        return self._changed(self / other)

    def __iand__(self, other: Operand) -> Tensor:  # noqa: PYI034
        self.renew()
        return self._changed(self & other)

    def __ior__(self, other: Operand) -> Tensor:  # noqa: PYI034
        self.renew()
        return self._changed(self | other)

    def __ixor__(self, other: Operand) -> Tensor:  # noqa: PYI034
        self.renew()
        return self._changed(self ^ other)

    def __ipow__(self, other: Operand) -> Tensor:  # noqa: PYI034
        self.renew()
        return self._changed(self**other)

    def __ilshift__(self, other: Operand) -> Tensor:  # noqa: PYI034
        self.renew()
        return self._changed(self << other)

    def __irshift__(self, other: Operand) -> Tensor:  # noqa: PYI034
        self.renew()
        return self._changed(self >> other)

    def become_shaped(self, new: Tensor) -> Self:
        """Replaces the value in place by its elements in another shape. Raises OptionError for a
        view, GradientError for a leaf outside of `no_grad`."""
        if self._whole() is not None:
            raise OptionError("in place: a view keeps its shape; take another view instead")
        _differentiator().replace(self, Tensor(new.node), False)
        return self

    def _changed(self, new: Tensor) -> Tensor:
        """The result of += and the like: this object, as in PyTorch. Another tensor if it has
        another shape or becomes floating, and where this one may not change: a leaf, or a view of
        one, outside of `no_grad`."""
        floats = new.dtype.is_floating and not self.dtype.is_floating
        if new.shape != self.shape or floats:
            return new
        whole, free = self, False
        while (further := whole._whole()) is not None:
            whole, free = further, free or whole._shares[3]
        return self.become(new) if _differentiator().changes(whole, free) else new

    # ---- copies --------------------------------------------------------------------------------

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        """The same values, which no gradient passes; one that requires a gradient if this does."""
        made = _differentiator().detached(self)
        return made.requires_grad_() if self.is_leaf and self.requires_grad else made

    def __reduce__(self) -> tuple[Any, ...]:
        """To be pickled: the elements, which are read. Blocks."""
        data = self._host(None)
        receives = self.is_leaf and self.requires_grad
        return _unpickled, (bytes(data.data), data.shape, data.dtype.name, receives)

    # ---- operators: names.py has those that are functions ---------------------------------------

    def __pos__(self) -> Tensor:
        return self

    __hash__ = object.__hash__  # == makes a tensor, so that only the same object is the same key

    # ---- shorthands, as in PyTorch -------------------------------------------------------------

    def astype(self, dtype: DType | str) -> Tensor:
        """The elements converted to another type; towards zero from floating to integer."""
        wanted = as_dtype(dtype)
        return self if wanted == self.dtype else Tensor(make(cast, self.node, dtype=wanted))


def _unpickled(data: bytes, shape: Shape, dtype: str, receives: bool) -> Tensor:
    made = Tensor(constant(HostArray(memoryview(data), shape, as_dtype(dtype))))
    return made.requires_grad_() if receives else made


def is_basic(key: Any) -> bool:
    """Whether an index is made of numbers, slices, `...` and None, so that it gives a view."""
    for item in key if isinstance(key, tuple) else (key,):
        if isinstance(item, Tensor):
            if item.shape or not item.dtype.is_integer:
                return False
        elif isinstance(item, bool) or not isinstance(item, (int, slice, EllipsisType, NoneType)):
            return False
    return True


Operand = Tensor | Scalar


def check_floating(tensor: Tensor, what: str) -> None:
    """GradientError for a tensor of integers or truth values."""
    if not tensor.dtype.is_floating:
        raise GradientError(
            f"{what}: only floating tensors have a gradient, not {tensor.dtype.name}; "
            "cast it with .astype('float32')"
        )


def check_gradient(tensor: Tensor, gradient: Tensor | None) -> None:
    """ShapeError or DTypeError for a gradient of another shape or type."""
    if gradient is None:
        return
    if gradient.shape != tensor.shape:
        raise ShapeError(f"grad: a gradient {gradient.shape} for a tensor {tensor.shape}")
    if gradient.dtype != tensor.dtype:
        raise DTypeError(
            f"grad: a gradient of {gradient.dtype.name} for a tensor of {tensor.dtype.name}"
        )


def asarray(value: Any, dtype: DType | str | None = None, *, requires_grad: bool = False) -> Tensor:
    """A tensor of a number, nested lists, a NumPy array, or anything with the buffer protocol.

    Without `dtype`: the buffer's own type; for Python numbers bool, int32 or float32. Buffers are
    not copied: do not change them afterwards. requires_grad: `backward` gives it a gradient. Raises
    ShapeError for ragged lists, DTypeError for what is not numeric, GradientError if requires_grad
    is set for a type that is not floating.
    """
    if requires_grad:
        return asarray(value, dtype).detach().requires_grad_()
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Tensor):
        return value if wanted is None else value.astype(wanted)
    numbers = isinstance(value, (bool, int, float, list, tuple, range))
    if numbers and not hasattr(value, "__array__"):  # NumPy's scalars have a type of their own
        data = hostarray.from_python(value, wanted)
    else:
        data = hostarray.from_array(value)
    tensor = Tensor(constant(data))
    return tensor if wanted is None else tensor.astype(wanted)
