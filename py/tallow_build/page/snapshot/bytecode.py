"""Compiles the modules in archives. Runs in Pyodide, which has the same bytecode as the page.

The same archive always gives the same bytes: the code has no timestamps and is loaded without
checking its source. It has neither docstrings nor asserts.
"""

from __future__ import annotations

import base64
import hashlib
import importlib._bootstrap_external as loading
import io
import zipfile
from collections.abc import Sequence

_EPOCH = (1980, 1, 1, 0, 0, 0)


def compiled(archive: bytes, folder: str, left_out: Sequence[str]) -> bytes:
    """The archive with a .pyc instead of each .py, and without stubs; everything else unchanged.

    folder: where it will be installed, for tracebacks. left_out: path prefixes of modules to
    exclude. The record of a wheel is rewritten. Raises SyntaxError.
    """
    entries: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(archive)) as source:
        for path in source.namelist():
            if path.endswith(("/", ".pyi")) or path.startswith(tuple(left_out)):
                continue
            data = source.read(path)
            if path.endswith(".py"):
                entries[f"{path}c"] = _bytecode(data, f"{folder}/{path}")
            else:
                entries[path] = data
    record = next((path for path in entries if path.endswith(".dist-info/RECORD")), None)
    if record:
        del entries[record]
        rows = (f"{path},{_hash(data)},{len(data)}\n" for path, data in entries.items())
        entries[record] = f"{''.join(rows)}{record},,\n".encode()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for path, data in entries.items():
            target.writestr(zipfile.ZipInfo(path, _EPOCH), data, zipfile.ZIP_DEFLATED, 9)
    return made.getvalue()


def _bytecode(source: bytes, path: str) -> bytes:
    code = compile(source, path, "exec", dont_inherit=True, optimize=2)
    unchecked = loading._code_to_hash_pyc(code, bytes(8), False)  # type: ignore[attr-defined]
    return bytes(unchecked)


def _hash(data: bytes) -> str:
    raw = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"sha256={raw}"
