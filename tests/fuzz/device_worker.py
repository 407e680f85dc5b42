"""Like program_worker.py, for this machine's Python, with limits on each case.

python device_worker.py DEVICE         reads names of request files from standard input
"""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.fuzz import limits, program_worker


def main() -> None:
    """Answers requests until standard input ends."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        for case in json.loads(Path(line.strip()).read_text("utf-8")):
            limits.begin()
            print(json.dumps(asyncio.run(program_worker.run(case, sys.argv[1]))), flush=True)


if __name__ == "__main__":
    main()
