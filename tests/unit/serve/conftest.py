"""Where KServe cannot be installed, as on Python 3.14, nothing of it is tested."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("kserve") else ["test_*.py"]
