"""How facts are compared; the dict and the list that count their own changes."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from tests.unit.runtime.fact_cases import Case, X, nothing

import tallow as tl
from tallow import nn, optim
from tallow.facts import Items, Table, identity


def test_identities() -> None:
    different = [1, 1.0, True, 0, 0.0, -0.0, False, None, "1", b"1", (1,), [1], (1.0,), {"a": 1},
                 {"a": 1.0}, {1}, frozenset({1}), float("nan"), 1j, np.float32(1), np.int32(1),
                 nn.Linear(1, 1), nn.Linear(1, 1), tl.Variable(1), tl.Variable(1), tl.asarray(1),
                 nothing, Case, np.zeros(1), np.zeros(1), Items([1]), Items([1])]  # fmt: skip
    found = [identity(value) for value in different]
    for n, one in enumerate(found):
        assert [m for m, other in enumerate(found) if one == other] == [n], different[n]
        assert one == identity(different[n])
    assert identity([1, (2, {"a": 3.0})]) == identity([1, (2, {"a": 3.0})])
    model = nn.Linear(1, 1)
    assert identity(model.extra_repr) == identity(model.extra_repr)
    endless: list[Any] = []
    endless.append(endless)
    assert identity(endless) == identity(endless)


def test_tables_and_items_are_a_dict_and_a_list() -> None:
    table: Table[str, int] = Table("Net", "table", {"a": 1})
    table.update(b=2)
    table |= {"c": 3}
    assert table.setdefault("d", 4) == 4 and table.setdefault("a", 9) == 1
    assert table == {"a": 1, "b": 2, "c": 3, "d": 4} and dict(table) == {**table} == table.copy()
    assert table.pop("a") == 1 and table.pop("a", 7) == 7 and table.popitem() == ("d", 4)
    assert "b" in table and len(table) == 2 and list(table) == ["b", "c"]
    for other in (copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert type(other) is Table and other == table and other.name == "table"
    table.clear()
    assert not table
    items = Items([3, 1])
    items += [2]
    items.sort()
    assert items == [1, 2, 3] and items.pop() == 3 and type(items) is Items
    assert copy.deepcopy(items) == items


@pytest.mark.parametrize("change", ["append", "pop", "set", "del", "add", "sort", "clear"])
def test_every_change_of_a_list_counts(change: str) -> None:
    first, second = nn.Parameter(np.ones(2, np.float32)), nn.Parameter(np.ones(2, np.float32))
    optimizer = optim.SGD([first, second], lr=0.5)
    jitted = tl.jit(lambda x: (optimizer.step(), x)[1], device="numpy")
    jitted(tl.asarray(X))
    listed = optimizer.param_groups[0]["params"]
    {
        "append": lambda: listed.append(nn.Parameter(X)),
        "pop": lambda: listed.pop(),
        "set": lambda: listed.__setitem__(0, nn.Parameter(X)),
        "del": lambda: listed.__delitem__(slice(0, 1)),
        "add": lambda: listed.__iadd__([nn.Parameter(X)]),
        "sort": lambda: listed.sort(key=lambda p: -p.number),
        "clear": lambda: listed.clear(),
    }[change]()
    jitted(tl.asarray(X))
    assert jitted.plans == 2
