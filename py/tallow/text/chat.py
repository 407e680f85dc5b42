"""Chat templates: conversations as texts, by Jinja2 without reach and with an end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import OptionError, PackageError, TextError
from .tools import Tool, schemas

_NAMED = ("bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token")


def special_tokens(config: object) -> dict[str, str]:
    """The special tokens of a tokenizer_config.json by their parts, such as "eos_token". Raises:
    TextError."""
    if not isinstance(config, Mapping):
        raise TextError("tokenizer_config.json is not an object of JSON")
    special = {}
    for name in _NAMED:
        value = config.get(name)
        if isinstance(value, Mapping):
            value = value.get("content")
        if isinstance(value, str):
            special[name] = value
    return special


class ChatTemplate:
    """A template, and the special tokens that it may name, such as "bos_token"."""

    def __init__(self, source: str, special: Mapping[str, str] | None = None) -> None:
        self.source, self.special = source, dict(special or {})
        self._compiled: Any = None

    @classmethod
    def from_config(cls, config: object) -> ChatTemplate | None:
        """From a tokenizer_config.json; None if it has no template. Of several, by name, it is the
        one named "default". Raises: TextError."""
        special = special_tokens(config)
        assert isinstance(config, Mapping)
        source = config.get("chat_template")
        if isinstance(source, list):
            named = {
                each.get("name"): each.get("template")
                for each in source
                if isinstance(each, Mapping)
            }
            source = named.get("default")
        return cls(source, special) if isinstance(source, str) else None

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Tool] | None = None,
        add_generation_prompt: bool = True,
        **variables: object,
    ) -> str:
        """A conversation as a text. Raises: TextError for a template that is damaged, refuses
        the messages, or does not end; OptionError for tools where it does not know them;
        PackageError without jinja2."""
        try:
            from .sandbox import Sandbox, rendered
        except ImportError as error:
            raise PackageError("chat templates need jinja2: pip install tallow[text]") from error
        _check(messages)
        given = None if tools is None else schemas(tools) or None
        if given and "tools" not in self.source:
            raise OptionError("the chat template knows no tools: this model was not taught any")
        if self._compiled is None:
            self._compiled = Sandbox().compiled(self.source)
        return rendered(
            self._compiled,
            {
                **self.special,
                **variables,
                "messages": messages,
                "tools": given,
                "add_generation_prompt": add_generation_prompt,
            },
        )


def _check(messages: object) -> None:
    if isinstance(messages, str | Mapping) or not isinstance(messages, Sequence):
        raise TextError(f"messages are {messages!r:.60}, not a list of dicts")
    for at, message in enumerate(messages):
        if not isinstance(message, Mapping) or "role" not in message:
            raise TextError(f"messages[{at}] is {message!r:.60}, not a dict with a role")
