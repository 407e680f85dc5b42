"""Index arithmetic (codegen/index.py) as WGSL of type u32."""

from __future__ import annotations

from ....codegen.index import Atom, Coord


def text_of(coord: Coord) -> str:
    """The expression of a coordinate. Intermediate values may wrap, the result does not."""
    if isinstance(coord, int):
        return f"{max(coord, 0)}u"  # negative: of a read that no element makes
    positive = [_product(c, a) for c, a in coord.terms if c > 0]
    negative = [_product(-c, a) for c, a in coord.terms if c < 0]
    if coord.const > 0 or not positive:
        positive.append(f"{max(coord.const, 0)}u")
    if coord.const < 0:
        negative.append(f"{-coord.const}u")
    text = " - ".join([" + ".join(positive), *negative])
    return text if len(positive) + len(negative) == 1 else f"({text})"


def atom_text(atom: Atom) -> str:
    """The expression of an atom."""
    if atom.kind == "variable":
        return atom.name
    operator = "/" if atom.kind == "quotient" else "%"
    return f"({text_of(atom.index)} {operator} {atom.divisor}u)"


def _product(coefficient: int, atom: Atom) -> str:
    text = atom_text(atom)
    return text if coefficient == 1 else f"{coefficient}u * {text}"
