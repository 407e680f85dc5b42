"""Measures texts, sentences and speech: Tallow beside transformers.js and wllama, in one Chromium.

    python3 build.py bench --text [--rows NAME ...] [--devices wasm wasm-2 webgpu]
                                  [--peers wllama transformers.js] [--tokens N] [--rounds N]
                                  [--truth TYPE ...] [--positions N] [--json FILE]

Rows are models that others published: SmolLM2-135M in blocks of 4 bits and MiniMind2-small write
behind a prompt of 200 tokens, MiniLM gives vectors of 16 sentences, one by one and all at once,
whisper-tiny hears 30 s that espeak-ng speaks. Libraries take turns; the figures are medians of the
rounds. *Processor* is the time of all processors that Chromium takes, which other programs disturb
less than the clock; without a GPU, WebGPU's too. *Python* is Python's part of a token, *calls* are
those of plans. *Held* is what Tallow has on the device at the end, as a share of the file.

*Truth* is the share of positions at which WebAssembly and WebGPU choose NumPy's token, for weights
of each type (truth.py). Peers whose answer differs from Tallow's are named.
"""

from __future__ import annotations

import argparse
import base64
import os
import statistics
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "py")]

from playwright.sync_api import Browser, Error, sync_playwright  # noqa: E402
from starlette.routing import Mount  # noqa: E402

from bench import report, text_files, truth  # noqa: E402
from bench.hosting import IN_BROWSER  # noqa: E402
from bench.table import milliseconds, share, table  # noqa: E402
from bench.text_files import PEERS, ROWS, Row  # noqa: E402
from tallow_build.environment import browser  # noqa: E402
from tallow_build.errors import BuildError  # noqa: E402
from tallow_build.paths import DIST  # noqa: E402
from tallow_build.serving import server  # noqa: E402
from tallow_build.serving.script import BrowserPython  # noqa: E402

DEVICES = {"wasm": ("wasm", 1), "wasm-2": ("wasm", 2), "webgpu": ("webgpu", 1)}
"""The device and threads of each name."""
CODE = [IN_BROWSER / name for name in ("clock.py", "chosen.py", "text.py")]
QUESTION = "What is the capital of France?"
PATIENCE_MS = 600_000
TALLOW = "Tallow"


class Failed(Exception):  # noqa: N818 - a result, too
    """A library could not do something; the message is its own."""


def processor_seconds() -> float:
    """What the programs that this one has started have taken of all processors; 0 where the system
    does not tell."""
    parents, taken = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(path.parent.name)
        parents[number], taken[number] = int(fields[1]), sum(map(int, fields[11:13]))
    own, ticks = {os.getpid()}, 0
    while True:
        found = {each for each, parent in parents.items() if parent in own} - own
        if not found:
            return ticks / os.sysconf("SC_CLK_TCK")
        ticks += sum(taken[each] for each in found)
        own |= found


class Tallow:
    """Tallow in Pyodide, in the worker of python.html."""

    name = TALLOW

    def __init__(self, chromium: Browser, address: str, device: str) -> None:
        kind, self._threads = DEVICES[device]
        self._address = address
        self._page = chromium.new_page()
        self._python = BrowserPython(self._page, address)
        booted = self._python.boot(kind)
        if booted.device != kind:
            raise Failed(f"there is no {kind} here: {booted.reason}")
        self.adapter = booted.adapter
        for part in CODE:
            self._run(part.read_text("utf-8"))
        self._run(f"await attach({address!r})")

    def load(self, row: Row) -> float:
        """Milliseconds until a model is there."""
        files = {name: self._address + path for name, path in row.ours.items()}
        source = next(iter(files.values())) if len(files) == 1 else files
        took: float = self._run(f"await load({source!r}, {self._threads})")
        if row.kind == "speech":
            self._python.write("sound", text_files.sound())
        return took

    def ask(self, method: str, *given: Any) -> Any:
        """Calls a function of in_browser/text.py."""
        return self._run(f"await {method}{given!r}")

    def prompt(self) -> str:
        """The text of the prompt."""
        return str(self._run(f"tokens({text_files.PROMPT!r}, {text_files.PROMPT_TOKENS})"))

    def held(self) -> int:
        """Bytes on the device."""
        return int(self._run("held()"))

    def close(self) -> None:
        """Ends its page."""
        self._page.close()

    def _run(self, code: str) -> Any:
        said: list[str] = []
        try:
            ended = self._python.run(code, "text.py", lambda _, text: said.append(text))
        except BuildError as error:
            raise Failed(str(error)) from error
        if ended.status:
            raise Failed("".join(said).strip().splitlines()[-1])
        return ended.result


class Peer:
    """Another library, in a page of its own."""

    def __init__(self, chromium: Browser, address: str, device: str, name: str) -> None:
        self.name = name
        kind, threads = DEVICES[device]
        self._page = chromium.new_page()
        self._page.goto(f"{address}bench/text.html?device={kind}&threads={threads}")
        browser.until(self._page, "window.load !== undefined")

    def load(self, row: Row) -> float:
        """Milliseconds until a model is there."""
        return float(self._evaluate("(of) => load(...of)", list(row.peers[self.name])))

    def ask(self, method: str, *given: Any) -> Any:
        """Calls a method of what is loaded."""
        return self._evaluate("(of) => ask(...of)", [method, *given])

    def close(self) -> None:
        """Ends its page, and what it has loaded."""
        self._page.close()

    def _evaluate(self, code: str, given: Sequence[Any]) -> Any:
        timed = """async ([code, given, patience]) => {
            const late = new Promise((_, reject) =>
                setTimeout(() => reject(new Error(`no answer in ${patience / 1000} s`)), patience));
            return await Promise.race([(0, eval)(code)(given), late]);
        }"""
        try:
            return self._page.evaluate(timed, [code, given, PATIENCE_MS])
        except Error as error:
            first = error.message.strip().splitlines()[0]
            raise Failed(first.removeprefix("Page.evaluate: ")) from error


Library = Tallow | Peer
Figures = dict[str, Any]


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call gives, and milliseconds of the processors."""
    before = processor_seconds()
    result = call()
    return result, 1000 * (processor_seconds() - before)


# ---- what a row measures ---------------------------------------------------------------------


class Work(Protocol):
    """What a kind of row measures."""

    def __init__(self, row: Row, options: argparse.Namespace) -> None: ...

    def begin(self, library: Library) -> Figures:
        """The first time, which does not count."""

    def again(self, library: Library) -> Figures:
        """A round."""


class Texts:
    """Prompts and tokens."""

    def __init__(self, row: Row, options: argparse.Namespace) -> None:
        self._row, self._tokens = row, options.tokens
        self._prompt = text_files.PROMPT

    def begin(self, library: Library) -> Figures:
        """The answer to a question, and the first prompt. Tallow comes first: its tokenizer cuts
        the prompt."""
        if isinstance(library, Tallow):
            self._prompt = library.prompt()
            answer = library.ask("answer", QUESTION, 12)
        else:
            answer = library.ask("answer", text_files.conversation(self._row, QUESTION))
        return {"answer": answer, "first_ms": self._write(library, 3)["prefill_ms"]}

    def again(self, library: Library) -> Figures:
        """One token, then as many as are asked for; the difference is what tokens take."""
        one, read = timed(lambda: self._write(library, 1))
        more, whole = timed(lambda: self._write(library, self._tokens + 1))
        return {
            **more,
            "prefill_ms": min(one["prefill_ms"], more["prefill_ms"]),
            "token_ms": more["decode_ms"] / more["tokens"],
            "prefill_cpu_ms": read,
            "token_cpu_ms": max(whole - read, 0) / more["tokens"],
        }

    def _write(self, library: Library, count: int) -> Figures:
        given = [] if isinstance(library, Tallow) else [self._prompt]
        written: Figures = library.ask("write", *given, count)
        return written


class Sentences:
    """Vectors of sentences."""

    def __init__(self, row: Row, options: argparse.Namespace) -> None:
        self._texts = list(text_files.SENTENCES)

    def begin(self, library: Library) -> Figures:
        """How alike two are, and the first calls."""
        answer = round(library.ask("cosine", self._texts[:2]), 2)
        for count in (1, len(self._texts)):
            library.ask("embed", self._texts, count, 2)
        return {"answer": answer}

    def again(self, library: Library) -> Figures:
        """One by one, and all at once."""
        found: Figures = {}
        for count, calls in ((1, 16), (len(self._texts), 2)):
            result, spent = timed(partial(library.ask, "embed", self._texts, count, calls))
            many = count * calls
            found |= {f"ms_{count}": sum(result["ms"]) / many, f"cpu_ms_{count}": spent / many}
        return found


class Speech:
    """30 s of speech."""

    def __init__(self, row: Row, options: argparse.Namespace) -> None:
        pass

    def begin(self, library: Library) -> Figures:
        """The first time."""
        first = library.ask("hear")
        return {"first_ms": first["ms"], "answer": first["text"]}

    def again(self, library: Library) -> Figures:
        """Once more."""
        result, spent = timed(lambda: library.ask("hear"))
        return {"ms": result["ms"], "cpu_ms": spent}


KINDS: dict[str, type[Work]] = {"texts": Texts, "sentences": Sentences, "speech": Speech}


# ---- tables ----------------------------------------------------------------------------------


def median(figures: Figures, name: str) -> float | None:
    """Of the rounds."""
    several = [each[name] for each in figures["rounds"] if name in each]
    return float(statistics.median(several)) if several else None


def of(found: Sequence[Figures], figures: Figures, name: str) -> str:
    """Tallow's time as a share of the best peer's."""
    others = [median(each, name) for each in found if each["library"] != TALLOW]
    own, known = median(figures, name), [each for each in others if each]
    return share(own / min(known)) if figures["library"] == TALLOW and own and known else ""


def rate(value: float | None) -> str:
    """Of what takes so many milliseconds, how many a second."""
    return f"{1000 / value:.3g}" if value else ""


def line(row: Row, device: str, found: Sequence[Figures], figures: Figures) -> list[str]:
    """A line of the row's table."""

    def shown(name: str, form: Callable[[float | None], str] = milliseconds) -> str:
        return form(median(figures, name))

    start = [row.name, device, figures["library"]]
    if "failed" in figures:
        return [*start, f"FAILED: {figures['failed']}"]
    start.append(milliseconds(figures["load_ms"]))
    if row.kind == "texts":
        counts = [
            f"{median(figures, name) or 0:.0f}" for name in ("calls", "submits", "dispatches")
        ]
        held = figures.get("held")
        own = [shown("python_ms"), *counts, f"{held / row.bytes:.2f}"] if held else [""] * 5
        return [*start, shown("prefill_ms"), of(found, figures, "prefill_ms"),
                shown("token_ms", rate), of(found, figures, "token_ms"),
                shown("prefill_cpu_ms"), shown("token_cpu_ms"), *own]  # fmt: skip
    if row.kind == "sentences":
        cells = []
        for name in ("ms_1", "ms_16"):
            cells += [shown(name, rate), of(found, figures, name), shown(f"cpu_{name}")]
        return [*start, *cells]
    return [*start, milliseconds(figures["first_ms"]), shown("ms"), of(found, figures, "ms"),
            shown("cpu_ms")]  # fmt: skip


HEADS = {
    "texts": ("prefill", "of peer", "tokens/s", "of peer", "processor", "a token", "Python",
              "calls", "submits", "dispatches", "held"),
    "sentences": ("one by one/s", "of peer", "processor", "16 at once/s", "of peer", "processor"),
    "speech": ("first", "30 s", "of peer", "processor"),
}  # fmt: skip


def tell(rows: Sequence[tuple[Row, str, list[Figures]]]) -> None:
    """Prints the tables, and the answers that differ."""
    for kind, head in HEADS.items():
        lines = [
            line(row, device, found, figures)
            for row, device, found in rows
            for figures in found
            if row.kind == kind
        ]
        if lines:
            head = ("model", "device", "library", "load", *head)
            print(
                "\n" + table(head, [[*each, *[""] * (len(head) - len(each))] for each in lines], 3)
            )
    for row, device, found in rows:
        ours = next((each.get("answer") for each in found if each["library"] == TALLOW), None)
        for each in found:
            if each.get("answer") != ours and "failed" not in each:
                print(f"{row.name}, {device}: {each['library']} says {each['answer']!r}, "
                      f"{TALLOW} {ours!r}")  # fmt: skip


# ---- truth -----------------------------------------------------------------------------------


def true(
    chromium: Browser, address: str, devices: Sequence[str], options: argparse.Namespace
) -> list[dict[str, Any]]:
    """The shares of positions at which devices choose NumPy's token, with a table."""
    tokens = truth.prompt(options.positions)
    pages = {device: Tallow(chromium, address, device) for device in devices}
    rows = []
    for form in options.truth:
        content = truth.model_file(form)
        wanted = truth.references(content, tokens)
        entry: dict[str, Any] = {"type": form}
        for device, page in pages.items():
            encoded = base64.b64encode(content).decode()
            code = f"chosen(__import__('base64').b64decode({encoded!r}), {DEVICES[device][0]!r}, "
            found = page._run(f"await {code}{tokens}, {len(tokens)})")
            entry[device] = [truth.share(each, wanted) for each in found]
        rows.append(entry)
    for page in pages.values():
        page.close()
    heads = [f"{device}, {way}" for device in devices for way in ("at once", "one by one")]
    lines = [
        [row["type"], *(f"{each:.2%}" for device in devices for each in row[device])]
        for row in rows
    ]
    print(f"\nNumPy's token is chosen, of {len(tokens)} positions:\n")
    print(table(("weights", *heads), lines, 1), flush=True)
    return rows


# ---- the command -----------------------------------------------------------------------------


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="build.py bench --text", description=__doc__)
    parser.add_argument("--rows", nargs="*", choices=[*ROWS], default=[*ROWS])
    parser.add_argument("--devices", nargs="+", choices=[*DEVICES], default=[*DEVICES])
    parser.add_argument("--peers", nargs="*", choices=[*PEERS], default=[*PEERS])
    parser.add_argument("--tokens", type=int, default=32, help="written behind the prompt (32)")
    parser.add_argument("--rounds", type=int, default=3, help="(3)")
    parser.add_argument("--truth", nargs="*", choices=truth.FORMS, default=truth.FORMS,
                        metavar="TYPE", help="of weights (all); none: no truth")  # fmt: skip
    parser.add_argument("--positions", type=int, default=truth.POSITIONS,
                        help=f"at which truth is looked at ({truth.POSITIONS})")  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    return parser.parse_args(argv)


def measured(
    chromium: Browser, address: str, row: Row, device: str, options: argparse.Namespace
) -> list[Figures]:
    """A row on a device, by all libraries in turns; one that fails says so."""
    work = KINDS[row.kind](row, options)
    found: list[Figures] = []
    libraries: list[tuple[Library, Figures]] = []
    for name in (TALLOW, *(name for name in options.peers if name in row.peers)):
        figures: Figures = {"library": name, "rounds": []}
        found.append(figures)
        try:
            library: Library = (
                Tallow(chromium, address, device)
                if name == TALLOW
                else Peer(chromium, address, device, name)
            )
            libraries.append((library, figures))
            figures["load_ms"] = library.load(row)
            figures |= work.begin(library)
        except Failed as error:
            figures["failed"] = str(error)
    for _ in range(options.rounds):
        for library, figures in libraries:
            if "failed" in figures:
                continue
            try:
                figures["rounds"].append(work.again(library))
                if isinstance(library, Tallow):
                    figures |= {"held": library.held(), "adapter": library.adapter}
            except Failed as error:
                figures["failed"] = str(error)
    for library, _ in libraries:
        library.close()
    return found


def main(argv: Sequence[str]) -> int:
    """Measures and reports. Returns 1 if Tallow failed, or chose other tokens than NumPy."""
    options = arguments(argv)
    text_files.ensure(options.rows, options.peers)
    also: list[Mount] = [Mount("/bench", text_files.served(IN_BROWSER)), *text_files.mounts()]
    rows: list[tuple[Row, str, list[Figures]]] = []
    with (
        sync_playwright() as playwright,
        browser.launch(playwright) as chromium,
        server.running(DIST, also=also) as address,
    ):
        about = {**report.about(), "chromium": chromium.version}
        print(report.headline(about, f"Chromium {chromium.version}", *text_files.versions()))
        for name in options.rows:
            for device in options.devices:
                found = measured(chromium, address, ROWS[name], device, options)
                rows.append((ROWS[name], device, found))
                print(*(line(ROWS[name], device, found, each) for each in found), sep="\n",
                      file=sys.stderr, flush=True)  # fmt: skip
        tell(rows)
        devices = [each for each in options.devices if each != "wasm-2"]
        shares = true(chromium, address, devices, options) if options.truth else []
    listed = [{"row": row.name, "device": device, "libraries": f} for row, device, f in rows]
    report.write(options.json, {**about, "text": listed, "truth": shares})
    wrong = [row["type"] for row in shares if min(min(row[d]) for d in devices) < truth.LEAST]
    if wrong:
        print(f"devices choose other tokens than NumPy: {', '.join(wrong)}")
    return 1 if wrong or any("failed" in f and f["library"] == TALLOW
                             for _, _, found in rows for f in found) else 0  # fmt: skip


if __name__ == "__main__":
    report.run(main)
