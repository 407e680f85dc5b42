"""Runs programs as `tallow run SCRIPT.py --as-torch --device numpy` does:

    python -m tests.programs.forked

Reads lines of JSON, [script, folder]. Each program runs in that folder, in a process forked from
this one, which has imported what all of them import: that takes three times as long as a program.
Answers each with a line of JSON, [exit status, standard output, standard error].
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

import tallow.data
import tallow.devices.numpy.runner
import tallow.nn
import tallow.optim
import tallow.torch  # noqa: F401
from tallow.cli import script


def attempt(program: str) -> None:
    """Runs a program in this process, which it ends."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    status = 1
    try:
        script.run([program, "--as-torch", "--device", "numpy"])
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main() -> None:
    """Answers until standard input ends."""
    for line in sys.stdin:
        program, folder = json.loads(line)
        child = os.fork()
        if not child:
            os.chdir(folder)
            attempt(program)
        _, status = os.waitpid(child, 0)
        written = [Path(folder, name).read_text("utf-8") for name in ("stdout", "stderr")]
        print(json.dumps([os.waitstatus_to_exitcode(status), *written]), flush=True)


if __name__ == "__main__":
    main()
