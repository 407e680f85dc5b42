"""Who watches what the library does: nobody, or one object, such as telemetry's.

Rooms that do something worth a span ask `watching.watcher is not None`, and nothing else, before
they call it. So a program without telemetry neither imports anything for it nor becomes slower.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from ..binding import imported

if TYPE_CHECKING:
    from .watchers import Seen, Watcher

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
"""The variable of the environment that starts telemetry by itself."""


def ignore(results: Any) -> None:
    """Nobody looks at results."""


NOTHING: AbstractContextManager[Seen] = nullcontext(ignore)
"""A with block that nobody watches."""


def from_environment() -> Watcher | None:
    """Who watches as long as the program does not say."""
    disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if disabled or not os.environ.get(ENDPOINT):
        return None
    found: Watcher = imported("tallow.core.starting").AtFirstUse()
    return found


watcher: Watcher | None = from_environment()
"""Who watches; None is nobody."""
