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
from ..core.context import gradients, pytorch
from ..core.device_name import DeviceName, placed_on
from ..core.drivers import Steps, run_async, run_sync
from ..core.dtype import DType, as_dtype
from ..core.hooks import hooked
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

    tensors: they are computed too.
    beside: further nodes of which something is made.
    repeats: whether the same is made of a graph of the same structure, with the same marks.
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

    def host(self, tensor: Tensor, device: str | None) -> Steps[HostArray]:
        """The elements."""

    def read(self, tensors: Sequence[Tensor]) -> Steps[list[HostArray]]:
        """The elements of tensors, which are computed together."""

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
        """Makes a tensor receive gradients, or no longer."""

    def backward(
        self, tensor: Tensor, gradient: Tensor | None, keep: bool, differentiable: bool
    ) -> None:
        """Adds the gradients of a tensor to those of all that receive them."""

    def detached(self, tensor: Tensor) -> Tensor:
        """The same values, which no gradient passes."""

    def hook(self, tensor: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Registers a function that is called with the gradient of a tensor."""

    def retain(self, tensor: Tensor) -> None:
        """Makes a tensor that is computed from others keep its gradient."""

    def is_leaf(self, tensor: Tensor) -> bool:
        """Whether it is a leaf: nothing that it is computed from receives a gradient."""

    def reaches(self, tensor: Tensor) -> bool:
        """Whether `backward` would give a tensor a gradient."""

    def changes(self, tensor: Tensor, free: bool) -> bool:
        """Whether a tensor may be changed in place: one that receives a gradient may within
        `no_grad`, or if it is free."""

    def replace(self, tensor: Tensor, value: Tensor, free: bool) -> None:
        """Makes a tensor stand for another value; if it receives a gradient, it still does."""


_evaluators: list[Evaluator] = []
_differentiators: list[Callable[[], Differentiator]] = []


def use_differentiator(differentiator: Callable[[], Differentiator]) -> None:
    """Sets what takes derivatives of tensors.

    differentiator: gives it; called once, when it is needed.
    """
    _differentiators[:] = [cache(differentiator)]


def _differentiator() -> Differentiator:
    return _differentiators[0]()


def use_evaluator(evaluator: Evaluator) -> None:
    """Sets what computes tensors from now on."""
    _evaluators[:] = [evaluator]


def _evaluator() -> Evaluator:
    return _evaluators[0]


def realize_now(tensors: Sequence[Tensor]) -> None:
    """Computes tensors together where they are stored, unless a function is being traced."""
    _evaluator().realize(tensors, None)


def derived(derivation: Derivation) -> list[Tensor | None]:
    """What rules make of a graph, computed with it, unless a function is being traced."""
    return _evaluator().derived(derivation)


def reading(tensors: Sequence[Tensor]) -> Steps[list[HostArray]]:
    """The elements of tensors, which are computed together, for `run_sync` and `run_async`."""
    return _evaluator().read(tensors)


def host_values(tensors: Sequence[Tensor]) -> list[HostArray]:
    """The elements of tensors, which are computed together; blocks."""
    return run_sync(reading(tensors))


class Tensor(Methods):
    """An array that is not computed until it is asked for.

    Made by `tallow.asarray`, the creation functions, and operations on tensors. Its operators and
    most of its methods are functions, which names.py lists and binding.py gives it.

    node: the node of a graph; or lengths or data, as PyTorch's `torch.Tensor` takes them: Tensor(2,
      3), Tensor([1.5]).
    more, options: further lengths, and a device.
    """

    __slots__ = (
        "__weakref__",
        "_added",
        "_gradient",
        "_hooks",
        "_put_as",
        "_reshaped",
        "_shares",
        "node",
        "view_key",
    )
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
        """The lengths of all axes."""
        shape = self.node.shape
        return as_size(shape) if pytorch.used and pytorch.get() else shape

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self.node.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.node.shape)

    @property
    def size(self) -> Count:
        """The number of elements; `size()` is the shape, as in PyTorch."""
        return Count(self.node.size, self.shape)

    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged. Raises ShapeError for fewer than two."""
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
        return placed_on(_evaluator().device(self))

    def realize(self, device: str | None = None) -> Self:
        """Computes the tensor, and keeps it on the device.

        Does not wait for the device and reads nothing back, so that it works everywhere. What is
        built from it later computes nothing again. A tensor of a type of few bits (bfloat16, int4)
        is kept on the host.

        device: the name of the device; None is the one that stores what it needs.
        Returns: the tensor itself.
        Raises: DeviceUnavailableError if the device cannot be used here, and what compiling and
          running raise.
        """
        _evaluator().realize([self], device)
        return self

    def on_device(self, device: str) -> Tensor:
        """The same tensor on another device. Blocks if it moves.

        device: the name of the device.
        Returns: the tensor itself if it is there already, else another one.
        Raises: DeviceUnavailableError if the device cannot be used here.
        """
        return _evaluator().to(self, device)

    def numpy(self, device: str | None = None, *, force: bool = False) -> Any:
        """The elements as a NumPy array; blocks. "webgpu" computes float64 in float32.

        Only reads, if the tensor was realized. In a browser, blocking on "webgpu" needs JSPI; where
        it is missing, `numpy_async` works.

        device: the name of the device that computes; None is the one that stores what the tensor
          needs.
        force: gives the elements of a tensor that requires a gradient, where `tallow.torch` was
          imported.
        Returns: the array.
        Raises: RealizeError where blocking is impossible, DeviceUnavailableError if the device
          cannot be used here, and what compiling and running raise; GradientError for a tensor that
          requires a gradient, outside of `no_grad`, where `tallow.torch` was imported.
        """
        checked = not force and pytorch.get() and gradients.get()
        if checked and self.requires_grad and _differentiator().reaches(self):
            raise GradientError(
                "numpy: this tensor requires a gradient, which an array cannot have; use "
                "detach().numpy()"
            )
        return self._host(device).numpy()

    async def numpy_async(self, device: str | None = None) -> Any:
        """The elements as a NumPy array; works everywhere.

        device: the name of the device that computes; None is the one that stores what the tensor
          needs.
        Returns: the array.
        Raises: DeviceUnavailableError if the device cannot be used here, and what compiling and
          running raise.
        """
        return (await run_async(_evaluator().host(self, device))).numpy()

    def item(self) -> Scalar:
        """The only element as a Python number; blocks.

        Returns: a bool, an int or a float.
        Raises: ShapeError for another number of elements, RealizeError where blocking is
          impossible.
        """
        value: Scalar = self._host(None).item()
        return value

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers; blocks.

        Returns: the lists; of a tensor without axes, the number.
        Raises: RealizeError where blocking is impossible.
        """
        return self._host(None).tolist()

    def _host(self, device: str | None) -> HostArray:
        return run_sync(_evaluator().host(self, device))

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
        """Makes the tensor receive a gradient in `backward`, or no longer.

        requires_grad: whether it receives one.
        Returns: the tensor itself.
        Raises: GradientError if its element type is not floating.
        Source: PyTorch, `torch.Tensor.requires_grad_`.
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

        Outside `@tl.jit`, everything is computed before the call returns, this tensor too, and
        stays on the device.

        gradient: that of what follows, in the shape of this tensor; may be left out for a single
          number, and is 1 then.
        retain_graph: allows a second call; None is create_graph.
        create_graph: the gradients can be differentiated in turn.
        Returns: nothing.
        Raises: GradientError if the tensor is not a single number and has no `gradient`, if nothing
          requires one, or for an op without a derivative.
        Source: PyTorch, `torch.Tensor.backward`.
        """
        keep = create_graph if retain_graph is None else retain_graph
        _differentiator().backward(self, gradient, keep, create_graph)

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Registers a function that is called when the gradient of this tensor is known.

        Under `@tl.jit`, a hook is called while the function is traced, and what it computes is part
        of the plan.

        hook: of the gradient; gives another gradient, or None. If it gives another shape or type,
          `backward` raises ShapeError or DTypeError.
        Returns: a handle, whose `remove()` takes the hook away again.
        Raises: GradientError if nothing that the tensor is computed from requires a gradient.
        Source: PyTorch, `torch.Tensor.register_hook`.
        """
        return _differentiator().hook(self, hook)

    def register_post_accumulate_grad_hook(
        self, hook: Callable[[Tensor], object]
    ) -> RemovableHandle:
        """Registers a function that is called after `backward` has added to `grad` of this tensor.

        It may take an optimiser's step and clear `grad`, so that no step needs all gradients at
        once. It is called when `backward` has added to `grad` of all tensors.

        hook: of this tensor; what it returns is ignored.
        Returns: a handle, whose `remove()` takes the hook away again.
        Raises: GradientError for a tensor that is no leaf, or that requires no gradient.
        Source: PyTorch, `torch.Tensor.register_post_accumulate_grad_hook`.
        """
        if not (self.requires_grad and self.is_leaf):
            raise GradientError(
                "register_post_accumulate_grad_hook: only leaves that require a gradient have "
                "`grad`; this tensor is none"
            )
        return hooked(self.own_added_hooks, hook)

    def retain_grad(self) -> None:
        """Makes `backward` add the gradient of this tensor to its `grad`, though it is computed
        from others.

        Raises: GradientError if nothing that the tensor is computed from requires a gradient.
        Source: PyTorch, `torch.Tensor.retain_grad`.
        """
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

    @property
    def own_added_hooks(self) -> dict[int, Any]:
        """The hooks that are called when its gradient has been added to `grad`."""
        if not hasattr(self, "_added"):
            self._added: dict[int, Any] = {}
        return self._added

    @property
    def added_hooks(self) -> Mapping[int, Any]:
        """`own_added_hooks`, to be called."""
        return getattr(self, "_added", {})

    fact_lasts = False
    """A plain tensor can be changed in place without a count (facts.py)."""

    def fact_identity(self) -> Hashable:
        """What of it decides about a plan that has read it: which tensor it is, and its value."""
        return Same(self), Same(self.node)

    def detach(self) -> Tensor:
        """The same values, which no gradient passes.

        Returns: a view: a change in place of it changes this tensor.
        Source: PyTorch, `torch.Tensor.detach`.
        """
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
        """Says that this is a view of another tensor.

        whole: the other tensor.
        again: gives this view of it, or of another value of it.
        put_back: of (whole, new); gives the whole in which the view has the new value. A change in
          place of the view puts that into the whole.
        free: allows such a change outside of `no_grad` too.
        Returns: the tensor itself.
        """
        # A view of a view may be nobody else's. Weakly held are the views from before `_reshaped`.
        held = whole._whole() is not None or hasattr(whole, "_reshaped")
        self._shares = (lambda: whole) if held else ref(whole), again, put_back, free
        return self

    def renew(self) -> None:
        """Updates a view, before it is changed in place, to the present value of the tensor that it
        is a view of. Raises OptionError if that has changed its shape since."""
        whole = self._whole_to_change()
        if whole is not None:
            whole.renew()
            self.node = self._shares[1](whole).node

    def _whole_to_change(self) -> Tensor | None:
        whole = self._whole()
        if whole is not None and isinstance(self._shares[0], ref) and hasattr(whole, "_reshaped"):
            raise OptionError(
                "in place: the tensor that this is a view of has changed its shape since; take the "
                "view again"
            )
        return whole

    def _whole(self) -> Tensor | None:
        """The tensor that this is a view of, if it is still there."""
        shares = getattr(self, "_shares", None)
        found: Tensor | None = None if shares is None else shares[0]()
        return found

    def become(self, value: Any, free: bool = False) -> Self:
        """Makes this object stand for another value, as changes in place do.

        value: a tensor, or what `asarray` takes, in the shape of this one and in a type that it can
          become.
        free: allows it outside of `no_grad` too.
        Returns: the tensor itself.
        Raises: ShapeError for another shape, DTypeError if integers would have to become floating,
          GradientError outside of `no_grad`, if the tensor requires a gradient itself, OptionError
          for a view of what has changed its shape since.
        """
        new = self._fitting(value)
        whole = self._whole_to_change()
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
        """x[key] = value, for what `x[key]` takes, and for truth values in the shape of x."""
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
        """Makes this object stand for its elements in another shape. A view stays one: what changes
        it later changes the whole.

        new: the elements in that shape, a view of this tensor.
        Returns: the tensor itself.
        Raises: GradientError for a leaf outside of `no_grad`.
        """
        if self._whole() is None:
            _differentiator().replace(self, Tensor(new.node), False)
            self._reshaped = True
            return self
        _, shaped, unshaped, _ = new._shares
        whole, again, put_back, free = self._shares
        self._shares = (
            whole,
            lambda whole: shaped(again(whole)),
            lambda whole, value: put_back(whole, unshaped(again(whole), value)),
            free,
        )
        self.node = new.node
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
        """The elements converted to another type; towards zero from floating to integer.

        dtype: the type.
        Returns: the tensor itself if it has that type, else another one.
        Raises: DTypeError for a name that no type has.
        Source: Python array API standard 2024.12, `astype`.
        """
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
    """Raises GradientError for a tensor of integers or truth values."""
    if not tensor.dtype.is_floating:
        raise GradientError(
            f"{what}: only floating tensors have a gradient, not {tensor.dtype.name}; "
            "cast it with .astype('float32')"
        )


def check_gradient(tensor: Tensor, gradient: Tensor | None) -> None:
    """Raises ShapeError or DTypeError for a gradient of another shape or type."""
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

    Buffers are not copied: do not change them afterwards.

    value: the elements.
    dtype: the type of the elements; None is the buffer's own, and for Python numbers bool, int32 or
      float32.
    requires_grad: `backward` gives it a gradient.
    Returns: the tensor; a tensor of the wanted type is given back as it is.
    Raises: ShapeError for ragged lists, DTypeError for what is not numeric, GradientError for a
      gradient of what is not floating.
    Source: Python array API standard 2024.12, `asarray`.
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
