"""torch._six, which old programs import."""

import collections.abc as container_abcs

inf = float("inf")
string_classes = (str, bytes)
int_classes = int

__all__ = ["container_abcs", "inf", "int_classes", "string_classes"]
