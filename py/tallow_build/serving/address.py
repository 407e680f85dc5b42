"""Opens the port that a server listens on, and explains failures."""

from __future__ import annotations

import errno
import socket
import sys

from ..errors import BuildError

_REASONS = {
    errno.EADDRINUSE: "another program is using that port",
    errno.EACCES: "this user may not open that port",
    errno.EADDRNOTAVAIL: "this machine has no such address",
}


def listen(host: str, port: int) -> socket.socket:
    """A socket listening on host and port (0: any free port). Raises BuildError."""
    step = f"Listening on {host} port {port}"
    if not 0 <= port <= 65535:
        raise BuildError(step, "a port must be a number from 0 to 65535", "choose another --port")
    remedy = "choose another: --port 0 uses any free port, --host 127.0.0.1 is this machine only"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise BuildError(
            step, f"{host} is not an address of this machine: {error}", remedy
        ) from error
    listener = socket.socket(family, kind, protocol)
    try:
        if sys.platform != "win32":  # there it would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        why = _REASONS.get(error.errno or 0, str(error))
        raise BuildError(step, why, remedy) from error
    return listener


def url(listener: socket.socket) -> str:
    """The address to type into a browser, with a trailing slash."""
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "localhost"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
