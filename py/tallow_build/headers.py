"""The headers that every host should send with the page; docs/guide.md says how, for some hosts.

The page needs nothing from anywhere else, and runs no text as code; WebAssembly, which Pyodide is,
has a permission of its own. python.html is for running one's own Python, to which Pyodide offers
JavaScript's `eval`.
"""

from __future__ import annotations

import re

from .site import is_hashed

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self' 'wasm-unsafe-eval'",
    "worker-src": "'self'",
    "connect-src": "'self'",
    "img-src": "'self' blob: data:",
    "media-src": "'self' blob:",
    "style-src": "'self'",
    "manifest-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}

# A worker has the policy that its own script came with.
_EVALUATES = re.compile(r"worker/script(-[0-9a-f]+)?\.js")

_CACHED = {False: "no-cache", True: "public, max-age=31536000, immutable"}


def headers_for(path: str) -> dict[str, str]:
    """The headers of a file, by its path under dist/, with forward slashes."""
    policy = dict(_POLICY)
    if _EVALUATES.fullmatch(path):
        policy["script-src"] += " 'unsafe-eval'"
    return {
        "Cache-Control": _CACHED[is_hashed(path)],
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
