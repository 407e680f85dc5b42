"""Linear layers and containers."""

from __future__ import annotations

from ..case import case

case("linear", lambda t: t.nn.Linear(4, 3), (2, 4))
case("linear-no-bias", lambda t: t.nn.Linear(4, 3, bias=False), (2, 5, 4))
case("linear-unbatched", lambda t: t.nn.Linear(4, 3), (4,))
case("identity", lambda t: t.nn.Identity(1, a=2), (2, 4))
case("sequential", lambda t: t.nn.Sequential(t.nn.Linear(4, 3), t.nn.Linear(3, 2)), (2, 4))
case("F.linear", lambda t: t.nn.functional.linear, (2, 4), (3, 4), (3,))
