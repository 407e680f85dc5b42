"""What docs/tutorial.md tells its reader to save and to run, taken from its code blocks."""

from __future__ import annotations

import re

from tallow_build.paths import ROOT

_TEXT = (ROOT / "docs" / "tutorial.md").read_text("utf-8")

BLOCKS = re.findall(r"^```python\n(.*?)^```", _TEXT, re.M | re.S)
"""The Python of colors.py, in order."""

(INDEX_HTML,) = re.findall(r"^```html\n(.*?)^```", _TEXT, re.M | re.S)
"""The reader's own page."""

(PYTHON_OF_PAGE,) = re.findall(r"runPythonAsync\(`\n(.*?)`\)", INDEX_HTML, re.S)

(COLLECT,) = re.findall(r"((?:^    (?:mkdir|cp) .*\n)+)", _TEXT, re.M)
"""The shell commands that collect the page's folder, `mine`."""
