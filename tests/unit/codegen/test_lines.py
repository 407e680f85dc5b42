"""Lines of WGSL whose accesses are open until the widths of the bindings are known."""

from __future__ import annotations

from tallow.codegen.index import variable
from tallow.core.dtype import float32
from tallow.devices.webgpu.codegen.expression import Expression
from tallow.devices.webgpu.codegen.lines import Access, block, let, line, written
from tallow.graph import input_node

ACCESS = Access("b0", "b0[i]", "b0[(i / 4u)][(i % 4u)]")


def test_an_access_takes_the_form_that_its_binding_asks_for() -> None:
    lines = block("fn f(i: u32) -> f32", [let("v1", ("max(", ACCESS, ", 0f)")), line("return v1;")])
    head, tail = "fn f(i: u32) -> f32 {\n    let v1 = max(", ", 0f);\n    return v1;\n}"
    assert written([lines], {}) == f"{head}b0[i]{tail}"
    assert written([lines], {"b1": 4}) == f"{head}b0[i]{tail}"
    assert written([lines], {"b0": 4}) == f"{head}b0[(i / 4u)][(i % 4u)]{tail}"


def test_functions_have_a_blank_line_between_them() -> None:
    assert written([[line("a")], [line("b"), line("c")]], {}) == "a\n\nb\nc"


def test_a_change_reaches_both_forms() -> None:
    changed = let("v1", ACCESS).changed(lambda text: text.replace("4u", "4"))
    assert changed.text({"b0": 4}) == "let v1 = b0[(i / 4)][(i % 4)];"
    assert changed.text({}) == "let v1 = b0[i];"
    assert changed.is_open and changed.name == "v1"
    assert not line("return v1;").is_open


def test_another_function_may_widen_a_binding_that_was_read_singly() -> None:
    """No text has marks in it: what is open is a record."""
    x = input_node("x", (3, 8), float32)
    declared: dict[str, int] = {}
    single, four = (Expression({x: "b0"}, declared, {}) for _ in range(2))
    single.value(x, (0, variable("k", 8)), 1)
    assert written([single.lines], declared) == "let v1 = b0[k];"
    four.value(x, (0, variable("k", 2) * 4), 4)
    assert written([single.lines, four.lines], declared) == (
        "let v1 = b0[(k / 4u)][(k % 4u)];\n\nlet v1 = b0[k];"
    )
    assert all(text.isprintable() for each in single.lines for text in each.texts())
