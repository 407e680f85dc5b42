"""Where the byte-level tokenizers of GGUF files cut: patterns by the names that files have."""

from __future__ import annotations

from .pre_tokenizers import GPT2

_ENDINGS = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
_LLAMA3 = (
    _ENDINGS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
_QWEN2 = _LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_FRONT = r"[^\r\n\p{L}\p{N}]?"
_CASED = f"{_FRONT}{_UPPER}*{_LOWER}+ENDING|{_FRONT}{_UPPER}+{_LOWER}*ENDING"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_TEKKEN = _CASED.replace("ENDING", "") + r"|\p{N}" + _REST
_GPT4O = _CASED.replace("ENDING", _ENDINGS + "?") + r"|\p{N}{1,3}" + _REST

# By "tokenizer.ggml.pre": patterns at which a text is cut, one after the other.
CUTS: dict[str, tuple[str, ...]] = {
    "default": (r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", r"[0-9][0-9][0-9]"),
    "deepseek-coder": (
        r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", r"[一-龥ࠀ-一가-퟿]+", r"\p{N}",
    ),
    "deepseek-v3": (
        r"\p{N}{1,3}",
        r"[一-龥぀-ゟ゠-ヿ]+",
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
        r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    "falcon": (r"[\p{P}\$\+<=>\^~\|`]+", GPT2, r"[0-9][0-9][0-9]"),
    "gpt-2": (GPT2,),
    "gpt-4o": (_GPT4O,),
    "llama-bpe": (_LLAMA3,),
    "qwen2": (_QWEN2,),
    "smollm": (r"\p{N}", GPT2),
    "tekken": (_TEKKEN,),
}  # fmt: skip
SAME = {
    "phi-2": "gpt-2", "mpt": "gpt-2", "olmo": "gpt-2", "jina-v2-code": "gpt-2", "lfm2": "llama-bpe",
    "llama3": "llama-bpe", "llama-v3": "llama-bpe", "falcon3": "llama-bpe", "dbrx": "llama-bpe",
    "smaug-bpe": "llama-bpe", "pixtral": "llama-bpe", "deepseek-r1-qwen": "qwen2",
    "megrez": "qwen2", "hunyuan": "qwen2", "starcoder": "smollm", "refact": "smollm",
    "command-r": "smollm", "codeshell": "smollm", "exaone": "smollm", "minerva-7b": "smollm",
    "llama4": "gpt-4o",
}  # fmt: skip

WHOLE_WORDS = ("llama-bpe", "llama3", "llama-v3", "lfm2", "falcon3", "pixtral", "tekken")
"""Those for which a word that is a token needs no merges, and texts begin with a token."""
