"""Kills a run at random moments, and has it go on, until it was killed often enough:

    python -m tests.unit.train.killed DEVICE KILLS

Prints the figures and the weights of the run in the end, as JSON. Each attempt is a process that is
forked from this one, which has imported everything.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random

import tallow as tl

from .problem import figures, learner, loaders, weights

EPOCHS = 3


def attempt(folder: Path, device: str) -> None:
    """Begins the run, or goes on with it."""
    tl.set_default_device(device)  # here, as an engine's threads would not survive the fork
    trained = learner(folder, checkpoint_every=1)
    train, valid = loaders()
    assert trained.folder is not None
    go_on = trained.resume if trained.folder.names() else trained.fit
    go_on(train, valid, epochs=EPOCHS)
    (folder / "result").write_text(json.dumps([figures(trained), weights(trained)]))


def main(device: str, kills: int) -> None:
    random, killed, longest = Random(7), 0, 0.05
    while True:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            while not (folder / "result").exists():
                started = time.monotonic()
                child = os.fork()
                if not child:
                    attempt(folder, device)
                    os._exit(0)
                if killed < kills:
                    time.sleep(random.uniform(0, longest))
                    os.kill(child, signal.SIGKILL)
                _, status = os.waitpid(child, 0)
                if os.WIFSIGNALED(status):
                    killed += 1
                    longest *= 1.1  # where nothing was reached
                else:
                    assert status == 0, f"the attempt ended with {status}"
                    longest = (time.monotonic() - started) / 2
            if killed >= kills:
                print((folder / "result").read_text())
                return


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
