"""Text by hand: a character GPT whose context grows by `cat` each turn, so that every turn has
another length. The same code runs on PyTorch and on Tallow.

    PYTHONPATH=py .venv/bin/python bench/text_by_hand.py [numpy | wasm | torch] [TOKENS]
    python3 build.py run bench/text_by_hand.py --device wasm

Four layers of width 128 and four heads, no cache of keys and values. It prints the seconds for all
tokens, of the processor (one thread) and of the clock, and for Tallow how many programs there are
in the end and the bytes that WebAssembly's memories take, when a fifth of the text is there and at
its end.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from typing import Any

ARGUMENTS = sys.argv[1:]
LIBRARY = ARGUMENTS[0] if ARGUMENTS else ""
TOKENS = int(ARGUMENTS[1]) if len(ARGUMENTS) > 1 else 500

torch: Any = import_module("torch" if LIBRARY == "torch" else "tallow")
nn, functional = torch.nn, torch.nn.functional
WIDTH, LAYERS, HEADS, LETTERS = 128, 4, 4, 65


class Attention(nn.Module):  # type: ignore[misc, name-defined]
    """Causal, with as many heads as there are."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        parts = self.qkv(x).split(WIDTH, dim=2)
        heads = [p.view(batch, length, HEADS, width // HEADS).transpose(1, 2) for p in parts]
        found = functional.scaled_dot_product_attention(*heads, is_causal=True)
        return self.out(found.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):  # type: ignore[misc, name-defined]
    """Attention, then two layers with GELU between them."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x: Any) -> Any:
        x = x + self.attention(self.first(x))
        return x + self.mlp(self.second(x))


class Gpt(nn.Module):  # type: ignore[misc, name-defined]
    """The scores of the next letter behind each position."""

    def __init__(self) -> None:
        super().__init__()
        self.letters = nn.Embedding(LETTERS, WIDTH)
        self.places = nn.Embedding(TOKENS + 1, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, LETTERS, bias=False)

    def forward(self, text: Any) -> Any:
        x = self.letters(text) + self.places(torch.arange(text.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def generate(model: Any, tokens: int, seen: Any = None) -> Any:
    """So many letters, each the most likely one. seen: is told how many there are, each turn."""
    text = torch.zeros((1, 1), dtype=torch.int64)
    with torch.no_grad():
        for turn in range(tokens):
            scores = functional.softmax(model(text)[:, -1, :], dim=-1)
            text = torch.cat((text, torch.argmax(scores, dim=-1, keepdim=True)), 1)
            if LIBRARY != "torch":
                torch.realize(text)
            if seen:
                seen(turn + 1)
    return text


def held() -> str:
    """Programs, and the bytes of WebAssembly's memories."""
    from tallow.runtime.device import backend

    used = backend(LIBRARY or None)
    engine = getattr(used, "engine", None)
    size = sum(arena.nbytes for arena in engine.arenas) if engine else 0
    return f"{len(used.memory.programs)} programs, {size / 2**20:.0f} MiB of wasm memory"


def main() -> None:
    """Generates and prints."""
    if LIBRARY == "torch":
        torch.set_num_threads(1)
    elif LIBRARY:
        torch.set_default_device(LIBRARY)
    torch.manual_seed(0)
    model = Gpt().eval()
    generate(model, 8)
    notes = []

    def note(turn: int) -> None:
        if LIBRARY != "torch" and turn in (TOKENS // 5, TOKENS):
            notes.append(f"after {turn}: {held()}")

    cpu, wall = time.process_time(), time.perf_counter()
    text = generate(model, TOKENS, note)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    assert tuple(text.shape) == (1, TOKENS + 1)
    name = LIBRARY or text.device
    print(f"{name}: {TOKENS} tokens in {cpu:.2f} s of the processor, {wall:.2f} s")
    print(*notes, sep="\n")


main()
