"""torchvision.io's names: pictures from files, and files of pictures."""

from .decoding import (
    ImageReadMode,
    decode_image,
    decode_image_async,
    read_file,
    read_image,
    read_image_async,
)
from .encoding import encode_jpeg, encode_png, write_file, write_jpeg, write_png

__all__ = [
    "ImageReadMode", "decode_image", "decode_image_async", "encode_jpeg", "encode_png",
    "read_file", "read_image", "read_image_async", "write_file", "write_jpeg", "write_png",
]  # fmt: skip
