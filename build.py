#!/usr/bin/env python3
"""Tallow's build tool: python3 build.py serve | test | build | check | bench | run | models.

It needs Python 3.11+ and Node 20+, and imports only the standard library. py/tallow_build does the
work and creates the virtual environment and everything else that a command needs.
"""

import os
import sys

# In syntax that older versions of Python understand; the linter assumes a newer one.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        "Tallow needs Python 3.11 or newer; %s is Python %d.%d. "
        "Start build.py with a newer one, for example: python3.12 build.py serve"
        % (sys.executable, sys.version_info[0], sys.version_info[1])
    )

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "py"))

if __name__ == "__main__":
    from tallow_build.cli import main

    sys.exit(main(sys.argv[1:]))
