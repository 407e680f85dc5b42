"""The command line: `python -m tallow info|run|bench|convert|serve MODEL`, and `run SCRIPT.py`, a
Python program.

Each command has its own file; feeds.py makes the inputs of a run. Expected errors print one line
and exit with status 1.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ..errors import OptionError, TallowError
from ..runtime.device import DEVICES
from . import convert, info, measure, once, script, service
from .feeds import add_feeds, add_shapes

Command = Callable[[argparse.Namespace], None]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise OptionError(f"{message} (see {self.prog} --help)")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status. What a Python program raises passes through."""
    given = sys.argv[1:] if argv is None else list(argv)
    if script.is_script(given):
        script.run(given[1:])
        return 0
    try:
        options = _parser().parse_args(given)
        command: Command = options.command
        command(options)
    except TallowError as error:
        print(f"tallow: {_one_line(error)}", file=sys.stderr)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        print(f"tallow: {name}{error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("tallow: interrupted", file=sys.stderr)
        return 130
    else:
        return 0
    return 1


def _one_line(error: Exception) -> str:
    return re.sub(r"\s*\n\s*", "; ", re.sub(r":\s*\n\s*", ": ", str(error).strip()))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="tallow", description="ONNX models on WebGPU or NumPy.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, command: Command, words: str) -> argparse.ArgumentParser:
        one: argparse.ArgumentParser = commands.add_parser(name, help=words, description=words)
        one.set_defaults(command=command)
        one.add_argument("model", metavar="MODEL", help="an ONNX file")
        add_shapes(one)
        return one

    def add_device(one: argparse.ArgumentParser, **more: Any) -> None:
        one.add_argument("--device", choices=tuple(DEVICES), **more)

    add("info", info.command, "describe a model and show where its operators run")
    words = "run a model and print its outputs; or run a Python program, SCRIPT.py --as-torch"
    run = add("run", once.command, words)
    add_device(run, help="default: the fastest one available")
    add_feeds(run, fill=None)
    run.add_argument(
        "--top", type=int, default=5, metavar="K", help="how many values to print (%(default)s)"
    )
    words = "write an output: FILE.npy for the only one, NAME=FILE.npy, or FILE.npz for all"
    run.add_argument("--output", action="append", default=[], metavar="[NAME=]FILE", help=words)
    bench = add("bench", measure.command, "time a model: the first run and warm runs")
    add_device(bench, action="append", help="may be repeated; default: every available one")
    add_feeds(bench, fill="random")
    bench.add_argument(
        "--runs", type=int, default=10, metavar="N", help="number of warm runs (%(default)s)"
    )
    change = add(
        "convert",
        convert.command,
        "rewrite a model: optimized, with smaller weights or fixed shapes",
    )
    change.add_argument("target", metavar="TARGET", help="the ONNX file to write")
    weights = change.add_mutually_exclusive_group()
    weights.add_argument("--float16", dest="weights", action="store_const", const="float16",
                         help="round weights to float16")  # fmt: skip
    weights.add_argument("--int8", dest="weights", action="store_const", const="int8",
                         help="round the weights of convolutions and matrix products to int8, with "
                         "a scale per channel")  # fmt: skip
    change.add_argument("--keep-batch-norm", action="store_true",
                        help="do not fold batch norm into convolutions")  # fmt: skip
    change.add_argument("--external", action="store_true",
                        help="store the weights in a second file, TARGET.data")  # fmt: skip
    words = "serve models over HTTP and gRPC, by the Open Inference Protocol v2"
    served: argparse.ArgumentParser = commands.add_parser("serve", help=words, description=words)
    served.set_defaults(command=service.command)
    service.add_arguments(served)
    return parser
