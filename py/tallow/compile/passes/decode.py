"""Decoding: a graph without coded types (core/dtype.py), which neither NumPy nor a GPU computes.

Constants stay as packed as they are in the file and become numbers on the device that reads them;
floating ones become float32, integers int8 or uint8. bfloat16 and integers of less than a byte the
GPU reads as they are packed (devices/webgpu/codegen/storage.py); for NumPy they are unpacked.

Inputs and outputs travel as words, one an element. What is computed is float32: it is rounded by a
cast to a coded type, and in outputs.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable
from dataclasses import replace

from ... import functions as f
from ...core import dtype as dt
from ...core.codes import FORMATS, Format, values_of
from ...core.dtype import DType, computed_type, word_type
from ...core.hostarray import HostArray, from_values
from ...core.shape import Shape
from ...graph import Graph, Node, constant, input_node, make
from ...ops import elementwise as e
from ...tensor import Tensor

ReadsPacked = Callable[[DType], bool]

_SMALL = 64  # elements of a constant that is decoded here and now


def decode(graph: Graph, reads_packed: ReadsPacked) -> Graph:
    """The graph in types that the device has, or reads; coded inputs and outputs become words.

    reads_packed: whether the device's kernels read a coded type as it is packed.
    """
    order = graph.nodes()
    if not any(node.dtype.coded for node in (*order, *graph.inputs)):
        return graph
    inputs = {
        node: input_node(node.attrs["name"], node.shape, word_type(node.dtype))
        if node.dtype.coded
        else node
        for node in graph.inputs
    }
    new = {
        node: _from_words(Tensor(given), node.dtype).node if node.dtype.coded else given
        for node, given in inputs.items()
    }
    for node in order:
        if node not in new:
            new[node] = _decoded(node, tuple(new[child] for child in node.inputs), reads_packed)
    outputs = {
        name: _to_words(Tensor(new[node]), node.dtype).node if node.dtype.coded else new[node]
        for name, node in graph.outputs.items()
    }
    return replace(graph, inputs=tuple(inputs.values()), outputs=outputs)


def _decoded(node: Node, inputs: tuple[Node, ...], reads_packed: ReadsPacked) -> Node:
    dtype = node.dtype
    if node.is_constant:
        return _constant(node.attrs["data"], reads_packed) if dtype.coded else node
    if node.op is e.cast and dtype.coded:
        return _rounded(Tensor(inputs[0]), dtype).node
    if node.op is e.bitcast and (dtype.coded or node.inputs[0].dtype.coded):
        before = node.inputs[0].dtype
        words = _to_words(Tensor(inputs[0]), before) if before.coded else Tensor(inputs[0])
        return _from_words(f.bitcast(words, word_type(dtype)), dtype).node
    if inputs == node.inputs and not dtype.coded:
        return node
    attrs = dict(node.attrs)
    if "dtype" in attrs:
        attrs["dtype"] = computed_type(attrs["dtype"])
        if node.op is e.cast and inputs[0].dtype == attrs["dtype"]:
            return inputs[0]
    return make(node.op, *inputs, **attrs)


def _constant(data: HostArray, reads_packed: ReadsPacked) -> Node:
    dtype = data.dtype
    if data.size <= _SMALL:
        return constant(from_values(data.flat(), data.shape, computed_type(dtype)))
    if reads_packed(dtype):
        return Tensor(constant(data)).astype(computed_type(dtype)).node
    if not dtype.narrow_bits:
        words = Tensor(constant(_seen_as(data, data.shape, word_type(dtype))))
        return _from_words(words, dtype).node
    if reads_packed(dt.uint4):
        codes = Tensor(constant(_seen_as(data, data.shape, dt.uint4)))
        return _from_words(codes.astype(dt.uint8), dtype).node
    per_byte, length = 8 // dtype.bits, data.nbytes
    packed = Tensor(constant(_seen_as(data, (length, 1), dt.uint8)))
    shifts = from_values([dtype.bits * index for index in range(per_byte)], (per_byte,), dt.uint8)
    codes = f.bitwise_and(packed >> Tensor(constant(shifts)), (1 << dtype.bits) - 1)
    flat = f.reshape(codes, (length * per_byte,))[: data.size]
    return _from_words(f.reshape(flat, data.shape), dtype).node


def _seen_as(data: HostArray, shape: Shape, dtype: DType) -> HostArray:
    """The bytes of an array as elements of another type."""
    return data.made(lambda given: HostArray(given.data, shape, dtype), shape, dtype)


def _from_words(words: Tensor, dtype: DType) -> Tensor:
    """What codes mean."""
    if not dtype.coded or dtype.kind == "u":
        return words
    if dtype.kind == "i":
        half = 1 << dtype.bits - 1
        return f.bitwise_xor(words.astype(dt.int8), half) - half
    if dtype == dt.bfloat16:
        return f.bitcast(words.astype(dt.uint32) << 16, dt.float32)
    values = values_of(dtype)
    table = HostArray(memoryview(array("f", values)).cast("B"), (len(values),), dt.float32)
    return f.take(Tensor(constant(table)), words, 0)


def _to_words(x: Tensor, dtype: DType) -> Tensor:
    """The codes of numbers, rounded."""
    word = word_type(dtype)
    if dtype.is_integer:
        mask = (1 << dtype.bits) - 1
        return f.bitwise_and(x.astype(dt.int32), mask).astype(word)
    if dtype == dt.float8_e8m0fnu:
        return _exponents(x.astype(dt.float32)).astype(word)
    x = _rounded(x, dtype)
    bits = f.bitcast(x, dt.uint32)
    if dtype == dt.bfloat16:
        return (bits >> 16).astype(word)
    form = FORMATS[dtype]
    size, magnitude = f.abs(x), f.bitwise_and(bits, 0x7FFFFFFF)
    steps = 2.0 ** (form.mantissa + form.bias - 1)  # subnormal numbers are counted in these
    small = f.minimum(size, form.least_normal) * steps
    # Computed modulo 2 ** 32; what is subnormal, or not finite, is not taken from here.
    normal = (magnitude >> 23 - form.mantissa) - (127 - form.bias << form.mantissa)
    code = f.where(size < form.least_normal, small.astype(dt.uint32), normal)
    sign = f.bitwise_left_shift(bits >> 31, dtype.bits - 1)
    top = 1 << dtype.bits - 1
    if form.beyond == "inf":
        code = f.where(f.isinf(x), top - (1 << form.mantissa), code)
        code = f.where(f.isnan(x), top - 2, code)
    elif form.beyond == "nan" and not form.unsigned_zero:
        code = f.where(f.isnan(x), top - 1, code)
    code = f.bitwise_or(code, sign)
    if form.unsigned_zero:
        code = f.where(f.isnan(x), top, f.where(f.equal(magnitude, 0), 0, code))
    return code.astype(word)


def _rounded(x: Tensor, dtype: DType) -> Tensor:
    """The nearest values that the type has, halves to even, as its computed type."""
    if dtype.is_integer:
        mask, half = (1 << dtype.bits) - 1, 1 << dtype.bits - 1
        wrapped = f.bitwise_and(x.astype(dt.int32), mask)
        if dtype.kind == "i":
            wrapped = f.bitwise_xor(wrapped, half) - half
        return wrapped.astype(computed_type(dtype))
    x = x.astype(dt.float32)
    bits = f.bitcast(x, dt.uint32)
    if dtype == dt.bfloat16:
        upper = bits + f.bitwise_and(bits >> 16, 1) + 0x7FFF
        number = f.bitcast(f.bitwise_and(upper, 0xFFFF0000), dt.float32)
        return f.where(f.isnan(x), x, number)
    if dtype == dt.float8_e8m0fnu:
        return _from_words(_exponents(x), dtype)
    return _rounded_by(FORMATS[dtype], x, bits)


def _rounded_by(form: Format, x: Tensor, bits: Tensor) -> Tensor:
    """Rounded to a multiple of the distance of neighbours, a power of two, that its exponent
    says."""
    exponent = f.bitwise_and(bits >> 23, 0xFF)
    exponent = f.maximum(exponent, 128 - form.bias)
    distance = f.bitcast((exponent - form.mantissa) << 23, dt.float32)
    inverse = f.bitcast((254 + form.mantissa - exponent) << 23, dt.float32)
    number = f.round(x * inverse) * distance
    over = f.logical_or(f.isinf(x), f.abs(number) > form.largest)
    sign = f.bitwise_and(bits, 0x80000000)
    end = {"inf": 0x7F800000, "nan": 0x7FC00000, "largest": _bits(form.largest)}[form.beyond]
    number = f.where(over, f.bitcast(f.bitwise_or(sign, end), dt.float32), number)
    if form.unsigned_zero:
        number = f.where(f.equal(number, 0), 0.0, number)
    return f.where(f.isnan(x), -0.0 if form.beyond == "largest" else x, number)


def _bits(number: float) -> int:
    return int.from_bytes(struct.pack("<f", number), "little")


def _exponents(x: Tensor) -> Tensor:
    """Codes of float8_e8m0fnu, as uint32: nearest, halves up."""
    bits = f.bitcast(x, dt.uint32)
    code = f.where(bits < 0x600000, 0, (bits + 0x400000) >> 23)
    undefined = f.logical_or(bits >= 0x7F800000, code > 254)  # negative numbers too
    return f.where(f.equal(bits, 0x80000000), 0, f.where(undefined, 255, code))
