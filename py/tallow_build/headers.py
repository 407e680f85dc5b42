"""The headers that every host should send with the page; docs/guide.md says how, for some hosts.

Some hosts send none of ours. So the policy stands in the documents too (documents.py), as far as it
can; workers, which have no document, are without one there.

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

# What browsers take from the header alone.
_HEADER_ONLY = {"frame-ancestors", "report-uri", "sandbox"}

# A worker has the policy that its own script came with.
_EVALUATES = re.compile(r"worker/script(-[0-9a-f]+)?\.js")

_CACHED = {False: "no-cache", True: "public, max-age=31536000, immutable"}


def policy_in(path: str) -> str:
    """The policy that a document carries itself, by its path under dist/."""
    told = {name: value for name, value in _policy(path).items() if name not in _HEADER_ONLY}
    return _joined(told)


def headers_for(path: str) -> dict[str, str]:
    """The headers of a file, by its path under dist/, with forward slashes."""
    return {
        "Cache-Control": _CACHED[is_hashed(path)],
        "Content-Security-Policy": _joined(_policy(path)),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }


def _policy(path: str) -> dict[str, str]:
    policy = dict(_POLICY)
    if _EVALUATES.fullmatch(path):
        policy["script-src"] += " 'unsafe-eval'"
    return policy


def _joined(policy: dict[str, str]) -> str:
    return "; ".join(f"{name} {value}" for name, value in policy.items())
