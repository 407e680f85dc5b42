"""`tallow serve`: networks as a service."""

from __future__ import annotations

import argparse
import logging
import math
import os
import re
import sys
from typing import TYPE_CHECKING

from ..errors import OptionError
from .feeds import numbers_of

if TYPE_CHECKING:
    from ..serve.models import ModuleSpec

_DEVICES = {"native": "webgpu", "webgpu": "webgpu", "wasm": "wasm", "numpy": "numpy"}
"""Names of devices; in a process without a browser, WebGPU is the native one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the command."""
    words = "an ONNX file, a file of weights, or a folder with a folder for each version"
    parser.add_argument("model", metavar="MODEL", nargs="*", help=words)
    parser.add_argument("--device", choices=tuple(_DEVICES), help="default: the fastest one")
    words = "the address to listen at (%(default)s); 0.0.0.0: for other machines, too"
    parser.add_argument("--host", default="127.0.0.1", help=words)
    parser.add_argument("--port", type=int, default=8080, help="for HTTP (%(default)s)")
    parser.add_argument("--grpc-port", type=int, default=8081, help="for gRPC (%(default)s)")
    words = "a model's name (default: its file's, without the suffix); may be repeated, in order"
    parser.add_argument("--name", action="append", default=[], help=words)
    words = "the token that requests must send as Bearer (default: the variable TALLOW_TOKEN)"
    parser.add_argument("--token", help=words)
    group = parser.add_argument_group("a lent device, instead of models")
    words = 'run plans for tl.open_device("remote:http://HOST:PORT", token=...)'
    group.add_argument("--compute", action="store_true", help=words)
    group.add_argument("--memory-gb", type=float, default=4.0, metavar="GB",
                       help="for each borrower (%(default)s)")  # fmt: skip
    group.add_argument("--borrowers", type=int, default=4, metavar="N",
                       help="at a time (%(default)s)")  # fmt: skip
    group = parser.add_argument_group("batches and limits")
    group.add_argument("--max-batch", type=int, default=32, metavar="ROWS",
                       help="rows computed at once (%(default)s); 1: no batches")  # fmt: skip
    group.add_argument("--batch-wait-ms", type=float, default=2.0, metavar="MS",
                       help="how long a request waits for others (%(default)s)")  # fmt: skip
    group.add_argument("--max-queue", type=int, default=256, metavar="N",
                       help="requests that wait for a model (%(default)s)")  # fmt: skip
    group.add_argument("--max-body-mb", type=float, default=64.0, metavar="MB",
                       help="a request's size (%(default)s)")  # fmt: skip
    group.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS",
                       help="until a request is refused (%(default)s)")  # fmt: skip
    group.add_argument("--drain", type=float, default=0.0, metavar="SECONDS",
                       help="to answer on at the end, no longer ready (%(default)s)")  # fmt: skip
    group.add_argument("--grace", type=float, default=30.0, metavar="SECONDS",
                       help="for requests in hand at the end (%(default)s)")  # fmt: skip
    group.add_argument("--warm", action="store_true",
                       help="compile the plans of all batch sizes at the start")  # fmt: skip
    group = parser.add_argument_group("files of weights")
    words = "the network that the weights are for: a name of tl.zoo, or package.module:function"
    group.add_argument("--module", metavar="NAME", help=words)
    words = "the shape of its input, without the batch: 3,224,224"
    group.add_argument("--input-shape", metavar="SHAPE", help=words)
    group = parser.add_argument_group("pictures")
    words = "subtracted from values 0..255: one, or one per channel (default: the card's, or 0)"
    group.add_argument("--mean", type=numbers_of, metavar="M", help=words)
    words = "divides them next: one, or one per channel (default: the card's, or 255)"
    group.add_argument("--std", type=numbers_of, metavar="S", help=words)
    words = "labels of the classes: a list in JSON, or a line each (default: the card's)"
    group.add_argument("--labels", metavar="FILE", help=words)


def command(options: argparse.Namespace) -> None:
    """Serves until SIGTERM or SIGINT."""
    if not options.host:
        raise OptionError("--host is empty, which would let every machine in; say 0.0.0.0 for that")
    for name in ("port", "grpc_port"):
        if not 0 <= getattr(options, name) < 1 << 16:
            raise OptionError(f"--{name.replace('_', '-')} {getattr(options, name)}: is no port")
    logging.basicConfig(stream=sys.stderr, format="tallow: %(message)s", level=logging.WARNING)
    logging.getLogger("tallow.serve").setLevel(logging.INFO)
    if options.compute:
        _lend(options)
    else:
        _serve(options)


def _lend(options: argparse.Namespace) -> None:
    from ..runtime.device import backend
    from ..serve.compute import Terms, new_token, run

    if options.model:
        raise OptionError("serve: --compute takes no model; serve models in another process")
    _positive("memory_gb", options.memory_gb)
    _positive("borrowers", options.borrowers, whole=True)
    token = _token(options)
    terms = Terms(token or new_token(), round(options.memory_gb * 1e9), options.borrowers)
    device = backend(_DEVICES.get(options.device))
    run(device, terms, options.host, options.port, tell=token is None)


def _serve(options: argparse.Namespace) -> None:
    from ..serve.addresses import Address
    from ..serve.pictures import preparation_of
    from ..serve.repository import sources_of
    from ..serve.server import run
    from ..serve.serving import Limits

    if not options.model:
        raise OptionError("serve: name a model, such as model.onnx, or lend a device: --compute")
    for name in ("max_batch", "max_queue"):
        _positive(name, getattr(options, name), whole=True)
    for name in ("max_body_mb", "timeout", "grace"):
        _positive(name, getattr(options, name))
    if not 0 <= options.batch_wait_ms <= 10_000:
        raise OptionError(f"--batch-wait-ms {options.batch_wait_ms:g}: give 0 to 10000")
    if not 0 <= options.drain <= 3600:
        raise OptionError(f"--drain {options.drain:g}: give 0 to 3600")
    limits = Limits(
        options.max_batch,
        options.batch_wait_ms / 1000,
        options.max_queue,
        round(options.max_body_mb * 1e6),
        options.timeout,
        options.drain,
        options.grace,
    )
    sources = sources_of(options.model, options.name, _spec(options))
    preparations = {
        each.name: preparation_of(each.path, options.mean, options.std, options.labels)
        for each in sources
    }
    sizes = [1 << i for i in range(options.max_batch.bit_length())] if options.warm else [1]
    run(
        sources,
        preparations,
        Address(options.host, options.port, options.grpc_port),
        limits,
        device=_DEVICES.get(options.device),
        token=_token(options),
        warm=sizes,
    )


def _token(options: argparse.Namespace) -> str | None:
    """The token that was given, if one was: an empty variable is none, an empty option a mistake,
    such as a variable of the shell that is not set."""
    found = os.environ.get("TALLOW_TOKEN") or None if options.token is None else options.token
    if found is not None and not re.fullmatch("[!-~]+", found):
        raise OptionError(
            "the token (--token or TALLOW_TOKEN) is empty, or has spaces, line breaks or letters "
            "that a header cannot have; give visible ASCII characters"
        )
    return found


def _positive(name: str, value: float, whole: bool = False) -> None:
    if not (math.isfinite(value) and value >= (1 if whole else 0) and value):
        raise OptionError(f"--{name.replace('_', '-')} {value:g}: too little")
    if value > 1e9:
        raise OptionError(f"--{name.replace('_', '-')} {value:g}: too much")


def _spec(options: argparse.Namespace) -> ModuleSpec | None:
    from ..serve.models import ModuleSpec

    if options.module is None:
        return None
    parts = (options.input_shape or "").split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise OptionError("--module: give --input-shape too, such as 3,224,224")
    return ModuleSpec(options.module, tuple(map(int, parts)))
