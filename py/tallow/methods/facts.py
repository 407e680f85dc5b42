"""Methods and attributes that say something about a tensor: what made it, where it is, how it is
stored."""

from __future__ import annotations

from ..core.shape import check_axis
from ..graph import Node
from ..runtime.device import backend
from ..tensor import Tensor


class MadeBy:
    """What computed a tensor, `x.grad_fn`: it has a name, and no further use."""

    def __init__(self, name: str) -> None:
        self._name = name

    def name(self) -> str:
        """The name of the op, as PyTorch's: "AddBackward0"."""
        return self._name

    next_functions: tuple[tuple[MadeBy, int], ...] = ()
    """Empty: gradients are not tracked through these objects."""

    def __repr__(self) -> str:
        return f"<{self._name}>"


_MAKERS = {
    "multiply": "Mul", "subtract": "Sub", "divide": "Div", "matmul": "Mm", "negative": "Neg",
    "reshape": "View", "permute": "Permute", "cast": "ToCopy", "max_pool2d": "MaxPool2DWithIndices",
    "conv2d": "Convolution", "slice": "Slice", "concat": "Cat", "take": "Index",
}  # fmt: skip
"""PyTorch's names of what computes a tensor, where they differ from the op's."""


def _maker(node: Node) -> str:
    """PyTorch's name for the op of a node: of one that is computed, the op that it was."""
    origin: Node | None = getattr(node.past, "origin", None)
    made = origin or node
    if made.op.name == "reshape" and made.inputs:  # a reduction ends with one
        inner = getattr(made.inputs[0].past, "origin", None) or made.inputs[0]
        made = inner if inner.op.name in ("sum", "prod", "max", "min") else made
    name = made.op.name.rstrip("_")
    return _MAKERS.get(name) or "".join(word.capitalize() for word in name.split("_"))


def _grad_fn(input: Tensor) -> MadeBy | None:
    """The op that computed it, if gradients pass through it; None for a leaf."""
    if not input.requires_grad or input.is_leaf:
        return None
    return MadeBy(f"{_maker(input.node)}Backward0")


grad_fn = property(_grad_fn)


# ---- lengths and bytes -----------------------------------------------------------------------


def dim(input: Tensor) -> int:
    """How many axes there are.

    input: any tensor.
    Returns: the number of axes.
    """
    return len(input.shape)


def numel(input: Tensor) -> int:
    """How many elements there are.

    input: any tensor.
    Returns: the product of the lengths of all axes.
    """
    return int(input.size)


def element_size(input: Tensor) -> int:
    """The bytes of an element.

    input: any tensor.
    Returns: the bytes that an element of this type takes.
    """
    return input.dtype.size


def stride(input: Tensor, dim: int | None = None) -> int | tuple[int, ...]:
    """How far apart elements along an axis are, or along each: as of row-major order.

    input: any tensor.
    dim: the axis; None asks for all.
    Returns: a number of elements, or a tuple with one for each axis.
    Source: PyTorch, `torch.Tensor.stride`.
    """
    found: list[int] = []
    step = 1
    for size in reversed(input.shape):
        found.insert(0, step)
        step *= max(size, 1)
    return tuple(found) if dim is None else found[check_axis(dim, input.ndim, "stride")]


itemsize = property(element_size)


def _nbytes(input: Tensor) -> int:
    """The bytes of all elements."""
    return input.dtype.size * int(input.size)


nbytes = property(_nbytes)


# ---- what every tensor here is or is not -----------------------------------------------------


def no(input: Tensor) -> bool:
    """False: tensors have no such state here.

    input: any tensor.
    Returns: False.
    """
    return False


is_cuda = is_xpu = is_mps = is_hpu = property(no)
is_meta = is_quantized = is_sparse = is_sparse_csr = is_mkldnn = is_nested = property(no)


def _is_cpu(input: Tensor) -> bool:
    """Whether it lies in the host's memory."""
    return input.device == "cpu" or backend(input.device).memory.is_host


is_cpu = property(_is_cpu)


def _layout(input: Tensor) -> str:
    """ "torch.strided": every element is stored."""
    return "torch.strided"


layout = property(_layout)


def _names(input: Tensor) -> tuple[None, ...]:
    """None for each axis: axes have no names."""
    return (None,) * len(input.shape)


names = property(_names)


def itself(input: Tensor) -> Tensor:
    """The tensor itself: no element is complex, and none is in another kind of memory.

    input: any tensor.
    Returns: input.
    """
    return input


real = property(itself)


def adjoint(input: Tensor) -> Tensor:
    """The last two axes exchanged.

    input: a tensor of two axes or more.
    Returns: the tensor with the last two axes exchanged.
    Raises: ShapeError for fewer than two axes.
    Source: PyTorch, `torch.adjoint`.
    """
    return input.mT


hermitian = property(adjoint)


def is_contiguous(input: Tensor, memory_format: object = None) -> bool:
    """True: elements have no other order than row-major.

    input: any tensor.
    memory_format: changes nothing.
    Returns: True.
    """
    return True


def is_signed(input: Tensor) -> bool:
    """Whether the type has negative numbers.

    input: any tensor.
    Returns: True for floating and signed integer types.
    """
    return input.dtype.kind in "if"


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether another tensor has the same shape.

    input: any tensor.
    other: the tensor to compare with.
    Returns: True if the shapes are equal.
    """
    return input.shape == other.shape


def storage_offset(input: Tensor) -> int:
    """0: a tensor begins where its memory does.

    input: any tensor.
    Returns: 0.
    """
    return 0


def get_device(input: Tensor) -> int:
    """-1: the tensor is on no CUDA device.

    input: any tensor.
    Returns: -1.
    """
    return -1


def data_ptr(input: Tensor) -> int:
    """A number that is the tensor's own as long as it exists; no address.

    input: any tensor.
    Returns: the number.
    """
    return id(input.node)


def record_stream(input: Tensor, stream: object) -> None:
    """Changes nothing: a device has one queue.

    input: any tensor.
    stream: not looked at.
    Returns: nothing.
    """
