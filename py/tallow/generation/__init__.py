"""Texts that a network writes: caches, the choice of tokens, conversations."""

from .cache import Cache
from .memory import KeptHeads, KeptRows, Layout, Memory, Network
from .model import LanguageModel, Tokenizer
from .sampling import Sampling
from .stream import Decoding, Stream
from .writer import Request, Writer, Written

__all__ = [
    "Cache", "Decoding", "KeptHeads", "KeptRows", "LanguageModel", "Layout", "Memory", "Network",
    "Request", "Sampling", "Stream", "Tokenizer", "Writer", "Written",
]  # fmt: skip
