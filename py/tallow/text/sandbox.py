"""Jinja2 for templates that came with a file: no reach for Python, and an end to their work.

Jinja2's sandbox refuses attributes that lead to Python's insides. It bounds neither turns nor
sizes, so that is done here. A template has an allowance: each turn of a loop and each call takes 1
of it, each text or list that is made takes its size. What makes much of little is checked before.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NoReturn

import jinja2
from jinja2 import ext, nodes, sandbox
from jinja2.ext import Extension
from jinja2.visitor import NodeTransformer

from ..errors import TextError

ALLOWANCE = 300_000
"""How many turns of loops and calls a template may take. 100 characters count as one."""

LENGTH = 10_000_000
"""How many characters a template may make in one go."""

# A call in a call takes of the stack of the machine, which a page has little of.
_DEEPEST = 40
_NODES = 100_000
_WIDE = re.compile(r"\d{5,}|\*|\{[^{}]*\{")
_FILTERS = (
    *("abs", "attr", "batch", "capitalize", "center", "count", "d", "default", "dictsort", "e"),
    *("escape", "first", "float", "format", "groupby", "indent", "int", "items", "join", "last"),
    *("length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "replace"),
    *("reverse", "round", "safe", "select", "selectattr", "slice", "sort", "string", "sum"),
    *("title", "tojson", "trim", "truncate", "unique", "upper", "urlencode", "wordcount"),
)


class _Generation(Extension):
    """`{% generation %}` marks what the network wrote; here it is only its content."""

    tags = {"generation"}  # noqa: RUF012 - as Jinja2 declares it

    def parse(self, parser: Any) -> Any:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class Sandbox(sandbox.ImmutableSandboxedEnvironment):
    """An environment for one template."""

    intercepted_binops = frozenset(["*", "**", "+", "%"])

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, extensions=[ext.loopcontrols, _Generation]
        )
        self.left = self.depth = 0
        filters = {**self.filters, "tojson": _as_json}
        self.filters = {
            name: self._bounded(name, filters[name]) for name in _FILTERS if name in filters
        }
        kept = {name: self.globals[name] for name in ("range", "dict", "namespace")}
        self.globals.clear()
        self.globals.update(kept, raise_exception=_refuse, strftime_now=_now)

    def compiled(self, source: str) -> jinja2.Template:
        """A template. Raises: TextError."""
        try:
            return self.from_string(source)
        except jinja2.TemplateError as error:
            line = getattr(error, "lineno", None)
            where = f" in line {line}" if line else ""
            raise TextError(f"the chat template is damaged{where}: {error.message}") from error
        except (RecursionError, SyntaxError, MemoryError) as error:
            raise TextError(f"the chat template nests too deeply: {error}") from error

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        loops: Any = (nodes.For, nodes.Macro, nodes.CallBlock)
        for node in list(tree.find_all(loops)):
            node.body.insert(0, nodes.ExprStmt(_call("spend", []), lineno=node.lineno))
        return _Makers().visit(tree)  # type: ignore[no-any-return]

    def spend(self, size: float = 0) -> str:
        """Takes a turn, and what has a size, from the allowance. Raises: TextError where
        nothing is left."""
        if size > LENGTH:
            raise TextError(f"the chat template makes more than {LENGTH} characters")
        self.left -= 1 + int(size) // 100
        if self.left < 0:
            raise TextError(
                "the chat template does not end: its loops take more than "
                f"{ALLOWANCE} turns, or make more than {100 * ALLOWANCE} characters"
            )
        return ""

    def joined(self, *parts: Any) -> str:
        """`a ~ b`, bounded."""
        self.spend(sum(map(_weight, parts)))
        return "".join(map(str, parts))

    def made(self, value: Any) -> Any:
        """A list or a dict, bounded with all that is in it."""
        self.spend(_weight(value))
        return value

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """An operator whose result is bounded."""
        self.spend(_size_of_operation(operator, left, right))
        return super().call_binop(context, operator, left, right)

    def call(self, context: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A call whose result is bounded."""
        owner = getattr(obj, "__self__", None)
        if owner is self:  # a call that `_parse` put in
            return obj(*args)
        if isinstance(owner, str):
            self.spend(_size_of_method(obj.__name__, owner, (*args, *kwargs.values())))
        self.depth += 1
        if self.depth > _DEEPEST:
            raise TextError(f"the chat template does not end: it nests more than {_DEEPEST} calls")
        try:
            return self.made(super().call(context, obj, *args, **kwargs))
        finally:
            self.depth -= 1

    def unsafe_undefined(self, obj: Any, attribute: str) -> NoReturn:
        """Refuses an attribute of Python's. Raises: TextError."""
        raise TextError(
            f"the chat template reaches for what it must not: {attribute!r} of a "
            f"{type(obj).__name__}"
        )

    def _bounded(self, name: str, made_by: Callable[..., Any]) -> Callable[..., Any]:
        """A filter whose result is bounded."""

        @functools.wraps(made_by)
        def bounded(*args: Any, **kwargs: Any) -> Any:
            given = [each for each in args if not isinstance(each, _CONTEXTS)]
            if given and isinstance(given[0], str | list | tuple | Mapping):
                more = (*given[1:], *kwargs.values())
                self.spend(_size_of_method(name, given[0], more))
            return self.made(made_by(*args, **kwargs))

        return bounded


_CONTEXTS = (jinja2.Environment, jinja2.runtime.Context, jinja2.nodes.EvalContext)


def _call(name: str, args: list[nodes.Expr]) -> nodes.Call:
    return nodes.Call(nodes.EnvironmentAttribute(name), args, [], None, None)


class _Makers(NodeTransformer):
    """Whatever makes a text, a list or a dict becomes a call that is bounded."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        node = self.generic_visit(node)  # type: ignore[assignment]
        return _call("joined", node.nodes).set_lineno(node.lineno)

    def visit_List(self, node: nodes.List) -> nodes.Node:
        return _call("made", [self.generic_visit(node)]).set_lineno(node.lineno)  # type: ignore[list-item]

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:
        return _call("made", [self.generic_visit(node)]).set_lineno(node.lineno)  # type: ignore[list-item]

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:
        node = self.generic_visit(node)  # type: ignore[assignment]
        return node if node.ctx != "load" else _call("made", [node]).set_lineno(node.lineno)


def rendered(template: jinja2.Template, variables: Mapping[str, Any]) -> str:
    """A template's text. Raises: TextError."""
    environment: Any = template.environment
    environment.left, environment.depth = ALLOWANCE, 0
    out = []
    try:
        for piece in template.generate(variables):
            environment.spend(len(piece))
            out.append(piece)
    except TextError:
        raise
    except jinja2.exceptions.SecurityError as error:
        raise TextError(f"the chat template reaches for what it must not: {error}") from error
    except jinja2.TemplateError as error:
        raise TextError(f"the chat template can't be filled: {error.message}") from error
    except Exception as error:  # whatever operators and methods raise for such values
        raise TextError(
            f"the chat template can't be filled: {type(error).__name__}: {error}"
        ) from error
    return "".join(out)


def _as_json(
    value: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """The filter `tojson`, as Hugging Face's templates expect it: without HTML's escapes."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _refuse(why: object) -> NoReturn:
    raise TextError(f"the chat template refuses the messages: {why}")


def _now(form: str) -> str:
    _check_form(form)
    return datetime.now().strftime(form)


def _check_form(form: object) -> None:
    if isinstance(form, str) and _WIDE.search(form):
        raise TextError(f"the chat template has the format {form!r:.60}, which is too wide")


def _weight(value: Any) -> int:
    """About how many characters a value has when it is written out, with all that is in it.
    Raises: TextError for too many parts, as in lists that hold one another."""
    if isinstance(value, str):
        return len(value)
    if not isinstance(value, list | tuple | dict):
        return 1
    total = parts = 0
    row: list[Any] = [value]
    for _ in range(_DEEPEST):
        below: list[Any] = []
        for each in row:
            if isinstance(each, dict):
                below += each
                below += each.values()
            elif isinstance(each, list | tuple):
                below += each
            else:
                total += len(each) if isinstance(each, str) else 1
            if parts + len(below) > _NODES:
                raise TextError(f"the chat template makes a list of more than {_NODES} parts")
        if not below:
            return total
        parts, row = parts + len(below), below
    raise TextError(f"the chat template makes lists that nest more than {_DEEPEST} deep")


def _size_of_operation(operator: str, left: Any, right: Any) -> float:
    numbers = isinstance(left, int) and isinstance(right, int)
    if operator == "+":
        return _weight(left) + _weight(right)
    if operator == "%":
        _check_form(left)
        return _weight(left) * (1 + _weight(right)) if isinstance(left, str) else 1
    if operator == "*":
        if numbers:
            return float(abs(left).bit_length() * abs(right).bit_length())
        for one, other in ((left, right), (right, left)):
            if isinstance(other, int):
                return _weight(one) * max(other, 1)
    if numbers:
        return float(abs(left).bit_length() * abs(right) * 100)
    return 1


def _size_of_method(name: str, owner: Any, args: tuple[Any, ...]) -> int:
    """What a method of texts, or a filter, may make: before it does."""
    whole: int = max((abs(each) for each in args if isinstance(each, int)), default=0)
    if name in ("center", "ljust", "rjust", "zfill", "batch", "slice", "round"):
        return _weight(owner) + whole
    if name in ("expandtabs", "indent"):
        return _weight(owner) * (1 + whole)
    if name == "replace" and len(args) > 1:
        text = str(owner)
        return len(text) + text.count(str(args[0])) * len(str(args[1]))
    if name in ("format", "format_map"):
        _check_form(owner)
        return _weight(owner) * (1 + sum(map(_weight, args)))
    if name == "join":
        joint, parts = (owner, args[0] if args else "") if isinstance(owner, str) else ("", owner)
        if not isinstance(owner, str) and args:
            joint = str(args[0])
        if isinstance(parts, str | list | tuple | dict):
            return _weight(parts) + len(joint) * len(parts)
    return _weight(owner)
