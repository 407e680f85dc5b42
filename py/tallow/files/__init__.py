"""Files from the net: fetched once, checked, kept.

found = fetch(File("labels.txt", ("https://example.org/labels.txt",), checksum="sha256:..."))
text = found.read().decode()
"""

from .fetching import fetch, fetch_async, fetching
from .file import Fetched, File, Local, Npm, Progress, ProgressOfSeveral, home, set_mirror

__all__ = [
    "Fetched", "File", "Local", "Npm", "Progress", "ProgressOfSeveral", "fetch", "fetch_async",
    "fetching", "home", "set_mirror",
]  # fmt: skip
