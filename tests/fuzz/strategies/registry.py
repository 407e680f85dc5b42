"""The table of strategies: which function draws cases of which operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from ..case import Case
from ..draft import Draft

Strategy = Callable[[Draft], Case]
FAMILIES: dict[str, dict[str, Strategy]] = {}


def draws(family: str, operators: str) -> Callable[[Strategy], Strategy]:
    """Registers the decorated function for operators of a family; names are separated by blanks."""

    def enter(function: Strategy) -> Strategy:
        table = FAMILIES.setdefault(family, {})
        for name in operators.split():
            if any(name in other for other in FAMILIES.values()):
                raise ValueError(f"{name} is registered twice")
            table[name] = function
        return function

    return enter


def cases(family: str, operators: Sequence[str]) -> st.SearchStrategy[Case]:
    """Cases of some operators of a family."""
    table = FAMILIES[family]

    @st.composite
    def drawn(draw: Callable[[Any], Any]) -> Case:
        op = draw(st.sampled_from(list(operators)))
        return table[op](Draft(draw, family, op))

    return drawn()
