"""Texts as tokens, and back: tokenizers and chat templates."""

from .added import AddedToken
from .chat import ChatTemplate
from .encoding import Encoding
from .stream import DecodeStream
from .tokenizer import Tokenizer
from .tools import json_schema, message

__all__ = [
    "AddedToken", "ChatTemplate", "DecodeStream", "Encoding", "Tokenizer", "json_schema", "message",
]  # fmt: skip
