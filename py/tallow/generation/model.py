"""A network and its tokenizer: texts in, texts out, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..core.drivers import Steps, run_async, run_sync
from ..core.dtype import DType
from ..errors import OptionError
from ..tensor import Tensor
from ..text.tools import Tool, message
from .forms import FORMS, Forms
from .memory import Network
from .sampling import Sampling
from .stream import Decoding, Pieces, Stream
from .writer import Allowed, Request, Writer

Prompt = str | Sequence[Mapping[str, Any]] | Sequence[int]
"""A text, messages of a conversation (with "role" and "content"), or tokens."""


class Tokenizer(Protocol):
    """What turns texts into tokens and back."""

    def encode(self, sequence: str, *, add_special_tokens: bool = True) -> Any:
        """The tokens of a text, as `ids` of the result; with those that begin a text, or not."""

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """The text of tokens, without the special ones or with them."""

    def apply_chat_template(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Tool] | None = None
    ) -> Any:
        """Messages as a text with its special tokens, which ends where an answer begins."""


@dataclass(frozen=True)
class Options:
    """How a text is written.

    max_tokens: how many tokens it may have. sampling: how they are chosen. stop: texts that end
    it. form: what the whole text is: ("schema", a JSON Schema), ("regex", a pattern) or ("choices",
    some answers); None is any text. allowed: which tokens may follow. lookup: how many tokens are
    taken at once, where the text repeats what it has. considered: pieces come with the most
    probable tokens. tools: functions that the network may ask for, or their JSON schemas.
    """

    max_tokens: int
    sampling: Sampling
    stop: tuple[str, ...] = ()
    form: tuple[str, Any] | None = None
    allowed: Allowed | None = None
    lookup: int = 0
    considered: bool = False
    tools: Sequence[Tool] | None = None


def options_of(max_tokens: int = 64, **given: Any) -> Options:
    """The options of `generate`, checked.

    Raises: OptionError for a name that is none, and for values that do not fit.
    """
    if not isinstance(max_tokens, int) or isinstance(max_tokens, bool) or max_tokens < 1:
        raise OptionError(f"max_tokens is a whole number from 1 on, not {max_tokens!r}")
    names = Sampling.__dataclass_fields__
    sampling = Sampling(**{name: given.pop(name) for name in list(given) if name in names})
    stop = given.pop("stop", ())
    stop = (stop,) if isinstance(stop, str) else tuple(stop or ())
    forms = {name: given.pop(name) for name in FORMS if name in given}
    unknown = sorted(set(given) - {"allowed", "lookup", "considered", "tools"})
    if unknown:
        raise OptionError(
            f"{unknown[0]} is no option of generate; there are max_tokens, {', '.join(names)}, "
            f"stop, {', '.join(FORMS)}, allowed, lookup, considered, tools"
        )
    if not all(isinstance(text, str) and text for text in stop):
        raise OptionError(f"stop is a text, or several, none of them empty; not {stop!r}")
    lookup = given.get("lookup", 0)
    if not isinstance(lookup, int) or lookup < 0:
        raise OptionError(f"lookup is a whole number from 0 on, not {lookup!r}")
    form = [(name, value) for name, value in forms.items() if value is not None]
    if len(form) + (given.get("allowed") is not None) > 1:
        raise OptionError(f"give one of {', '.join(FORMS)} and allowed, not several")
    return Options(max_tokens, sampling, stop, form[0] if form else None, **given)


class LanguageModel:
    """A network that writes texts.

    network: a decoder in evaluation mode, see `Network`. tokenizer: see `Tokenizer`; None where
    prompts are tokens. ends: tokens that end a text. slots: texts at once. device: where it runs;
    None is the default device. cache_dtype: in which its cache keeps keys and values: "float32",
    "float16" or "int8"; None is float32. pieces: makes the `Decoding` of a tokenizer; None decodes
    a line at a time.
    Raises: OptionError for any other cache_dtype, and for no slots.
    """

    def __init__(
        self,
        network: Network,
        tokenizer: Tokenizer | None = None,
        *,
        ends: Iterable[int] = (),
        slots: int = 1,
        device: str | None = None,
        cache_dtype: str | DType | None = None,
        pieces: Callable[[Any], Decoding] | None = None,
    ) -> None:
        self._pieces = pieces
        self._forms: Forms | None = None
        self.network, self.tokenizer = network, tokenizer
        self.ends = frozenset(ends)
        self.writer = Writer(network, slots, device, cache_dtype)

    def tokens_of(self, prompt: Prompt, tools: Sequence[Tool] | None = None) -> list[int]:
        """The tokens of a prompt. tools: what messages may ask for.

        Raises: OptionError for one that is empty, that needs a tokenizer where there is none, or
          that is no messages where there are tools.
        """
        if tools and (isinstance(prompt, str) or not isinstance(next(iter(prompt), 0), Mapping)):
            raise OptionError("tools go with messages: [{'role': 'user', 'content': ...}]")
        if not isinstance(prompt, str) and all(isinstance(each, int) for each in prompt):
            return [each for each in prompt if isinstance(each, int)]
        tokenizer = self._tokenizer()
        if isinstance(prompt, str):
            return list(tokenizer.encode(prompt).ids)
        more = {"tools": tools} if tools else {}
        text = tokenizer.apply_chat_template(prompt, **more)  # type: ignore[arg-type]
        return list(tokenizer.encode(text, add_special_tokens=False).ids)

    def generate(self, prompt: Prompt, max_tokens: int = 64, **options: Any) -> str:
        """Writes a text behind a prompt. Blocks.

        prompt: a text, messages, or tokens.
        max_tokens: how many tokens it may have.
        options: those of `Sampling` (temperature, 0 at first, top_k, top_p, min_p,
          repetition_penalty, seed), those of `Options` (stop, allowed, lookup, tools), and one of
          schema (a JSON Schema that the text, as JSON, fits), regex (a pattern that the whole text
          matches) and choices (answers of which it is one).
        Returns: the text, without what ended it. One that `max_tokens` ended may be the beginning
          of a form alone; `stream(...).written.end` is "length" then.
        Raises: OptionError for options that do not fit, for an empty prompt, and for one that is
          longer than the context.
        """
        return run_sync(self._written(prompt, options_of(max_tokens, **options)))

    async def generate_async(self, prompt: Prompt, max_tokens: int = 64, **options: Any) -> str:
        """As `generate`, for code that awaits."""
        return await run_async(self._written(prompt, options_of(max_tokens, **options)))

    def reply(
        self, messages: Sequence[Mapping[str, Any]], max_tokens: int = 256, **options: Any
    ) -> dict[str, Any]:
        """The next message of a conversation, which can be appended to it. Blocks.

        messages: dicts with "role" and "content", and with what else the template knows, such as
          "tool_calls", and answers of tools as messages of the role "tool".
        max_tokens, options: those of `generate`; tools are functions with types and docstrings,
          or their JSON schemas (see `tl.text.json_schema`).
        Returns: what `tl.text.message` makes of the text: "role", "content", and "tool_calls" if
          the network asks for tools.
        Raises: as `generate`, and OptionError where the template knows no tools.
        """
        return run_sync(self._replied(messages, options_of(max_tokens, **options)))

    async def reply_async(
        self, messages: Sequence[Mapping[str, Any]], max_tokens: int = 256, **options: Any
    ) -> dict[str, Any]:
        """As `reply`, for code that awaits."""
        return await run_async(self._replied(messages, options_of(max_tokens, **options)))

    def generate_all(
        self, prompts: Sequence[Prompt], max_tokens: int = 64, **options: Any
    ) -> list[str]:
        """Writes a text behind each prompt, as many at once as there are slots. Blocks.

        Options are those of `generate`; each text is the one that `generate` gives.
        """
        return run_sync(self._several(prompts, options_of(max_tokens, **options)))

    async def generate_all_async(
        self, prompts: Sequence[Prompt], max_tokens: int = 64, **options: Any
    ) -> list[str]:
        """As `generate_all`, for code that awaits."""
        return await run_async(self._several(prompts, options_of(max_tokens, **options)))

    def stream(self, prompt: Prompt, max_tokens: int = 64, **options: Any) -> Stream:
        """Writes a text piece by piece: `for piece in m.stream(...)`, or `async for`.

        Options are those of `generate`, and `considered`.
        """
        return self._stream(prompt, options_of(max_tokens, **options))

    def scores(self, prompt: Prompt) -> Tensor:
        """The scores of the next token behind each token of a prompt: (n, vocabulary)."""
        return self.writer.scores(self.tokens_of(prompt))

    def _stream(self, prompt: Prompt, options: Options) -> Stream:
        allowed = options.allowed
        if options.form is not None:
            if self._forms is None:
                count = self.network.layout.vocabulary
                self._forms = Forms(self._tokenizer(), count, self.ends)
            allowed = self._forms.allowed(*options.form)
        request = Request(
            self.tokens_of(prompt, options.tools),
            options.max_tokens,
            self.ends,
            options.sampling,
            allowed,
            options.lookup,
            options.considered,
        )
        return Stream(self.writer, request, options.stop, self._decoding())

    def _decoding(self) -> Decoding:
        if self._pieces is not None:
            return self._pieces(self.tokenizer)
        if self.tokenizer is not None:
            return Pieces(self.tokenizer.decode)
        return Pieces(lambda tokens: "".join(f" {token}" for token in tokens))

    def _tokenizer(self) -> Tokenizer:
        if self.tokenizer is None:
            raise OptionError("this model has no tokenizer: prompts are tokens, and options too")
        return self.tokenizer

    def _written(self, prompt: Prompt, options: Options) -> Steps[str]:
        pieces: list[str] = []
        with self._stream(prompt, options) as stream:
            while True:
                piece = yield from stream.next_item()
                if piece is None:
                    return "".join(pieces)
                pieces.append(piece)

    def _replied(
        self, messages: Sequence[Mapping[str, Any]], options: Options
    ) -> Steps[dict[str, Any]]:
        text, tokenizer = "", self._tokenizer()
        with self._stream(messages, options) as stream:
            while (piece := (yield from stream.next_item())) is not None:
                text += piece
        if options.tools and stream.written is not None and stream.written.end != "stopped":
            text = tokenizer.decode(stream.written.tokens, skip_special_tokens=False)
        return message(text, options.tools or ())

    def _several(self, prompts: Sequence[Prompt], options: Options) -> Steps[list[str]]:
        waiting = [
            (number, self._stream(prompt, options)) for number, prompt in enumerate(prompts)
        ][::-1]
        texts = [""] * len(waiting)
        running: list[tuple[int, Stream]] = []
        try:
            while waiting or running:
                while waiting and len(self.writer.open) < self.writer.cache.slots:
                    number, stream = waiting.pop()
                    texts[number] += (yield from stream.next_item()) or ""
                    running.append((number, stream))
                if self.writer.open:
                    yield from self.writer.step()
                for number, stream in running:
                    texts[number] += stream.take()
                running = [each for each in running if not each[1].ended]
        finally:
            for _, stream in running:
                stream.close()
        return texts
