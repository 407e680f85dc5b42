"""The text of WebAssembly says what was assembled."""

from __future__ import annotations

from tallow.devices.wasm.codegen import assembler
from tallow.devices.wasm.codegen.assembler import Function, encode
from tallow.devices.wasm.codegen.disassembler import disassemble

IMMEDIATES = {
    **dict.fromkeys((*assembler.INDEXED, *assembler.LANE), (3,)),
    **dict.fromkeys((*assembler.ACCESS, *assembler.LANE_ACCESS), (70000,)),
    **dict.fromkeys(assembler.SIXTEEN, range(16)),
    "i32.const": (-129,),
    "i64.const": (1 << 40,),
    "f32.const": (-0.0,),
    "f64.const": (1e300,),
}
TABLES = (
    *(assembler.PLAIN, assembler.INDEXED, assembler.ACCESS, assembler.SATURATED),
    *(assembler.LANES, assembler.LANE, assembler.SIXTEEN, assembler.LANE_ACCESS),
    assembler.FLOATS,
)


def test_every_instruction_has_its_name_and_its_immediates() -> None:
    names = {name for table in TABLES for name in table} | {"i32.const", "i64.const"}
    names -= {"end", "else"}  # of blocks
    function = Function(["i32"], ["f32"], "all")
    for name in sorted(names):
        function.emit(name, *IMMEDIATES.get(name, ()))
    *lines, last = disassemble(encode([function]))["all"].splitlines()[2:]
    expected = [" ".join([name, *map(written, IMMEDIATES.get(name, ()))]) for name in sorted(names)]
    assert [line.replace("offset=", "") for line in [*lines, last]] == expected


def written(immediate: float) -> str:
    return repr(immediate)


def test_blocks_are_indented_and_only_exports_are_shown() -> None:
    inner = Function([], [])
    function = Function(["i32"], [], "shown")
    function.local("v128")
    function.local("v128")
    function.emit("local.get", 0)
    function.emit("if", "i32")
    function.emit("i32.const", 1)
    function.emit("else")
    function.emit("i32.const", 2)
    function.emit("end")
    function.emit("drop")
    assert disassemble(encode([inner, function])) == {
        "shown": "\n".join(
            [
                "(param i32)",
                "(local v128 v128)",
                "local.get 0",
                "if (result i32)",
                "  i32.const 1",
                "else",
                "  i32.const 2",
                "end",
                "drop",
            ]
        )
    }
