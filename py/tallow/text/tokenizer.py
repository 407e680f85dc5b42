"""A tokenizer, with the names and results of Hugging Face's `tokenizers`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..errors import ArgumentError, DataError, OptionError
from .added import Added, AddedToken
from .aligned import Aligned, Step
from .bytes_as_text import as_text, sources
from .chat import ChatTemplate
from .decoders import feed
from .encoding import Detail, Encoding, Padding, Part, Side, Strategy, Truncation, side
from .pre_tokenizers import Cut, CutStep
from .processors import Nothing, Processor
from .reading import parts, parts_of_file
from .stages import Stage, bytes_of_token
from .tools import Tool
from .vocabulary import Model, Word

# Words whose tokens are kept: so many, each of at most so many characters.
_KEPT = 50_000
_KEPT_LENGTH = 200

Text = str | tuple[str, str]

# A piece of a text: its words and their tokens, or the number of an added token.
_Run = tuple[Aligned, list[tuple[int, int]], list[Word] | int]


class Tokenizer:
    """Texts as tokens, and back.

    `from_file`, `from_str` and `from_gguf` make one. special_tokens: names by their parts, such as
    "eos_token", as far as the file or its tokenizer_config.json says. Not safe for two threads at
    once.
    """

    def __init__(
        self,
        model: Model,
        *,
        added: dict[int, AddedToken] | None = None,
        normalizer: Step | None = None,
        pre_tokenizer: CutStep | None = None,
        processor: Processor | None = None,
        decoder: Callable[[], list[Stage]],
        truncation: Truncation | None = None,
        padding: Padding | None = None,
        special_tokens: dict[str, str] | None = None,
        chat: ChatTemplate | None = None,
    ) -> None:
        """From its parts, as the readers of files make them."""
        self.model, self.chat = model, chat
        self.special_tokens = special_tokens or {}
        self.added = Added(added or {}, normalizer)
        self.truncation, self.padding = truncation, padding
        self._pre_tokenizer = pre_tokenizer
        self._processor: Processor = processor or Nothing()
        self.stages = decoder
        self._words: dict[str, Word] = {}
        self._as_bytes = False  # the pre-tokenizer says so with each text, always the same

    @classmethod
    def from_str(cls, text: str, *, config: str | None = None) -> Tokenizer:
        """From the content of a tokenizer.json. config: that of tokenizer_config.json, which has
        the chat template. Raises: TextError for what can't be used, with the reason."""
        return cls(**parts(text, config))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """From a tokenizer.json, or from its folder. The chat template is that of
        tokenizer_config.json, or of chat_template.jinja, beside it. Raises: TextError,
        OSError."""
        return cls(**parts_of_file(path))

    @classmethod
    def from_gguf(cls, metadata: Mapping[str, object]) -> Tokenizer:
        """From a GGUF file's metadata, by their keys, such as "tokenizer.ggml.tokens". Raises:
        TextError."""
        from .gguf import parts as parts_of_gguf

        return cls(**parts_of_gguf(metadata))

    # Numbers and names

    def token_to_id(self, token: str) -> int | None:
        """A token's number; None for one that is not there."""
        found = self.added.ids.get(token)
        return self.model.vocab.get(token) if found is None else found

    def id_to_token(self, id: int) -> str | None:
        """A number's token; None for one that is not there."""
        found = self.added.names.get(id)
        return self.model.names.get(id) if found is None else found

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """All tokens with their numbers."""
        return {**self.model.vocab, **(self.added.ids if with_added_tokens else {})}

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """How many tokens there are."""
        return len(self.get_vocab(with_added_tokens))

    # Texts to tokens

    def encode(
        self, sequence: str, pair: str | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """The tokens of a text, or of two. Raises: ArgumentError for what is no text; DataError for
        half of a surrogate pair, with its position."""
        encoding = self._encoded(sequence, pair, add_special_tokens)
        return self.padding.pad([encoding])[0] if self.padding else encoding

    def encode_batch(
        self, input: Iterable[Text], add_special_tokens: bool = True
    ) -> list[Encoding]:
        """The tokens of several texts, or pairs of texts, padded if padding is enabled."""
        if isinstance(input, str):
            raise ArgumentError("encode_batch takes a list of texts; one text goes to encode")
        batch = [
            self._encoded(each, None, add_special_tokens)
            if isinstance(each, str)
            else self._encoded(*_two(each), add_special_tokens)
            for each in input
        ]
        return self.padding.pad(batch) if self.padding else batch

    def _encoded(self, sequence: str, pair: str | None, special: bool) -> Encoding:
        texts = [sequence] if pair is None else [sequence, pair]
        parts = [Encoding([self._part(text, at)]) for at, text in enumerate(texts)]
        if self.truncation:
            added = self._processor.added(pair is not None) if special else 0
            parts = self.truncation.cut(parts, added)
        done = self._processor.process(parts, special)
        return Encoding([part for each in done for part in each.parts])

    def _part(self, text: str, which: int) -> Part:
        _check(text)
        ids: list[int] = []
        runs: list[_Run] = []
        for section in self.added.sections(text):
            if section.id is not None:
                ids.append(section.id)
                runs.append((section.text, [], section.id))
                continue
            cut = Cut(section.text, [(0, len(section.text.text))])
            if self._pre_tokenizer:
                cut = self._pre_tokenizer(cut)
            self._as_bytes = cut.as_bytes
            words = self._words_of(cut)
            for word in words:
                ids += word.ids
            runs.append((cut.text, cut.spans, words))
        return Part(ids, lambda: self._detail(runs), which, sequence=which)

    def _words_of(self, cut: Cut) -> list[Word]:
        text, known, out = cut.text.text, self._words, []
        for start, end in cut.spans:
            piece = text[start:end]
            word = known.get(piece)
            if word is None:
                word = self._word(piece)
                if end - start <= _KEPT_LENGTH:
                    if len(known) >= _KEPT:
                        known.clear()
                    known[piece] = word
            out.append(word)
        return out

    def _word(self, text: str) -> Word:
        if not self._as_bytes:
            return self.model.word(text)
        word = self.model.word(as_text(text))
        if text.isascii():
            return word
        chars = sources(text)
        return word._replace(spans=[(chars[low], chars[high - 1] + 1) for low, high in word.spans])

    def _detail(self, runs: list[_Run]) -> Detail:
        names: list[str] = []
        offsets: list[tuple[int, int]] = []
        numbers: list[int | None] = []
        index = 0
        for text, spans, words in runs:
            if isinstance(words, int):
                names.append(text.text)
                offsets.append(text.offsets(0, len(text.text)))
                numbers.append(index)
                index += 1
                continue
            for (start, _), word in zip(spans, words, strict=True):
                names += word.names or [self.model.names[each] for each in word.ids]
                offsets += [text.offsets(start + low, start + high) for low, high in word.spans]
                numbers += [index] * len(word.ids)
                index += 1
        return Detail(names, offsets, numbers)

    # Tokens to texts

    def decoded_names(self, ids: Iterable[int], skip_special_tokens: bool) -> list[str]:
        """Names of the tokens that a text shows. Numbers without a token are left out. Raises:
        ArgumentError for what is no number."""
        names = []
        for number in ids:
            try:
                name = self.id_to_token(int(number))
            except (TypeError, ValueError):
                raise ArgumentError(f"a token is {number!r:.60}, not a whole number") from None
            if name is not None and not (skip_special_tokens and name in self.added.special):
                names.append(name)
        return names

    def decode(self, ids: Iterable[int], skip_special_tokens: bool = True) -> str:
        """The text of tokens. Numbers without a token are left out."""
        if isinstance(ids, int | str):
            raise ArgumentError(f"decode takes a list of tokens, not {ids!r:.60}")
        return feed(self.stages(), self.decoded_names(ids, skip_special_tokens), last=True)

    def decode_batch(
        self, sequences: Iterable[Iterable[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """The texts of several lists of tokens."""
        return [self.decode(each, skip_special_tokens) for each in sequences]

    def token_bytes(self) -> list[tuple[int, bytes]]:
        """The bytes of UTF-8 that each token adds within a text, as (token, bytes). Special tokens,
        which add nothing, are left out, and so are tokens whose bytes can't be told."""
        names = sorted((number, name) for name, number in self.get_vocab().items())
        names = [(number, name) for number, name in names if name not in self.added.special]
        before = next((name for _, name in names if name.isalnum() and name.isascii()), "")
        start = len(feed(self.stages(), [before], last=True))
        stages, found = self.stages(), []
        for number, name in names:
            raw = bytes_of_token(stages, name)
            if raw is None:
                text = feed(self.stages(), [before, name], last=True)[start:]
                raw = None if "\ufffd" in text else text.encode()
            if raw is not None:
                found.append((number, raw))
        return found

    # Lengths

    def enable_truncation(
        self, max_length: int, strategy: Strategy = "longest_first", direction: Side = "right"
    ) -> None:
        """Encodings get at most so many tokens, special ones counted. strategy: "longest_first",
        "only_first" or "only_second"."""
        if strategy not in ("longest_first", "only_first", "only_second"):
            raise OptionError(f"strategy={strategy!r}: longest_first, only_first or only_second")
        length = _not_negative("max_length", max_length)
        self.truncation = Truncation(length, strategy, side(direction))

    def no_truncation(self) -> None:
        """Encodings are as long as their texts."""
        self.truncation = None

    def enable_padding(
        self,
        direction: Side = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
        length: int | None = None,
        pad_to_multiple_of: int | None = None,
    ) -> None:
        """Encodings of a batch get one length: that of the longest, or `length`."""
        for name, value in (("length", length), ("pad_to_multiple_of", pad_to_multiple_of)):
            _not_negative(name, value or 0)
        self.padding = Padding(
            side(direction), pad_id, pad_type_id, pad_token, length, pad_to_multiple_of
        )

    def no_padding(self) -> None:
        """Encodings keep their lengths."""
        self.padding = None

    # Conversations

    def apply_chat_template(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Tool] | None = None,
        add_generation_prompt: bool = True,
        **variables: object,
    ) -> str:
        """A conversation as the text that the network was trained with.

        messages: dicts with "role" and "content", and what else the template knows, such as
        "tool_calls". tools: functions that may be called, or their JSON schemas. variables: what
        else the template knows, such as `enable_thinking`. The text has the special tokens that it
        needs, so encode it with `add_special_tokens=False`.

        Raises: OptionError without a template, and for tools where it knows none; TextError for one
        that is damaged, refuses the messages, or does not end; PackageError without jinja2: pip
        install tallow[text].
        """
        if self.chat is None:
            raise OptionError(
                "this tokenizer has no chat template: tokenizer_config.json, beside "
                "tokenizer.json, has it; or set tokenizer.chat = tl.text.ChatTemplate(text)"
            )
        return self.chat.render(
            messages, tools=tools, add_generation_prompt=add_generation_prompt, **variables
        )


def _two(value: object) -> tuple[str, str]:
    if isinstance(value, tuple | list) and len(value) == 2:
        return value[0], value[1]
    raise ArgumentError(f"a batch has {value!r:.60}, which is neither a text nor a pair of texts")


def _check(text: object) -> None:
    if not isinstance(text, str):
        raise ArgumentError(f"encode takes a text, not {text!r:.60}")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise DataError(
                f"the text has half of a surrogate pair, U+{ord(text[error.start]):04X}, at "
                f"{error.start}: that is no character"
            ) from None


def _not_negative(name: str, value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise OptionError(f"{name}={value!r} is not a whole number from 0")
    return value
