"""The walk over a fused group, with an emitter for a language of its own: Python's expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.codegen.index import Atom, Coord, Coords, variable
from tallow.codegen.walk import Key, Walk
from tallow.core.dtype import float32
from tallow.devices.wasm.codegen.expression import Expression as WasmExpression
from tallow.devices.webgpu.codegen.expression import Expression as WgslExpression
from tallow.graph import Node, input_node, topological
from tallow.ops.kinds import Pick
from tallow.tensor import Tensor


def text(coord: Coord) -> str:
    """A coordinate in Python."""
    if isinstance(coord, int):
        return str(coord)
    return " + ".join([*(f"{c} * {atom(a)}" for c, a in coord.terms), str(coord.const)])


def atom(part: Atom) -> str:
    """A part of one."""
    if part.kind == "variable":
        return part.name
    return f"(({text(part.index)}) {'//' if part.kind == 'quotient' else '%'} {part.divisor})"


class PythonExpression(Walk[str, str]):
    """Single elements, as expressions of flat lists."""

    def __init__(self, stored: dict[Node, str]) -> None:
        super().__init__(stored, flat=False)
        self.names = stored
        self.kept: dict[Key, str] = {}

    def _known(self, key: Key) -> str | None:
        return self.kept.get(key)

    def _keep(self, key: Key, code: str) -> str:
        self.kept[key] = code
        return code

    def _again(self, value: str) -> str:
        return value

    def _constant(self, node: Node, width: int) -> str:
        return repr(node.attrs["data"].item())

    def _read(self, node: Node, linear: Coord, width: int) -> str:
        return f"{self.names[node]}[{text(linear)}]"

    def _elementwise(self, node: Node, operands: Sequence[str], width: int) -> str:
        return f" { ({'add': '+', 'multiply': '*'}[node.op.name]) } ".join(operands).join("()")

    def _reduced(self, node: Node, coords: Coords, width: int) -> str:
        raise NotImplementedError

    def _iota(self, node: Node, coords: Coords, width: int) -> str:
        return text(coords[node.attrs["axis"]])

    def _position(self, index: Node, at: Coords, size: int) -> Coord:
        return variable(f"int({self.value(index, at)})", size)

    def start(self, index: Node, size: int, region: int) -> Coord:
        return variable(f"min(max(int({self.value(index, ())}), 0), {size - region})", size)

    def _one_by_one(self, node: Node, lanes: Sequence[Coords]) -> str:
        raise NotImplementedError

    def _chosen(self, node: Node, picks: Sequence[Pick], width: int, splats: bool) -> str:
        code = repr(node.attrs.get("value", 0))
        for pick in reversed(picks):
            tests = [f"{low} <= {text(coord)} < {high}" for coord, low, high in pick.when]
            test = " and ".join(tests) or "True"
            code = f"({self._picked(node, pick, 1, False)} if {test} else {code})"
        return code

    def _splat(self, value: str, node: Node) -> str:
        return value

    def _other(self, node: Node) -> str:
        raise NotImplementedError(str(node))


X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize(
    "build",
    [
        lambda x: x * 2 + x,
        lambda x: x.mT.reshape((2, 3)) * x,
        lambda x: tl.concat([x, x * 3], axis=1) + 1,
        lambda x: tl.pad(x, [(1, 0), (0, 2)], 7.0) * 2,
        lambda x: tl.broadcast_to(x[:, 1:2], (2, 5)) + tl.flip(x[:1, :1], axis=1),
        lambda x: tl.take(x, tl.asarray([2, 0, 1, 1]), axis=1),
        lambda x: tl.slice_at(x, (0, tl.asarray([1, 0])[0]), (2, 2)),
    ],
    ids=["arithmetic", "permuted and reshaped", "joined", "padded", "spread", "looked up", "at"],
)
def test_a_group_as_python(build: Callable[[Any], Any]) -> None:
    given = input_node("x", X.shape, float32)
    root = build(Tensor(given)).node
    wanted = build(tl.asarray(X)).numpy()
    constants = [x for x in topological([root]) if x.is_constant and not x.is_scalar_constant]
    numbers = {f"k{n}": node.attrs["data"].flat() for n, node in enumerate(constants)}
    body = PythonExpression({given: "x", **dict(zip(constants, numbers, strict=True))})
    at = tuple(variable(f"c{axis}", dim) for axis, dim in enumerate(root.shape))
    code = compile(body.value(root, at), "group", "eval")
    got = np.zeros(root.shape, np.float32)
    for index in np.ndindex(root.shape):
        names = {f"c{axis}": number for axis, number in enumerate(index)}
        got[index] = eval(code, {"x": X.reshape(-1).tolist(), **numbers, **names})  # our own text
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("emitter", [WgslExpression, WasmExpression])
def test_both_languages_take_the_same_walk(emitter: type) -> None:
    shared = ("value", "give", "know", "end", "_compute", "_linear", "_picks")
    assert issubclass(emitter, Walk)
    assert not [name for name in shared if name in vars(emitter)]
