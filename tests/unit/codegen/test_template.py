"""Kernel templates: what a line becomes, and what a mistake in one says."""

from __future__ import annotations

from typing import Any

import pytest

from tallow import OptionError
from tallow.devices.webgpu.codegen.kernels import SCHEDULES
from tallow.devices.webgpu.codegen.schedule import sources
from tallow.devices.webgpu.codegen.template import expand, parse


def made(text: str, **values: Any) -> str:
    """Of a template that may include two others."""
    files = {"main": text, "sum": "let sum = ${X};", "deep": "//#if X\n//#include sum\n//#end"}
    return expand(parse("main", files.__getitem__), values).rstrip("\n")


def test_lines_without_directives_stay() -> None:
    text = "// a comment\n\n@compute fn main() { let x = vec4f(); } // {} $ #"
    assert made(text) == text


@pytest.mark.parametrize(("wide", "line"), [(True, "let a = 2;"), (False, "let a = 1;")])
def test_one_of_two_kinds_of_lines(wide: bool, line: str) -> None:
    text = "//#if WIDE\nlet a = 2;\n//#else\nlet a = 1;\n//#end\nlet b = a;"
    assert made(text, WIDE=wide) == f"{line}\nlet b = a;"


def test_lines_for_each_value_and_names_for_them() -> None:
    text = "//#for i in range(N)\n//#let last = i == N - 1\n  a${i}${'!' if last else ''}\n//#end"
    assert made(text, N=3) == "a0\n  a1\n  a2!"


def test_a_name_ends_with_its_lines() -> None:
    with pytest.raises(OptionError, match="main:5: 'twice': name 'twice' is not defined"):
        made("//#for i in range(2)\n//#let twice = 2 * i\n${twice}\n//#end\n${twice}")


def test_directives_behind_a_line_nest_from_the_last() -> None:
    text = "s${r}${c}; //#for c in 'ab' //#for r in range(2) //#if N"
    assert made(text, N=1) == "s0a;\ns0b;\ns1a;\ns1b;"
    assert made(text, N=0) == ""


def test_templates_include_others() -> None:
    assert made("//#include deep\nlet y = sum;", X=7) == "let sum = 7;\nlet y = sum;"


def test_indices_and_lists() -> None:
    text = "f(${each('a[x#]', FOUR)}, b${plus(0)}, b${plus(5)})"
    assert made(text) == "f(a[x], a[x + 1u], a[x + 2u], a[x + 3u], b, b + 5u)"


def test_comments_of_the_template_are_left_out() -> None:
    assert made("//# ROWS: of a tile.\n// kept") == "// kept"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a\n${ROWS}", "main:2: 'ROWS': name 'ROWS' is not defined"),
        ("//#if TILE > 4\n//#end", "main:1: 'TILE > 4': '>' not supported"),
        ("//#for i in TILE + 1\n//#end", "main:1: 'TILE . 1': can only concatenate"),
        ("a; //#if (", r"main:1: '\(': '\(' was never closed"),
        ("${open('file')}", "main:1: .*name 'open' is not defined"),
        ("a\n//#include deep", "deep:1: 'X': name 'X' is not defined"),
        ("//#repeat 4", "main:1: //#repeat has no meaning here"),
        ("a\n//#end", "main:2: //#end has no meaning here"),
        ("//#for i in TILE\n//#else\n//#end", "main:2: //#else has no meaning here"),
        ("//#if TILE\na", "main:1: //#if has no //#end"),
    ],
)
def test_a_mistake_is_told_with_its_file_and_line(text: str, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        made(text, TILE="wide")


def test_a_kernel_without_a_parameter_is_told_with_the_line_that_needs_it() -> None:
    template = parse("depthwise_strip.wgsl", sources().__getitem__)
    with pytest.raises(OptionError, match=r"depthwise_strip\.wgsl:\d+: .*'SIZE' is not defined"):
        expand(template, {"PIXELS": 4, "LINES": 28})


_BLOCKS = {
    "BITS": 4, "TURN": "0u", "ZERO": 8, "BLOCK": 32, "BLOCKS": 2, "MINIMA": True,
}  # fmt: skip

OF_NODES: dict[str, dict[str, Any]] = {
    "attention": {"SIZE": 8, "WIDE": 8},
    "product_blocks": _BLOCKS,
    "product_blocks_tall": _BLOCKS,
}
"""What nodes decide, by templates."""


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
def test_every_kernel_is_whole(schedule: Any) -> None:
    """No directive is left, and it says what its schedule says."""
    text = schedule.text(**OF_NODES.get(schedule.file, {}))
    assert "//#" not in text
    assert "${" not in text
    assert text.count("fn main(") == 1
    assert text.count("{") == text.count("}")
    assert all(f"{load.function}(" in text for load in schedule.loads)
    assert "store_out(" in text
    assert "@workgroup_size({}, {}, {})".format(*schedule.workgroup) in text
    assert ("enable subgroups;" in text) == schedule.quad
    assert ("enable f16;" in text) == schedule.half
