"""Why a node does not run on the device: a code with details, which the page's languages put into
words (web/i18n/), and their English."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import OnnxUnsupportedError

_ENGLISH = {
    "DECIDES": "it decides what is computed",
    "HOST_ALONE": "its result can only be computed on the host",
    "NO_NUMBERS": "it is about texts, sequences or optionals",
    "IN_FLOAT64": "it computes in float64, which GPUs lack",
    "IN_64_BITS": "its 64-bit integers may be larger than the 32 bits that GPUs compute",
    "KNOWN_FIRST": "{0} must be known when the model is loaded, but it is computed from its inputs "
    "(or is too large to compute in advance)",
    "NO_OPERATOR": "Tallow has no such operator",
    "NOT_IMPORTED": "the model does not import its operator set",
    "DEFINED_LATER": "it was first defined in operator set {0}",
    "OPERATOR_SETS": "Tallow supports it in operator sets {0} to {1}",
    "REFUSED": "{0}",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason; an error may have one as its message. Only REFUSED has no words of its own: its
    detail is the message of the operator that refused the node."""

    code: str
    details: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        return _ENGLISH[self.code].format(*self.details)

    @classmethod
    def of(cls, error: OnnxUnsupportedError) -> Reason:
        """The reason that an error gives."""
        said = error.args[0]
        return said if isinstance(said, cls) else cls("REFUSED", (str(said),))


DECIDES = Reason("DECIDES")
HOST_ALONE = Reason("HOST_ALONE")
NO_NUMBERS = Reason("NO_NUMBERS")
IN_FLOAT64 = Reason("IN_FLOAT64")
IN_64_BITS = Reason("IN_64_BITS")
