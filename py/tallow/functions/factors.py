"""The order of arguments in PyTorch's first versions, whose programs are still about: a factor
stands before the tensors that it multiplies, as in `x.addcmul_(0.1, a, b)`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def factor_first(name: str, count: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Has a function of `count` tensors take its factor, the option of this name, in the second
    place too, when there is one argument more than tensors."""

    def taking(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*given: Any, **options: Any) -> Any:
            if len(given) == count + 1:
                options[name] = given[1]
                given = (given[0], *given[2:])
            return function(*given, **options)

        return call

    return taking
