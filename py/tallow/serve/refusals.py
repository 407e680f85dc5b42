"""What a refusal is in HTTP and in gRPC."""

from __future__ import annotations

import re

from ..errors import DataError, FeedError, ServiceError, TallowError

HTTP = {
    "invalid": 400,
    "token": 401,
    "missing": 404,
    "large": 413,
    "busy": 503,
    "unready": 503,
    "late": 504,
}
"""The status of each kind of refusal."""

GRPC = {
    "invalid": "INVALID_ARGUMENT",
    "token": "UNAUTHENTICATED",
    "missing": "NOT_FOUND",
    "large": "RESOURCE_EXHAUSTED",
    "busy": "UNAVAILABLE",
    "unready": "UNAVAILABLE",
    "late": "DEADLINE_EXCEEDED",
}
"""The name of grpc's StatusCode for each kind."""


def kind_of(error: Exception) -> str | None:
    """The kind of refusal that an error is; None for one of the server's own."""
    if isinstance(error, ServiceError):
        return error.kind
    return "invalid" if isinstance(error, (FeedError, DataError)) else None


def line_of(error: Exception) -> str:
    """An error in one line. What is not Tallow's own says its kind too."""
    text = re.sub(r"\s*\n\s*", "; ", str(error).strip())
    return text if isinstance(error, TallowError) and text else f"{type(error).__name__}: {text}"
