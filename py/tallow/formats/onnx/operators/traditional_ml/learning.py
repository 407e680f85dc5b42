"""Traditional machine learning (domain ai.onnx.ml): scaling, encoding, linear models."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..... import functional as nn
from ..... import functions as f
from .....core import dtype as dt
from .....core.dtype import DType
from .....core.hostarray import HostArray, StringArray, from_values
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....tensor import Tensor, asarray
from ...call import Call
from ...registry import host_operator, operator
from ...values import check_array, check_memory
from ..text.texts import object_array

if TYPE_CHECKING:
    from .....arrays import Array, NumPy

DOMAIN = "ai.onnx.ml"


def _list(values: Sequence[Any], dtype: DType) -> Tensor:
    return asarray(from_values(values, (len(values),), dtype))


def _of_features(call: Call, name: str, x: Tensor, default: float) -> Tensor:
    """A list with one number per element of the last axis, or one for all."""
    values = call.get(name, tuple, ()) or (default,)
    if len(values) > 1 and (not x.ndim or len(values) != x.shape[-1]):
        raise OnnxFormatError(f"{name} has {len(values)} numbers for an input {x.shape}")
    return _list(values, dt.float32)


@operator("Binarizer", domain=DOMAIN)
def _binarizer(call: Call, x: Tensor) -> Tensor:
    return (x > call.get("threshold", float, 0.0)).astype(x.dtype)


@operator("Scaler", domain=DOMAIN)
def _scaler(call: Call, x: Tensor) -> Tensor:
    offset, scale = _of_features(call, "offset", x, 0), _of_features(call, "scale", x, 1)
    return (x.astype(dt.float32) - offset) * scale


@operator("Normalizer", domain=DOMAIN)
def normalizer(call: Call, x: Tensor) -> Tensor:
    """Rows divided by their largest element, their L1 norm or their L2 norm."""
    norm, number = call.choice("norm", "MAX", "L1", "L2"), x.astype(dt.float32)
    axis = x.ndim - 1
    if norm == "MAX":
        size = f.max(number, axis, True)
    elif norm == "L1":
        size = f.sum(f.abs(number), axis, True)
    else:
        size = f.sqrt(f.sum(number * number, axis, True))
    return number / f.where(f.equal(size, 0), 1.0, size)


@operator("Imputer", domain=DOMAIN)
def imputer(call: Call, x: Tensor) -> Tensor:
    """Replaces missing elements (a value, or NaN), by position along the last axis."""
    kind = "int64s" if x.dtype.is_integer else "floats"
    values = call.get(f"imputed_value_{kind}", tuple)
    if len(values) != 1 and (not x.ndim or len(values) != x.shape[-1]):
        raise OnnxFormatError(f"{len(values)} values for an input {x.shape}")
    missing = call.get("replaced_value_int64", int, 0)
    number = call.get("replaced_value_float", float, 0.0)
    call.ignore("imputed_value_int64s", "imputed_value_floats")
    if x.dtype.is_integer:
        mask = f.equal(x, missing)
    else:
        mask = f.isnan(x) if math.isnan(number) else f.equal(x, number)
    return f.where(mask, _list(values, x.dtype), x)


@operator("FeatureVectorizer", domain=DOMAIN)
def feature_vectorizer(call: Call, x: Tensor, *others: Tensor) -> Tensor:
    """Joins inputs, each cropped or padded with 0 to its given length."""
    parts = [x, *others]
    widths = call.ints("inputdimensions", tuple(part.shape[-1] for part in parts))
    if (
        len(widths) != len(parts)
        or min(widths) < 0
        or any(part.ndim not in (1, 2) for part in parts)
    ):
        raise OnnxFormatError(f"{len(widths)} lengths for {len(parts)} inputs")
    rows = [f.reshape(part, (-1, part.shape[-1])).astype(dt.float32) for part in parts]
    return f.concat(
        [f.pad(r, [(0, 0), (0, w - r.shape[1])]) for r, w in zip(rows, widths, strict=True)], 1
    )


# ---- linear models -----------------------------------------------------------------------------

_ZERO = 1e-7  # below that, a score counts as 0 to onnxruntime too
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


def transformed(scores: Tensor, name: str) -> Tensor:
    """Applies a post_transform to scores (rows, targets). SOFTMAX_ZERO makes scores of 0 no
    chances."""
    if name == "SOFTMAX":
        return nn.softmax(scores, 1)
    if name == "LOGISTIC":
        return nn.sigmoid(scores)
    if name == "SOFTMAX_ZERO":
        used = f.abs(scores) > _ZERO
        power = f.where(used, f.exp(scores - f.max(scores, 1, True)), 0.0)
        total = f.sum(power, 1, True)
        return power / f.where(f.equal(total, 0), 1.0, total)
    if name == "PROBIT":
        from .....functions.special import erfinv  # the page starts without it

        return erfinv(2 * scores - 1) * math.sqrt(2)
    return scores


def linear_scores(call: Call, x: Tensor, count: int) -> Tensor:
    """The scores of `count` targets, by the attributes coefficients and intercepts."""
    coefficients = call.get("coefficients", tuple)
    intercepts = call.get("intercepts", tuple, ())
    if x.ndim not in (1, 2) or count < 1 or len(coefficients) != count * x.shape[-1]:
        raise OnnxFormatError(
            f"{len(coefficients)} coefficients of {count} targets do not fit {x.shape}"
        )
    if len(intercepts) not in (0, count):
        raise OnnxFormatError(f"{len(intercepts)} intercepts for {count} targets")
    weight = asarray(from_values(coefficients, (count, x.shape[-1]), dt.float32))
    bias = _list(intercepts, dt.float32) if intercepts else None
    return nn.linear(f.reshape(x, (-1, x.shape[-1])).astype(dt.float32), weight, bias)


@operator("LinearRegressor", domain=DOMAIN)
def _linear_regressor(call: Call, x: Tensor) -> Tensor:
    name = call.choice("post_transform", *TRANSFORMS)
    return transformed(linear_scores(call, x, call.get("targets", int, 1)), name)


# ---- encoding ----------------------------------------------------------------------------------


@operator("OneHotEncoder", domain=DOMAIN)
def one_hot_encoder(call: Call, x: Tensor) -> Tensor:
    """Adds a last axis with 1 at the category's index. Unknown categories, which `zeros` = 0
    forbids, can't be detected on a device: their rows are 0."""
    call.ignore("zeros")
    if call.get("cats_strings", tuple, ()):
        raise OnnxUnsupportedError("its categories are strings")
    categories = _list(call.ints("cats_int64s"), dt.int64)
    return f.equal(f.expand_dims(x.astype(dt.int64), -1), categories).astype(dt.float32)


@host_operator("OneHotEncoder", domain=DOMAIN)
def _one_hot_encoder_on_host(call: Call, np: NumPy, x: Array) -> Array:
    names = call.get("cats_strings", tuple, ())
    check_array((*x.shape, len(names)), 8)  # objects first
    found = x[..., None] == object_array(np, names, (len(names),))
    if not call.flag("zeros", True) and not found.any(-1).all():
        raise OnnxFormatError("a string is not one of the categories")
    return found.astype(np.float32)


_KINDS = {"int64s": dt.int64, "floats": dt.float32, "strings": None}
_DEFAULTS = {"int64s": -1, "floats": -0.0, "strings": "_Unused"}


def _side(call: Call, side: str) -> tuple[list[Any], DType | None, str]:
    """The keys or values of a LabelEncoder: elements, type (None: strings), and its name."""
    for kind, dtype in _KINDS.items():
        values = call.get(f"{side}_{kind}", tuple, ())
        if values:
            return list(values), dtype, kind
    tensor = call.node.attributes.get(f"{side}_tensor")
    call.ignore(f"{side}_tensor")
    if isinstance(tensor, StringArray):
        return list(tensor.values), None, "strings"
    if not isinstance(tensor, HostArray):
        raise OnnxFormatError(f"it has no {side}")
    return tensor.flat(), tensor.dtype, "int64s" if tensor.dtype.is_integer else "floats"


def _mapping(call: Call) -> tuple[list[Any], DType | None, list[Any], DType | None, Any]:
    """Keys and their type, values and their type, and the default value."""
    for name in ("int64", "float", "string"):
        call.ignore(f"default_{name}")
    keys, key_type, _ = _side(call, "keys")
    values, value_type, kind = _side(call, "values")
    if len(keys) != len(values):
        raise OnnxFormatError(f"{len(keys)} keys and {len(values)} values")
    default = call.node.attributes.get(f"default_{kind.removesuffix('s')}", _DEFAULTS[kind])
    tensor = call.node.attributes.get("default_tensor")
    call.ignore("default_tensor")
    if isinstance(tensor, StringArray):
        default = tensor.values[0]
    elif isinstance(tensor, HostArray):
        default = tensor.item()
    return keys, key_type, values, value_type, default


@operator("LabelEncoder", domain=DOMAIN)
def label_encoder(call: Call, x: Tensor) -> Tensor:
    """Looks up each element in a table. Strings are not supported."""
    if call.opset < 2:
        raise OnnxUnsupportedError("it maps between strings and integers")
    keys, key_type, values, value_type, default = _mapping(call)
    if key_type is None or value_type is None:
        raise OnnxUnsupportedError("its keys or values are strings")
    known, wide = _list(keys, key_type), f.expand_dims(x.astype(key_type), -1)
    hit = f.equal(wide, known)
    if key_type.is_floating:
        hit = f.logical_or(hit, f.logical_and(f.isnan(wide), f.isnan(known)))
    index = f.argmax(hit.astype(dt.int32), -1)
    found = f.take(_list(values, value_type), index)
    return f.where(f.any(hit, -1), found, f.full((), default, value_type))


@host_operator("LabelEncoder", domain=DOMAIN)
def _label_encoder_on_host(call: Call, np: NumPy, x: Array) -> Array:
    if call.opset < 2:
        names = call.get("classes_strings", tuple)
        numbers = {name: number for number, name in enumerate(names)}
        default, other = (
            call.get("default_int64", int, -1),
            call.get("default_string", str, "_Unused"),
        )
        if x.dtype == object:
            return _looked_up(np, x, lambda item: numbers.get(item, default), dt.int64)
        inside = range(len(names))
        return _looked_up(np, x, lambda item: names[item] if item in inside else other, None)
    keys, _, values, value_type, default = _mapping(call)
    table = dict(zip(keys, values, strict=True))
    return _looked_up(np, x, lambda item: table.get(item, default), value_type)


@host_operator("CategoryMapper", domain=DOMAIN)
def category_mapper(call: Call, np: NumPy, x: Array) -> Array:
    """Strings to integers, or back."""
    names, numbers = call.get("cats_strings", tuple), call.ints("cats_int64s")
    other, default = call.get("default_int64", int, -1), call.get("default_string", str, "_Unused")
    if len(names) != len(numbers):
        raise OnnxFormatError(f"{len(names)} strings and {len(numbers)} integers")
    if x.dtype == object:
        table = dict(zip(names, numbers, strict=True))
        return _looked_up(np, x, lambda item: table.get(item, other), dt.int64)
    back = dict(zip(numbers, names, strict=True))
    return _looked_up(np, x, lambda item: back.get(item, default), None)


@host_operator("ZipMap", domain=DOMAIN)
def zip_map(call: Call, np: NumPy, x: Array) -> list[dict[str | int, float]]:
    """A map for each row, from labels to scores."""
    labels = call.get("classlabels_strings", tuple, ()) or call.ints("classlabels_int64s", ())
    call.ignore("classlabels_int64s")
    if x.ndim not in (1, 2) or x.shape[-1] != len(labels):
        raise OnnxFormatError(f"{len(labels)} labels for scores {x.shape}")
    check_memory(_MAP * x.size, f"{x.size:,} entries of maps")
    return [dict(zip(labels, row, strict=True)) for row in x.reshape(-1, len(labels))]


_MAP = 512  # bytes of an entry, at least


def _looked_up(np: NumPy, x: Array, find: Callable[[Any], Any], dtype: DType | None) -> Array:
    found = [find(item) for item in x.reshape(-1).tolist()]
    if dtype is None:
        return object_array(np, found, x.shape)
    numbers: Array = from_values(found, x.shape, dtype).numpy()
    return numbers
