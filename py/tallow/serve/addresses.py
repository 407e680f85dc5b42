"""Where a service listens."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Address:
    """The address of a service; port 0 is any that is free."""

    host: str = "127.0.0.1"
    port: int = 8080
    grpc_port: int = 8081


def place(host: str, port: int) -> str:
    """Host and port as a URL has them: 127.0.0.1:8080, or [::1]:8080."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
