"""protobuf's ModelProto. Only this file uses the `onnx` package, for its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....errors import OnnxError, OnnxFormatError
from . import wire

if TYPE_CHECKING:
    from onnx import onnx_ml_pb2 as onnx_ml_pb2

_SIGNATURES = (
    (b"version https://git-lfs", "a Git LFS pointer; fetch the actual file"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a RIFF file (WebP, WAV)"),
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a zip archive (such as a PyTorch checkpoint or an .npz file)"),
    (b"\x1f\x8b", "gzip data; unpack it first"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"GGUF", "a GGUF model"),
    (b"\x89HDF", "an HDF5 file (Keras)"),
    (b"\x80", "a Python pickle"),
    (b"<", "HTML or XML text"),
    (b"{", "JSON text"),
)


def schema() -> Any:
    """The module with ONNX's messages; OnnxError if the `onnx` package is not installed."""
    try:
        from onnx import onnx_ml_pb2
    except ImportError as error:
        raise OnnxError(
            f"ONNX files need the Python packages `onnx` and `protobuf` ({error}): pip install onnx"
        ) from error
    return onnx_ml_pb2


_LARGE = 64 << 10  # bytes of raw data from which on protobuf should not copy


def parse(
    data: bytes | bytearray | memoryview, taken: wire.Taken | None = None, copied: bool = False
) -> onnx_ml_pb2.ModelProto:
    """The ModelProto in the bytes; OnnxFormatError if they are not a whole ONNX model.

    taken: receives the large raw data as views of the bytes, or as copies, and the long lists of
    numbers as arrays, which the ModelProto then lacks; None for a complete ModelProto.
    """
    messages = schema()
    view = memoryview(data).cast("B")
    size = view.nbytes
    if not size:
        raise OnnxFormatError("the file is empty (0 bytes)")
    content: Any = data if isinstance(data, bytes) else view  # a view avoids a copy
    if taken is not None:
        rest, found = wire.take_out(view, _LARGE, copied)
        taken.update(found)
        content = content if rest is None else rest
    model: onnx_ml_pb2.ModelProto = messages.ModelProto()
    try:
        model.ParseFromString(content)
    # protobuf's implementations raise different errors here: DecodeError, ValueError,
    # RecursionError, even TypeError. All of them mean that the bytes are invalid.
    except Exception as error:
        raise OnnxFormatError(
            f"not an ONNX model, or one that is truncated or corrupted: protobuf cannot read its "
            f"{size:,} bytes{_hint(view)}"
        ) from error
    if not model.HasField("graph") or not model.ir_version:
        missing = "graph" if not model.HasField("graph") else "ir_version"
        raise OnnxFormatError(f"not an ONNX model: its {size:,} bytes contain no {missing}"
                              f"{_hint(view)}")  # fmt: skip
    return model


def text(field: str | bytes) -> str:
    """A string field. One of protobuf's implementations returns bytes if it is not UTF-8."""
    return field if isinstance(field, str) else bytes(field).decode("utf-8")


def _hint(view: memoryview) -> str:
    start = bytes(view[:32]).lstrip()
    kind = next((kind for signature, kind in _SIGNATURES if start.startswith(signature)), None)
    return f"; they look like {kind}" if kind else ""
