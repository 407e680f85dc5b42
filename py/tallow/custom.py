"""Ops of your own: `custom_op`.

A declared op is a record like those in ops/ (ops/kinds.py). Its nodes hold the record itself, so
plans of two ops that share a name are never confused; and each record has a name of its own, by
which the host operations of a plan find it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from .autodiff.rules import BY_USERS, NO_DERIVATIVE, RULES, Gradients
from .compile.limits import Limits
from .compile.target import TARGETS
from .core import dtype as dt
from .core.dtype import BY_NAME, DType, as_dtype
from .core.shape import Shape
from .errors import DTypeError, GradientError, OptionError, ShapeError, TallowError
from .functions.elementwise import of_operands
from .graph import make
from .ops.kinds import DECLARED, REGISTRY, Custom, Elementwise, Op, Operand
from .ops.numpy_scalar import evaluate
from .scalar import Scalar, operand
from .tensor import Tensor, asarray

_MOST_BINDINGS = Limits().storage_buffers
"""The buffers that a kernel binds on every device."""

_WRITTEN_FOR = {"wgsl": "webgpu"}
"""The kinds of device for which a user writes kernels, by the argument that has the text."""


def custom_op(
    name: str,
    *,
    expression: Callable[..., Scalar] | None = None,
    numpy: Callable[..., Any] | None = None,
    shape: Callable[..., Sequence[int]] | None = None,
    dtype: DType | str | None = None,
    wgsl: str | None = None,
    workgroups: Callable[..., Any] | None = None,
    constants: Callable[..., Mapping[str, Any]] | None = None,
    vjp: Callable[..., Any] | None = None,
) -> Callable[..., Tensor]:
    """Declares an op, and returns the function of tensors that applies it.

    Either of one expression per element, which every target prints and which shares kernels with
    its neighbours:

        from tallow import scalar as s
        swish = tl.custom_op("swish", expression=lambda x: x / (1.0 + s.exp(-x)))

    Or of a function of arrays, and a kernel of your own for WebGPU:

        scale = tl.custom_op(
            "scale",
            numpy=lambda x, factor: x * factor,
            shape=lambda x, factor: x.shape,
            wgsl=text,
            constants=lambda x, factor: {"COUNT": x.size},
            workgroups=lambda x, factor: -(-x.size // 64),
        )

    Declaring a name again replaces nothing that was built before: functions keep what they were
    declared with. What a device's compiler refuses is a KernelError, which says the line, when the
    op is first used there.

    name: a letter, then letters, digits and underscores; none of Tallow's ops has it.
    expression: the result, of a Scalar for each operand (scalar.py). Operands are floating tensors,
      which broadcast.
    numpy: the result, of an array for each operand, in the shape and type that are declared. It is
      what devices compute for which there is no code, and what tests compare with.
    shape: the result's shape, of an operand each that has `shape`, `dtype`, `ndim` and `size`.
    dtype: the result's type; None is that of the first operand.
    wgsl: a whole module. `@group(0) @binding(0)` is the first operand, a `var<storage, read>` array
      of f32, i32 or u32 (also vec2 or vec4 of them), the others follow, and the last binding is the
      result, `var<storage, read_write>`. Elements are in row-major order; float64 and float16 are
      there as f32, 64-bit integers as i32 or u32, bools as u32 that are 0 or 1. Buffers are a
      multiple of 16 bytes long, so `arrayLength` may count more than there are. The entry point is
      `@compute @workgroup_size(...) fn main`.
    workgroups: how many workgroups run, one number or up to three, of the operands.
    constants: values of the module's `override` constants by name, of the operands.
    vjp: the gradients of the operands, vjp(gradient, result, *operands), a tensor or None each.
      Without it the op has no derivative.
    Returns: the function, of a tensor for each operand.
    Raises: OptionError for a name of Tallow's, for functions that do not take the operands, and for
      a module that does not follow these rules.
    """
    if not isinstance(name, str) or not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name):
        raise OptionError(
            f"custom_op: the name {name!r} must begin with a letter and have letters, digits and "
            "underscores only"
        )
    if name in REGISTRY:
        raise OptionError(f"custom_op: Tallow has an op {name!r}; choose another name")
    own = {
        "numpy": numpy, "shape": shape, "dtype": dtype, "wgsl": wgsl,
        "workgroups": workgroups, "constants": constants,
    }  # fmt: skip
    if expression is not None:
        extra = [key for key, value in own.items() if value is not None]
        if extra:
            raise OptionError(
                f"{name}: an expression= says all but the derivative; leave out {', '.join(extra)}"
            )
        count = _arity(name, "expression", expression)
        op: Op = _elementwise(name, expression, count)
        apply: Callable[..., Tensor] = of_operands(op)  # type: ignore[arg-type]
    else:
        if numpy is None or shape is None:
            raise OptionError(f"{name}: give numpy= and shape=, or expression=")
        if wgsl is None and (workgroups is not None or constants is not None):
            raise OptionError(f"{name}: workgroups= and constants= are for wgsl=, which is missing")
        if wgsl is not None and workgroups is None:
            raise OptionError(f"{name}: wgsl= needs workgroups=, a function of the operands")
        count = _arity(name, "shape", shape)
        _check_takes(name, "numpy", numpy, count)
        texts = {"wgsl": wgsl}
        kernels = _kernels(name, count, texts, workgroups, constants)
        op = _custom(name, numpy, shape, kernels)
        apply = _applying(name, op, count, None if dtype is None else as_dtype(dtype))
    if vjp is None:
        NO_DERIVATIVE[op] = "it was declared without vjp="
    else:
        _check_takes(name, "vjp", vjp, count + 2)
        RULES[op] = _rule(name, vjp)
        BY_USERS.add(op)
    apply.__name__ = apply.__qualname__ = name
    return apply


# ---- what is checked --------------------------------------------------------------------------


def _arity(name: str, what: str, function: Callable[..., Any]) -> int:
    """How many operands a function takes. Raises OptionError for none, for more than a kernel
    binds, or for any number."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"{name}: {what}= must be a function with named operands, not {function!r}"
        ) from error
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    count = sum(each.kind in by_position for each in parameters)
    if not 1 <= count < _MOST_BINDINGS or count != len(parameters):
        raise OptionError(
            f"{name}: {what}= must take each operand by position, 1 to {_MOST_BINDINGS - 1} of them"
        )
    return count


def _check_takes(name: str, what: str, function: Callable[..., Any], count: int) -> None:
    if not callable(function):
        raise OptionError(f"{name}: {what}= must be a function, not {function!r}")
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError as error:
        raise OptionError(
            f"{name}: {what}= must take {count} arguments by position: {error}"
        ) from error
    except ValueError:
        pass  # a function of C that does not say what it takes


def _own_name(name: str) -> str:
    """A name that no record has: the user's, or one with a number behind it."""
    found, number = name, 1
    while found in REGISTRY or found in DECLARED:
        number += 1
        found = f"{name}_{number}"
    return found


# ---- expressions ------------------------------------------------------------------------------


def _elementwise(name: str, expression: Callable[..., Scalar], count: int) -> Elementwise:
    results = []
    for dtype in (dt.float32, dt.float64):
        try:
            found = expression(*(operand(index, dtype) for index in range(count)))
        except (TallowError, TypeError, ValueError, AttributeError) as error:
            raise OptionError(
                f"{name}: expression= fails for {dtype.name} scalars: {error}; use + - * /, "
                "comparisons and the functions of tallow.scalar"
            ) from error
        if not isinstance(found, Scalar):
            raise OptionError(f"{name}: expression= gives {found!r}, which is no Scalar")
        results.append(None if found.dtype == dtype else found.dtype)
    if results[0] != results[1]:
        raise OptionError(
            f"{name}: expression= gives {results[0] or 'the operands'} for float32 and "
            f"{results[1] or 'the operands'} for float64; cast to one type"
        )

    def compute(np: ModuleType, *arrays: object) -> Any:
        scalars = [operand(n, BY_NAME[np.asarray(x).dtype.name]) for n, x in enumerate(arrays)]
        return evaluate(np, expression(*scalars), arrays)  # type: ignore[arg-type]

    # Whether it jumps is unknown, so that it is computed in one place.
    return Elementwise(
        _own_name(name),
        compute,
        partial(expression),  # printers then choose names that no language reserves
        count,
        "f",
        results[0],
        discontinuous=True,
        declared=True,
    )


# ---- kernels ----------------------------------------------------------------------------------


def _kernels(
    name: str,
    count: int,
    texts: Mapping[str, str | None],
    workgroups: Callable[..., Any] | None,
    constants: Callable[..., Mapping[str, Any]] | None,
) -> dict[str, Any]:
    """The kernels that a user wrote, by the kind of device; `texts` by the argument."""
    found = {}
    for argument, text in texts.items():
        if text is not None:
            assert workgroups is not None
            _check_takes(name, "workgroups", workgroups, count)
            if constants is not None:
                _check_takes(name, "constants", constants, count)
            kind = _WRITTEN_FOR[argument]
            make_kernel = TARGETS[kind].declared
            assert make_kernel is not None
            found[kind] = make_kernel(name, text, count, workgroups, constants)
    return found


def _custom(
    name: str,
    numpy: Callable[..., Any],
    shape: Callable[..., Sequence[int]],
    kernels: Mapping[str, Any],
) -> Custom:
    def rule(*operands: Operand) -> Shape:
        found = shape(*operands)
        sizes = tuple(found) if isinstance(found, (tuple, list)) else None
        if sizes is None or any(not isinstance(n, int) or n < 0 for n in sizes):
            raise ShapeError(f"{name}: shape= gives {found!r}, which is no tuple of lengths")
        return sizes

    def compute(np: ModuleType, *arrays: object, dtype: DType) -> Any:
        views = [np.asarray(array).view() for array in arrays]
        for view in views:
            view.flags.writeable = False
        result = np.asarray(numpy(*views))
        wanted = rule(*(Operand(view.shape, BY_NAME[view.dtype.name]) for view in views))
        if result.shape != wanted:
            raise ShapeError(f"{name}: numpy= gives the shape {result.shape}, shape= says {wanted}")
        if result.dtype.name != dtype.name:
            raise DTypeError(
                f"{name}: numpy= gives {result.dtype.name}, declared is {dtype.name}; return "
                f"result.astype({dtype.name!r})"
            )
        return result

    return Custom(_own_name(name), compute, name, rule, kernels, overflows=True, declared=True)


def _applying(name: str, op: Custom, count: int, dtype: DType | None) -> Callable[..., Tensor]:
    def apply(*operands: object) -> Tensor:
        if len(operands) != count:
            raise TypeError(f"{name}: takes {count} operands, got {len(operands)}")
        nodes = [asarray(each).node for each in operands]
        types = [*(node.dtype for node in nodes), dtype or nodes[0].dtype]
        coded = [each.name for each in types if each.coded]
        if coded:
            raise DTypeError(
                f"{name}: no kernel reads {coded[0]}; cast it, for example with .astype('float32')"
            )
        for kernel in op.kernels.values():
            kernel.check(name, types)
        return Tensor(make(op, *nodes, dtype=types[-1]))

    return apply


# ---- derivatives ------------------------------------------------------------------------------


def _rule(name: str, vjp: Callable[..., Any]) -> Callable[..., Gradients]:
    """The rule of autodiff/rules.py that asks vjp, and checks what it gives."""

    def rule(gradient: Tensor, result: Tensor, *operands: Tensor, **attrs: object) -> Gradients:
        given = vjp(gradient, result, *operands)
        found = list(given) if isinstance(given, (tuple, list)) else [given]
        if len(found) != len(operands):
            raise GradientError(
                f"{name}: vjp= gives {len(found)} gradients for {len(operands)} operands"
            )
        for number, (each, x) in enumerate(zip(found, operands, strict=True)):
            if each is None:
                continue
            if not isinstance(each, Tensor):
                raise GradientError(
                    f"{name}: vjp= gives {type(each).__name__} for operand {number}; return a "
                    "tensor, or None where there is no gradient"
                )
            if (each.shape, each.dtype) != (x.shape, x.dtype):
                raise GradientError(
                    f"{name}: vjp= gives {each.dtype.name} {each.shape} for operand {number}, "
                    f"which is {x.dtype.name} {x.shape}"
                )
        return found

    return rule
