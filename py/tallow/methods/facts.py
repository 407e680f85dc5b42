"""What programs for PyTorch ask of a tensor: what made it, where it is, how it is stored."""

from __future__ import annotations

from typing import Any

from ..device_name import resolved
from .base import Base, Made, Truth, Whole, function


class MadeBy:
    """What computed a tensor, `x.grad_fn`: it has a name, and no further use."""

    def __init__(self, name: str) -> None:
        self._name = name

    def name(self) -> str:
        """The name of the op, as PyTorch's: "AddBackward0"."""
        return self._name

    next_functions: tuple[Any, ...] = ()
    """Empty: gradients are not followed through these objects."""

    def __repr__(self) -> str:
        return f"<{self._name}>"


class Facts(Base[Made]):
    """Facts about one tensor."""

    __slots__ = ()

    @property
    def grad_fn(self) -> MadeBy | None:
        """What computed it, if gradients go on from there; None for a leaf."""
        if not self._it.requires_grad or self._it.is_leaf:
            return None
        return MadeBy(f"{_maker(self._it.node)}Backward0")

    @property
    def is_cpu(self) -> Truth:
        """Whether it lies in the host's memory."""
        backend: Any = function("runtime.device", "backend")(str(self._it.device))
        return bool(backend.memory.is_host)

    is_cuda = is_xpu = is_mps = is_hpu = property(lambda self: False, doc="False.")
    is_meta = is_quantized = is_sparse_csr = is_mkldnn = property(lambda self: False, doc="False.")
    is_sparse = is_nested = property(lambda self: False, doc="False: every element is stored.")

    @property
    def layout(self) -> str:
        """ "torch.strided": every element is stored."""
        return "torch.strided"

    @property
    def names(self) -> tuple[None, ...]:
        """None for each axis: axes have no names."""
        return (None,) * len(self._it.shape)

    @property
    def real(self) -> Made:
        """The tensor itself: no element is complex."""
        return self._it  # type: ignore[no-any-return]

    @property
    def mH(self) -> Made:
        """The last two axes exchanged."""
        return self._it.mT  # type: ignore[no-any-return]

    H = mH

    def adjoint(self) -> Made:
        """The last two axes exchanged."""
        return self._it.mT  # type: ignore[no-any-return]

    def positive(self) -> Made:
        """The tensor itself."""
        return self._it  # type: ignore[no-any-return]

    def char(self) -> Made:
        """The elements as int8."""
        return self._it.astype("int8")  # type: ignore[no-any-return]

    def vdot(self, other: Any) -> Made:
        """The inner product of two vectors."""
        return self._it.dot(other)  # type: ignore[no-any-return]

    def moveaxis(self, source: Any, destination: Any) -> Made:
        """Axes moved to other positions."""
        return self._it.movedim(source, destination)  # type: ignore[no-any-return]

    def to_sparse(self) -> Any:
        """The elements that are not 0, in coordinates; see tallow/sparse.py. Reads them."""
        return function("sparse", "to_sparse")(self)

    def to_dense(self, dtype: Any = None) -> Made:
        """The tensor itself, or in another type: every element is stored."""
        return self._it if dtype is None else self._it.astype(dtype)  # type: ignore[no-any-return]

    def is_signed(self) -> Truth:
        """Whether elements may be negative."""
        return self._it.dtype.kind in "if"

    def is_pinned(self) -> Truth:
        """False."""
        return False

    def is_shared(self) -> Truth:
        """False."""
        return False

    def is_inference(self) -> Truth:
        """False."""
        return False

    def is_same_size(self, other: Any) -> Truth:
        """Whether another tensor has the same shape."""
        return bool(self._it.shape == other.shape)

    def get_device(self) -> Whole:
        """-1: it is on no CUDA device."""
        return -1

    def data_ptr(self) -> Whole:
        """A number that is the tensor's own as long as it exists; no address."""
        return id(self._it.node)

    def cuda(self, device: Any = None, non_blocking: Truth = False) -> Made:
        """The tensor itself: it is on the best device of this machine already. Says so once."""
        resolved("cuda" if device is None else _named(device))
        return self._it  # type: ignore[no-any-return]

    def xpu(self, device: Any = None, non_blocking: Truth = False) -> Made:
        """As `cuda`."""
        return self.cuda(device)

    def share_memory_(self) -> Made:
        """The tensor itself."""
        return self._it  # type: ignore[no-any-return]

    def resolve_conj(self) -> Made:
        """The tensor itself: no element is complex."""
        return self._it  # type: ignore[no-any-return]

    def conj(self) -> Made:
        """The tensor itself: no element is complex."""
        return self._it  # type: ignore[no-any-return]

    def record_stream(self, stream: Any) -> None:
        """Changes nothing."""


_MAKERS = {
    "multiply": "Mul", "subtract": "Sub", "divide": "Div", "matmul": "Mm", "negative": "Neg",
    "reshape": "View", "permute": "Permute", "cast": "ToCopy", "max_pool2d": "MaxPool2DWithIndices",
    "conv2d": "Convolution", "slice": "Slice", "concat": "Cat", "take": "Index",
}  # fmt: skip
"""PyTorch's names of what computes a tensor, where they differ from the op's."""


def _maker(node: Any) -> str:
    """PyTorch's name for the op of a node: of one that is computed, the op that it was."""
    origin = getattr(node.past, "origin", None)
    made = origin or node
    if made.op.name == "reshape" and made.inputs:  # a reduction ends with one
        inner = getattr(made.inputs[0].past, "origin", None) or made.inputs[0]
        made = inner if inner.op.name in ("sum", "prod", "max", "min") else made
    name = made.op.name.rstrip("_")
    return _MAKERS.get(name) or "".join(word.capitalize() for word in name.split("_"))


def _named(device: Any) -> str:
    return f"cuda:{device}" if isinstance(device, int) else str(device)
