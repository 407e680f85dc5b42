"""protobuf's ModelProto: the only file that touches the `onnx` package, for its schema."""

from __future__ import annotations

from typing import Any

from ..errors import OnnxError, OnnxFormatError

_SIGNATURES = (
    (b"version https://git-lfs", "a Git LFS pointer; fetch the file that it stands for"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a RIFF file (WebP, WAV)"),
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a zip archive (PyTorch checkpoints and .npz are such)"),
    (b"\x1f\x8b", "gzip data; unpack it first"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"GGUF", "a GGUF model"),
    (b"\x89HDF", "an HDF5 file (Keras)"),
    (b"\x80", "a Python pickle"),
    (b"<", "HTML or XML text"),
    (b"{", "JSON text"),
)


def schema() -> Any:
    """The module with ONNX's messages; OnnxError if the `onnx` package is not there."""
    try:
        from onnx import onnx_ml_pb2
    except ImportError as error:
        raise OnnxError(
            f"ONNX files need the Python packages `onnx` and `protobuf` ({error}): pip install onnx"
        ) from error
    return onnx_ml_pb2


def parse(data: bytes | bytearray | memoryview) -> Any:
    """The ModelProto that the bytes hold; OnnxFormatError if they are not a whole ONNX model."""
    messages = schema()
    view = memoryview(data).cast("B")
    size = view.nbytes
    if not size:
        raise OnnxFormatError("the file is empty (0 bytes)")
    content: Any = data if isinstance(data, bytes) else view  # a view spares a copy
    model = messages.ModelProto()
    try:
        model.ParseFromString(content)
    # protobuf's implementations raise different things here: DecodeError, ValueError,
    # RecursionError, even TypeError; whichever it is, the bytes are to blame.
    except Exception as error:
        raise OnnxFormatError(
            f"not an ONNX model, or one that is cut short or corrupted: protobuf cannot read its "
            f"{size:,} bytes{_hint(view)}"
        ) from error
    if not model.HasField("graph") or not model.ir_version:
        missing = "graph" if not model.HasField("graph") else "ir_version"
        raise OnnxFormatError(f"not an ONNX model: its {size:,} bytes hold no {missing}"
                              f"{_hint(view)}")  # fmt: skip
    return model


def text(field: Any) -> str:
    """A string field. One of protobuf's implementations gives bytes where it is not UTF-8."""
    return field if isinstance(field, str) else bytes(field).decode("utf-8")


def _hint(view: memoryview) -> str:
    start = bytes(view[:32]).lstrip()
    kind = next((kind for signature, kind in _SIGNATURES if start.startswith(signature)), None)
    return f"; they look like {kind}" if kind else ""
