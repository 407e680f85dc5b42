"""`tallow serve` whose models wait while the file HELD is there, so that a test, not the speed of
the machine, decides how long a run takes."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from tallow.cli import main
from tallow.serve import models

HELD = Path(os.environ["HELD"])


class Held(models.OnnxModel):
    """A model that waits."""

    def __call__(self, feeds: models.Arrays) -> models.Arrays:
        while HELD.exists():
            time.sleep(0.005)
        return super().__call__(feeds)


if __name__ == "__main__":
    setattr(models, "OnnxModel", Held)  # noqa: B010  # which `opened` calls
    sys.exit(main(["serve", *sys.argv[1:]]))
