"""The headers that every host should send with the page; docs/guide.md shows how for some hosts.

Some hosts can't send custom headers. So the documents also contain the policy (documents.py), as
far as possible; workers have no document and so no policy there.

The page needs nothing from other origins and evaluates no strings as code; WebAssembly, which
Pyodide uses, has a separate permission. It asks a hub for the models that the visitor names there.
WebSockets may lead elsewhere: to a machine that lends its device, whose address the visitor gives.
python.html runs the visitor's own Python, to which Pyodide offers JavaScript's `eval`.
"""

from __future__ import annotations

import re

from .site import is_hashed

# Why: docs/decisions/hub.md, "A page may ask Hugging Face's hub, and no other site"
_HUB = "https://huggingface.co https://*.huggingface.co https://*.hf.co"

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self' 'wasm-unsafe-eval'",
    "worker-src": "'self'",
    "connect-src": f"'self' {_HUB} wss: ws://localhost:* ws://127.0.0.1:*",
    "img-src": "'self' blob: data:",
    "media-src": "'self' blob:",
    "style-src": "'self'",
    "manifest-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}

# Directives that browsers accept only in a header.
_HEADER_ONLY = {"frame-ancestors", "report-uri", "sandbox"}

# A worker's policy comes from the headers of its script.
_EVALUATES = re.compile(r"worker/script(-[0-9a-f]+)?\.js")

_CACHED = {False: "no-cache", True: "public, max-age=31536000, immutable"}


def policy_in(path: str) -> str:
    """The policy for a document's own <meta> element, by its path under dist/."""
    policy = {name: value for name, value in _policy(path).items() if name not in _HEADER_ONLY}
    return _joined(policy)


def headers_for(path: str) -> dict[str, str]:
    """The headers of a file, by its path under dist/, with forward slashes."""
    return {
        "Cache-Control": _CACHED[is_hashed(path)],
        "Content-Security-Policy": _joined(_policy(path)),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Embedder-Policy": "require-corp",
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
