"""The hand-written kernels of recurrent layers, forward, backward and of 8 bits."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

from ....core.shape import Shape
from ....graph import Node
from ....ops import dynamic_recurrence, recurrence, recurrence_training
from .schedule import Load, Schedule, Tile


def _by_gates(operand: int, size: Callable[[Node], int]) -> Callable[[Node], Shape]:
    """The shape of an operand, or of the result for -1, with the gates on an axis of their own."""

    def space(node: Node) -> Shape:
        *outer, width = node.shape if operand < 0 else node.inputs[operand].shape
        return *outer, width // size(node), size(node)

    return space


def _recurrence_numbers(node: Node) -> dict[str, Any]:
    _, directions, batch, size = node.shape
    keeps = node.op is recurrence_training.recurrence_kept
    return {
        **_layer_numbers(node.attrs, node.inputs[0].shape[0], directions, batch, size),
        "KEEPS": keeps,
    }


def _layer_numbers(
    attrs: Mapping[str, Any], time: int, directions: int, batch: int, size: int
) -> dict[str, Any]:
    numbers = {
        "TIME": time,
        "START": attrs["start"],
        "STEPS": attrs["steps"],
        "BATCH": batch,
        "DIRECTIONS": directions,
        "HIDDEN": size,
        "BACKWARD": sum(back << direction for direction, back in enumerate(attrs["backward"])),
        "CLIP": _bits(attrs["clip"]),
        "INPUT_FORGET": int(attrs["input_forget"]),
        "GATES": recurrence.GATES[attrs["cell"]],
        "LINEAR": bool(attrs["linear_before_reset"]) and attrs["cell"] == "gru",
    }
    unused = [("Tanh", 0.0, 0.0)] * (3 - len(attrs["activations"]))
    for index, (name, alpha, beta) in enumerate([*attrs["activations"], *unused]):
        number = list(recurrence.ACTIVATIONS).index(name)
        numbers |= {f"FUNCTION_{index}": number}
        numbers |= {f"ALPHA_{index}": _bits(alpha), f"BETA_{index}": _bits(beta)}
    return numbers


def _bits(value: float) -> int:
    """A float32 as a whole number."""
    return int.from_bytes(struct.pack("<f", value), "little")


def _recurrence_extent(node: Node, tile: Tile) -> tuple[int, int, int]:
    """A workgroup for each sequence of each direction."""
    _, directions, batch, _ = node.shape
    return 1, batch, directions


def _size(node: Node) -> int:
    return node.shape[3]


RECURRENCE = Schedule(
    "recurrence",
    "recurrence",
    (
        Load("load_x", 0, ("t", "b", "d", "gate", "unit"), _by_gates(0, _size)),
        Load("load_hidden", 1, ("d", "k", "unit"), lambda node: node.inputs[1].shape, ("k",), 4),
        Load("load_state", 2, ("number", "d", "b", "unit"), lambda node: node.inputs[2].shape),
        Load("load_extra", 3, ("d", "gate", "unit"), _by_gates(3, _size)),
        Load("load_length", 4, ("b",), lambda node: node.inputs[4].shape),
    ),
    ("row", "d", "b", "unit"),
    lambda node: node.shape,
    _recurrence_numbers,
    _recurrence_extent,
    Tile(),
    (256, 1, 1),
    width=1,
)


def _back_size(node: Node) -> int:
    return node.inputs[3].shape[3]


def _back_numbers(node: Node) -> dict[str, Any]:
    count, directions, batch, size = node.inputs[3].shape
    return _layer_numbers(node.attrs, node.inputs[0].shape[0] - count, directions, batch, size)


def _shape_of(operand: int) -> Callable[[Node], Shape]:
    return lambda node: node.inputs[operand].shape


def _weights_by_gates(node: Node) -> Shape:
    directions, width, size = node.inputs[2].shape
    return directions, width // size, size, size


RECURRENCE_BACK = Schedule(
    "recurrence_back",
    "recurrence_back",
    (
        Load("load_gradient", 0, ("t", "d", "b", "unit"), _shape_of(0)),
        Load("load_whole", 1, ("row", "d", "b", "unit"), _shape_of(1)),
        Load("load_hidden", 2, ("d", "gate", "unit", "column"), _weights_by_gates),
        Load("load_state", 3, ("number", "d", "b", "unit"), _shape_of(3)),
        Load("load_extra", 4, ("d", "gate", "unit"), _by_gates(4, _back_size)),
        Load("load_length", 5, ("b",), _shape_of(5)),
    ),
    ("row", "b", "d", "gate", "unit"),
    _by_gates(-1, _back_size),
    _back_numbers,
    lambda node, tile: (1, node.shape[1], node.shape[2]),
    Tile(),
    (256, 1, 1),
    width=1,
)


def _dynamic_numbers(node: Node) -> dict[str, Any]:
    rows, directions, batch, size = node.shape
    attrs = {**node.attrs, "cell": "lstm", "start": 0, "linear_before_reset": False}
    attrs["steps"] = rows - dynamic_recurrence.STATES
    return _layer_numbers(attrs, attrs["steps"], directions, batch, size)


def _dynamic_loads(first: int) -> tuple[Load, ...]:
    """Those of what follows the weights."""
    return (
        Load("load_scale", first, ("d", "gate", "unit"), _by_gates(first, _size)),
        Load("load_state", first + 1, ("number", "d", "b", "unit"), _shape_of(first + 1)),
        Load("load_extra", first + 2, ("d", "gate", "unit"), _by_gates(first + 2, _size)),
        Load("load_length", first + 3, ("b",), _shape_of(first + 3)),
    )


_WORDS = Load("load_hidden", 1, ("d", "k", "unit", "all"), _shape_of(1), width=4)


DYNAMIC_RECURRENCE = Schedule(
    "dynamic_recurrence",
    "dynamic_recurrence",
    (
        Load("load_x", 0, ("t", "b", "d", "gate", "unit"), _by_gates(0, _size)),
        _WORDS,
        *_dynamic_loads(2),
    ),
    ("row", "d", "b", "unit"),
    lambda node: node.shape,
    _dynamic_numbers,
    lambda node, tile: (1, 1, node.shape[1]),
    Tile(),
    (256, 1, 1),
    width=1,
    parameters={"STEP": False},
)

DYNAMIC_STEP = Schedule(
    "dynamic_step",
    "dynamic_recurrence",
    (
        Load("load_x", 0, ("b", "d", "gate", "unit"), lambda node: _by_gates(0, _size)(node)[1:]),
        _WORDS,
        Load("load_rounded", 2, ("d", "b", "at"), _shape_of(2)),
        *_dynamic_loads(3),
    ),
    ("row", "d", "b", "unit"),
    lambda node: node.shape,
    _dynamic_numbers,
    lambda node, tile: (node.shape[2] * node.shape[3], 1, node.shape[1]),
    Tile(),
    (64, 1, 1),
    width=1,
    parameters={"STEP": True},
)


def _state_numbers(node: Node) -> dict[str, Any]:
    _, batch, size = node.inputs[0].shape
    return {"BATCH": batch, "HIDDEN": size}


DYNAMIC_ROUND = Schedule(
    "dynamic_round",
    "dynamic_round",
    (
        Load("load_state", 0, ("d", "b", "unit"), _shape_of(0)),
        Load("load_length", 1, ("b",), _shape_of(1)),
    ),
    ("d", "b", "at"),
    lambda node: node.shape,
    _state_numbers,
    lambda node, tile: (1, 1, node.shape[0]),
    Tile(),
    (1, 1, 1),
    width=1,
)
