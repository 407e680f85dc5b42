"""Where KServe cannot be installed, as on Python 3.14, only lent devices are tested: they need the
package `websockets` alone."""

from importlib.util import find_spec
from pathlib import Path

_LENT = ("test_messages.py", "test_remote_device.py")

collect_ignore = [
    each.name
    for each in Path(__file__).parent.glob("test_*.py")
    if each.name not in _LENT and find_spec("kserve") is None
]
