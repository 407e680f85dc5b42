"""String operators; chapter "text"."""

from . import text_movement, texts

__all__ = ["text_movement", "texts"]
