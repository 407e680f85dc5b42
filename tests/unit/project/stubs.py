"""The stubs (`*.pyi`) that tell editors and type checkers what names.py makes public.

    PYTHONPATH=py:. python -m tests.unit.project.stubs

writes them; test_names.py checks that they are fresh. Signatures come from the sources of the
definitions, so nothing is imported.
"""

from __future__ import annotations

import ast
import builtins
import copy
from functools import cache
from pathlib import Path

from tallow.binding import Row, public, rows
from tallow.names import PACKAGES
from tallow_build.paths import ROOT

PACKAGE = ROOT / "py" / "tallow"
_NOTE = "# Written by tests/unit/project/stubs.py from names.py: do not change it.\n\n"


@cache
def file_of(module: str) -> Path:
    """py/tallow/ops/__init__.py of "ops"."""
    path = PACKAGE.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def parsed(module: str) -> ast.Module:
    return ast.parse(file_of(module).read_text("utf-8"))


@cache
def defined(module: str) -> dict[str, ast.stmt]:
    """The last statement that defines each name at the top of a module."""
    found: dict[str, ast.stmt] = {}
    for item in parsed(module).body:
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[item.name] = item
        elif isinstance(item, ast.Assign):
            for target in item.targets:
                names = [target] if isinstance(target, ast.Name) else getattr(target, "elts", [])
                found.update((each.id, item) for each in names)
        elif isinstance(item, ast.AnnAssign) and ast.unparse(item.annotation) == "TypeAlias":
            assert isinstance(item.target, ast.Name) and item.value
            found[item.target.id] = ast.Assign([item.target], item.value)
    return found


@cache
def imported(module: str) -> dict[str, tuple[str, str]]:
    """Where the imported names of a module come from: the module and the name there, "" for the
    module itself. Modules of `tallow` are written from its inside, others begin with a ":"."""
    package = module if file_of(module).name == "__init__.py" else module.rpartition(".")[0]
    found: dict[str, tuple[str, str]] = {}
    for item in ast.walk(parsed(module)):
        if not isinstance(item, ast.ImportFrom):
            continue
        parts = package.split(".") if package else []
        above = parts[: len(parts) - item.level + 1] if item.level else []
        source = ".".join([*above, *filter(None, [item.module])])
        for alias in item.names:
            inner = f"{source}.{alias.name}".strip(".")
            name = alias.asname or alias.name
            if item.level and file_of(inner).exists():
                found[name] = (inner, "")
            else:
                found[name] = (source if item.level else f":{item.module}", alias.name)
    return found


class Signatures:
    """Signatures of methods, and the imports that their types need."""

    def __init__(self) -> None:
        self.imports: set[str] = set()

    def of(self, name: str, row: Row, in_place: bool) -> str:
        """The lines of a method or an attribute."""
        if "static" in row.forms:
            return "@staticmethod\n" + self._function(name, row.home, row.own, None, in_place)
        return self._function(name, row.home, row.own, "second" in row.forms, in_place)

    def _function(
        self, name: str, module: str, own: str, second: bool | None, in_place: bool
    ) -> str:
        if own not in defined(module):
            source, inner = imported(module)[own]
            return self._function(name, source, inner, second, in_place)
        item = defined(module)[own]
        if isinstance(item, ast.FunctionDef):
            return self._printed(name, module, item, second, in_place)
        assert isinstance(item, ast.Assign), f"{module}.{own}"
        return self._assigned(name, module, own, item.value, second, in_place)

    def _assigned(
        self,
        name: str,
        module: str,
        own: str,
        value: ast.expr,
        second: bool | None,
        in_place: bool,
    ) -> str:
        if isinstance(value, ast.Name):
            return self._function(name, module, value.id, second, in_place)
        assert isinstance(value, ast.Call), f"{module}.{own}"
        maker = ast.unparse(value.func)
        result = self._name("Self" if in_place else "Tensor")
        if maker == "unary":
            return f"def {name}(self) -> {result}: ..."
        if maker == "binary":
            operand = f"{self._name('Tensor')} | {self._name('Scalar')}"
            if name in ("__eq__", "__ne__"):
                return f"def {name}(self, other: object) -> {result}: ...  # type: ignore[override]"
            return f"def {name}(self, other: {operand}) -> {result}: ..."
        of = value.args[0]
        if isinstance(of, ast.Attribute):
            source, _ = imported(module)[ast.unparse(of.value)]
            found = self._function(name, source, of.attr, second, in_place)
        else:
            found = self._function(name, module, ast.unparse(of), second, in_place)
        if maker != "property":
            return found
        head, _, kind = found.partition("(")
        result = kind.rpartition(" -> ")[2]
        lines = f"@property\n{head}(self) -> {result}"
        if len(value.args) == 1:
            return lines
        setter = result.replace(": ...", "")
        return f"{lines}\n@{name}.setter\n{head}(self, value: {setter}) -> None: ..."

    def _printed(
        self,
        name: str,
        module: str,
        item: ast.FunctionDef,
        second: bool | None,
        in_place: bool,
    ) -> str:
        args = copy.deepcopy(item.args)
        if second is not None:
            at = 1 if second else 0
            assert len(args.args) > at, f"{module}.{item.name}: a method has the tensor first"
            del args.args[at]
        for each in ast.walk(args):
            if isinstance(each, ast.arg) and each.annotation is not None:
                each.annotation = self._type(module, each.annotation)
        args.defaults = [_default(each) for each in args.defaults]
        args.kw_defaults = [each and _default(each) for each in args.kw_defaults]
        inner = ast.unparse(args)
        assert item.returns is not None
        itself = in_place or (name.endswith("_") and not name.startswith("__"))
        result = self._name("Self") if itself else ast.unparse(self._type(module, item.returns))
        me = "" if second is None else "self, " if inner else "self"
        return f"def {name}({me}{inner}) -> {result}: ..."

    def _type(self, module: str, annotation: ast.expr) -> ast.expr:
        """An annotation, whose aliases are replaced by what they stand for."""
        signatures = self

        class Names(ast.NodeTransformer):
            def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
                source, name = imported(module).get(ast.unparse(node.value), ("", ""))
                if not source or name:
                    return node
                return signatures._import(f"tallow.{source}", node.attr)

            def visit_Name(self, node: ast.Name) -> ast.expr:
                return signatures._resolved(module, node)

        made: ast.expr = Names().visit(copy.deepcopy(annotation))
        return made

    def _resolved(self, module: str, node: ast.Name) -> ast.expr:
        item = defined(module).get(node.id)
        if isinstance(item, ast.Assign):
            return self._type(module, item.value)
        if item is not None:
            return self._import(f"tallow.{module}", node.id)
        found = imported(module).get(node.id)
        if found is None:
            if hasattr(builtins, node.id):
                self.imports.add("import builtins")
                return ast.Attribute(ast.Name("builtins"), node.id)
            return node
        source, name = found
        if source.startswith(":"):
            return self._import(source[1:], name)
        if source != "tensor" and isinstance(defined(source).get(name), ast.Assign):
            return self._resolved(source, ast.Name(name))
        return self._import(f"tallow.{source}", name)

    def _name(self, name: str) -> str:
        if name == "Self":
            return ast.unparse(self._import("typing", "Self"))
        return ast.unparse(self._import("tallow.tensor", name))

    def _import(self, module: str, name: str) -> ast.expr:
        self.imports.add(f"from {module} import {name}")
        return ast.Name(name)


def _default(value: ast.expr) -> ast.expr:
    """A default value that needs no import."""
    try:
        ast.literal_eval(value)
    except ValueError:
        return ast.Constant(...)
    return value


def methods() -> str:
    """The text of tensor/methods.pyi."""
    signatures = Signatures()
    found: dict[str, str] = {}
    for form in ("operator", "static", "method"):
        for name, row in rows(form).items():
            found[name] = signatures.of(name, row, False)
    for name, row in rows("in-place").items():
        found[f"{name}_"] = signatures.of(f"{name}_", row, True)
    lines = [each for name in sorted(found) for each in found[name].split("\n")]
    body = "\n".join(f"    {line}" for line in lines)
    return f"{_NOTE}{_sorted(signatures.imports)}\n\nclass Methods:\n{body}\n"


def _sorted(imports: set[str]) -> str:
    return "\n".join(sorted(imports)) + "\n"


_FUNCTIONS, _OF_NN = "functions.", "functional init utils"


def package(form: str, under: str = "", but: str = "-", also: str = "", inside: str = "") -> str:
    """The text of a package's `__init__.pyi`: its public names, each from where it is defined.

    under, but: how the names of the files that define them begin, and how they do not. also: the
    packages within `inside`.
    """
    lines = []
    for name, row in sorted(rows(form).items(), key=lambda item: (item[1].home, item[0])):
        own = row.home.startswith(under) and not row.home.startswith(but)
        if own and "." not in row.own:
            lines.append(f"from tallow.{row.home} import {row.own} as {name}")
    lines += [f"from tallow{inside} import {name} as {name}" for name in also.split()]
    return _NOTE + "\n".join(lines) + "\n"


def listed(form: str, also: str) -> str:
    """`__all__`, where something reads it, or not all that is public is in it."""
    names = sorted({*public(form), *also.split()})
    return "\n__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n"


def top() -> str:
    """The text of tallow's own. What `from tallow import *` brings is said, for the others hide
    Python's."""
    text = package("tallow", but=_FUNCTIONS, also=PACKAGES)
    for name, row in rows("unlisted").items():
        text += f"from tallow.{row.home} import {row.own} as {name}\n"
    for name in ("errors", "functions"):
        text += f"from tallow import {name} as {name}\n"
    text += "from tallow.functions import *\n"
    text += "from tallow.version import __version__ as __version__\n"
    return text + listed("tallow", PACKAGES)


def stubs() -> dict[Path, str]:
    """The text of each stub, by its file."""
    return {
        PACKAGE / "__init__.pyi": top(),
        PACKAGE / "functions" / "__init__.pyi": package("tallow", _FUNCTIONS),
        PACKAGE / "functional" / "__init__.pyi": package("functional"),
        PACKAGE / "nn" / "__init__.pyi": package("nn", also=_OF_NN, inside=".nn")
        + listed("nn", _OF_NN),
        PACKAGE / "tensor" / "methods.pyi": methods(),
    }


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, "utf-8")
