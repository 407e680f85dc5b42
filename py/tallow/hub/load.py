"""Opens a published model: its configuration says which network it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .. import functions as f
from .. import nn, zoo
from ..core.drivers import Steps, run_async, run_sync
from ..core.dtype import float32
from ..core.hostarray import HostArray
from ..errors import FormatError
from ..files import ProgressOfSeveral
from ..files.ranges import Ranges
from ..formats import gguf
from ..formats.opened import INDEX, Weights, opening
from ..generation import LanguageModel
from ..generation.precision import cache_type
from ..runtime.jit import jit
from ..tensor import Tensor, asarray, reading
from ..text import ChatTemplate, DecodeStream, Tokenizer
from .bundle import Bundle, bundled
from .named import is_name, snapshot

_WHOLE = (("model.onnx",), ("model_fp16.onnx",), ("model_quantized.onnx",))
_SPEECH = (
    ("encoder_model.onnx", "decoder_model_merged.onnx"),
    ("encoder_model_quantized.onnx", "decoder_model_merged_quantized.onnx"),
)
_FOLDERS = ("", "onnx/")


def load(source: Any, **options: Any) -> Any:
    """A published model that is ready to be used; blocks.

    source: a GGUF file, or one of its parts (NAME-00001-of-00003.gguf); a folder with config.json,
      tokenizer.json and weights (safetensors, also in several files, or ONNX), or a file of it; an
      address of either; a JavaScript Blob or File; a `tl.files.File`, which is fetched first, or a
      `tl.files.Fetched`; a dict of such sources by the names of their files; or a name at the hub,
      "owner/name". A folder "owner/name" that is there is meant first.
    options: of a language model, those of `tl.generation.LanguageModel`: slots, device,
      cache_dtype ("float32", "float16" or "int8"). Of a name at the hub, those of
      `tl.hub.download`: revision, token, file (of several GGUF files, the one). progress: of files
      that are fetched, is called with the bytes that are there of all, with how many there will be
      or None, and with the name of the file that arrives.
    Returns: by its configuration a `tl.generation.LanguageModel`, a `tl.zoo.SentenceEncoder` or a
      `tl.zoo.Transcriber`; of Silero's ONNX file, which has none, a `tl.zoo.VoiceDetector`.
    Raises: FormatError for files that are damaged, or missing; OptionError for a network that is
      unknown here, and for any other cache_dtype; FetchError if a server does not give a file;
      TextError for a damaged tokenizer.
    """
    return run_sync(loading(source, blocks=True, **options))


async def load_async(source: Any, **options: Any) -> Any:
    """As `load`, without blocking."""
    return await run_async(loading(source, **options))


def loading(
    source: Any,
    *,
    progress: ProgressOfSeveral | None = None,
    blocks: bool = False,
    **options: Any,
) -> Steps[Any]:
    """The steps of `load`. blocks: that `run_sync` will answer."""
    cache_type(options.get("cache_dtype"))  # before gigabytes are fetched
    if (yield from is_name(source)):
        names = ("revision", "token", "file")
        chosen = {n: options.pop(n) for n in names if n in options}
        source = yield from snapshot(source, progress=progress, blocks=blocks, **chosen)
    files = yield from bundled(source, progress, blocks)
    name = files.main or (yield from _only_gguf(files))
    main = (yield from files.find(name)) if name else None
    if main is not None and bytes((yield from main.read(0, 4))) == gguf.MAGIC:
        return (yield from _of_gguf(name, (yield from _parts(files, name, main)), options))
    config = yield from files.record("config.json")
    if not config:
        voice = yield from _of_voice(files)
        if voice is not None:
            return voice
        raise FormatError(
            f"{files.name}: is no GGUF file, and there is no config.json beside it that says which "
            "network it is"
        )
    kind = config.get("model_type")
    if kind == "bert":
        return (yield from _of_sentences(files, config))
    if kind == "whisper":
        return (yield from _of_speech(files, config))
    return (yield from _of_texts(files, config, options))


def _only_gguf(files: Bundle) -> Steps[str]:
    """The name of a folder's GGUF file, or of a part of it; "" if there is none."""
    names = [name for name in (yield from files.names()) if name.endswith(".gguf")]
    if len(names) > 1 and not set(names) <= set(gguf.parts_of(names[0])):
        raise FormatError(f"{files.name}: has {len(names)} GGUF files: {', '.join(names)[:300]}")
    return names[0] if names else ""


def _parts(files: Bundle, name: str, main: Ranges) -> Steps[Any]:
    """A GGUF file; of a split one, all its parts by their names, as far as they are there."""
    names = gguf.parts_of(name)
    if len(names) == 1:
        return main
    found = {}
    for each in names:
        part = main if each == name else (yield from files.find(each))
        if part is not None:
            found[each] = part
    return found


# ---- language models -------------------------------------------------------------------------


def _of_gguf(what: str, source: Any, options: Mapping[str, Any]) -> Steps[LanguageModel]:
    weights = yield from opening(source)
    kind = weights.metadata.get("general.architecture")
    network = zoo.from_config(zoo.config_of_gguf(weights.metadata, weights))
    tensors: dict[str, Tensor] = {}
    for name in weights:
        own = zoo.name_of_gguf(name, str(kind))
        if own is not None:
            tensors[own] = yield from weights.reading(name)
    _fill(network, tensors, what)
    tokenizer = Tokenizer.from_gguf(weights.metadata)
    keys = ("eos", "eot", "eom")
    ends = [weights.metadata.get(f"tokenizer.ggml.{key}_token_id") for key in keys]
    return _model(network, tokenizer, (end for end in ends if isinstance(end, int)), options)


def _of_texts(
    files: Bundle, config: Mapping[str, Any], options: Mapping[str, Any]
) -> Steps[LanguageModel]:
    network = zoo.from_config(config)
    tensors = zoo.published((yield from _weights(files)))
    _fill(network, tensors, files.name)
    generation = yield from files.record("generation_config.json")
    ends = generation.get("eos_token_id", config.get("eos_token_id"))
    several = ends if isinstance(ends, list) else [ends]
    tokenizer = yield from _tokenizer(files)
    return _model(network, tokenizer, (end for end in several if isinstance(end, int)), options)


def _model(
    network: nn.Module, tokenizer: Tokenizer, ends: Iterable[int], options: Mapping[str, Any]
) -> LanguageModel:
    network.eval()
    return LanguageModel(
        network,
        tokenizer,
        ends=ends,
        pieces=DecodeStream,
        **options,
    )


# ---- other networks --------------------------------------------------------------------------


def _of_sentences(files: Bundle, config: Mapping[str, Any]) -> Steps[zoo.SentenceEncoder]:
    network = zoo.BERT.from_config(config)
    tensors = yield from _weights(files)
    named = {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}
    yield from _widen(network, named, files.name, optional=("pooler.",))
    padding = config.get("pad_token_id") or 0
    return zoo.SentenceEncoder(network, (yield from _tokenizer(files)), padding)


def _of_speech(files: Bundle, config: Mapping[str, Any]) -> Steps[zoo.Transcriber]:
    network = zoo.Whisper.from_config(config)
    tensors = yield from _weights(files, _SPEECH)
    _fill(network, tensors, files.name)
    tokenizer = yield from _tokenizer(files)
    return zoo.Transcriber(network, tokenizer, (yield from files.record("generation_config.json")))


def _of_voice(files: Bundle) -> Steps[zoo.VoiceDetector | None]:
    """A detector of speech, from the ONNX file that is given, or the only one; None if that is
    another network."""
    names = [name for name in (yield from files.names()) if name.endswith(".onnx")]
    if len(names) != 1:
        return None
    source = yield from files.find(names[0])
    assert source is not None
    state = yield from _state(source)
    named = {name.removeprefix("model."): tensor for name, tensor in state.items()}
    if "stft.forward_basis_buffer" not in named:
        return None
    network = zoo.SileroVAD()
    yield from _widen(network, named, files.name, optional=())
    return zoo.VoiceDetector(network)


# ---- parts -----------------------------------------------------------------------------------


def _fill(network: nn.Module, tensors: Mapping[str, Tensor], what: str) -> None:
    """Puts the weights of a file into a network, as they are. Raises FormatError if some are
    missing."""
    named = {name: _computed(each) for name, each in tensors.items()}
    _check(zoo.set_weights(network, named), what)


def _widen(
    network: nn.Module,
    tensors: Mapping[str, Tensor],
    what: str,
    optional: tuple[str, ...],
) -> Steps[None]:
    """The same for networks of short texts and of voices, which compute with weights of 32 bits:
    products of many rows take half the time with them. Raises FormatError."""
    own = {name: each.shape for name, each in network.named_parameters()}
    named = {name: _computed(each) for name, each in tensors.items() if own.get(name) == each.shape}
    _check([name for name in own if name not in named], what, optional)
    narrow = {name: each for name, each in named.items() if not each.node.is_constant}
    # One plan, which is given up: eager ones would be kept, and the weights with them.
    compiled = jit(lambda: tuple(narrow.values()))
    if narrow:
        values = yield from reading(compiled())
        compiled.clear()
        fixed = [HostArray(each.data.toreadonly(), each.shape, each.dtype) for each in values]
        named |= {name: asarray(value) for name, value in zip(narrow, fixed, strict=True)}
    zoo.set_weights(network, named)


def _check(missing: Iterable[str], what: str, optional: tuple[str, ...] = ()) -> None:
    left = [name for name in missing if not optional or not name.startswith(optional)]
    if left:
        raise FormatError(
            f"{what}: has no weights that fit {len(left)} parameters: {', '.join(left)[:300]}"
        )


def _computed(tensor: Tensor) -> Tensor:
    """A tensor as float32: of a narrower type it stays packed until it is used."""
    return tensor if tensor.dtype == float32 else f.astype(tensor, float32)


def _tokenizer(files: Bundle) -> Steps[Tokenizer]:
    text = yield from files.text("tokenizer.json")
    if text is None:
        raise FormatError(f"{files.name}: there is no tokenizer.json beside the weights")
    config = yield from files.text("tokenizer_config.json")
    tokenizer = Tokenizer.from_str(text, config=config)
    template = yield from files.text("chat_template.jinja")
    if template is not None:
        special = tokenizer.chat.special if tokenizer.chat else None
        tokenizer.chat = ChatTemplate(template, special)
    return tokenizer


def _weights(files: Bundle, onnx: tuple[tuple[str, ...], ...] = _WHOLE) -> Steps[dict[str, Tensor]]:
    """The tensors of a folder by their names. onnx: the ONNX files that have them, if no
    safetensors file does; the first that are there."""
    weights = yield from _safetensors(files)
    if weights is not None:
        return (yield from weights.reading_all())
    for folder in _FOLDERS:
        for group in onnx:
            found: dict[str, Tensor] = {}
            for name in group:
                source = yield from files.find(folder + name)
                if source is None:
                    break
                state = yield from _state(source)
                start = "model.encoder." if name.startswith("encoder_") else ""
                found |= {start + own: tensor for own, tensor in state.items()}
            else:
                return found
    raise FormatError(
        f"{files.name}: there are no weights: neither model.safetensors, nor its index, nor "
        f"{' or '.join('+'.join(group) for group in onnx)}"
    )


def _safetensors(files: Bundle) -> Steps[Weights | None]:
    index = f"model.safetensors{INDEX}"
    single = files.main if files.main.endswith(".safetensors") else "model.safetensors"
    if (yield from files.find(index)) is not None and not files.main:
        listed = yield from files.record(index)
        named = set(map(str, dict(listed.get("weight_map") or {}).values()))
        sources: dict[str, Ranges] = {}
        for name in (index, *sorted(named)):
            source = yield from files.find(name)
            if source is None:
                raise FormatError(f"{files.name}: {name!r:.80} is missing, which {index} lists")
            sources[name] = source
        return (yield from opening(sources))
    source = yield from files.find(single)
    if source is None:
        names = [n for n in (yield from files.names()) if n.endswith(".safetensors")]
        source = (yield from files.find(names[0])) if len(names) == 1 else None
    return None if source is None else (yield from opening(source))


def _state(source: Ranges) -> Steps[dict[str, Tensor]]:
    """The weights of an ONNX file."""
    from ..formats.onnx.model import load as load_onnx

    size = yield from source.size()
    return load_onnx(bytes((yield from source.read(0, size)))).state_dict()
