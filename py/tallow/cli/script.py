"""`run SCRIPT.py`: a Python program; with --as-torch, its `import torch` finds `tallow.torch`."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import OptionError
from ..runtime.device import DEVICES, set_default_device


def is_script(argv: Sequence[str]) -> bool:
    """Whether the arguments of the command line run a Python program: run, and a name in .py."""
    names = [each for each in argv[1:] if not each.startswith("-")]
    return bool(argv and argv[0] == "run" and any(name.endswith(".py") for name in names))


def run(argv: Sequence[str]) -> None:
    """Runs the program, as `python SCRIPT.py` does; what it raises is not caught.

    argv: what follows `run`: the options below and SCRIPT.py, in any order; all else, and whatever
    follows "--", is the program's. Raises OptionError for a program that is not there.
    """
    given = list(argv)
    end = given.index("--") if "--" in given else len(given)
    ours, theirs = given[:end], given[end + 1 :]
    parser = argparse.ArgumentParser(prog="tallow run", allow_abbrev=False)
    parser.add_argument("script", metavar="SCRIPT.py", help="a Python program")
    parser.add_argument(
        "--as-torch",
        action="store_true",
        help="has `import torch` find tallow.torch, and `import torchvision` tallow.vision",
    )
    parser.add_argument("--device", choices=tuple(DEVICES), help="default: the fastest one")
    options, further = parser.parse_known_args(ours)
    script = Path(options.script)
    if not script.is_file():
        raise OptionError(f"run: {options.script} is not a file")
    if options.device is not None:
        set_default_device(options.device)
    if options.as_torch:
        import tallow.torch

        tallow.torch.install()
    sys.argv = [options.script, *further, *theirs]
    sys.path.insert(0, str(script.resolve().parent))
    runpy.run_path(options.script, run_name="__main__")
