"""Convolution and pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.graph import make
from tallow.ops.window import conv2d_weight, patches

from .case import case, integers, normal


def conv_reference(x, w, b=None, stride=1, padding=0, dilation=1, groups=1):  # type: ignore
    """Cross-correlation by the definition, in float64."""
    pair = lambda v: (v, v) if isinstance(v, int) else v  # noqa: E731
    (sh, sw), (dh, dw) = pair(stride), pair(dilation)
    pads = [p if isinstance(p, tuple) else (p, p) for p in pair(padding)]
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *pads])
    o, each, kh, kw = w.shape
    oh = (x.shape[2] - dh * (kh - 1) - 1) // sh + 1
    ow = (x.shape[3] - dw * (kw - 1) - 1) // sw + 1
    out = np.zeros((x.shape[0], o, oh, ow))
    for channel in range(o):
        first = channel // (o // groups) * each
        for i in range(kh):
            for j in range(kw):
                rows, columns = i * dh + sh * np.arange(oh), j * dw + sw * np.arange(ow)
                part = x[:, first : first + each][:, :, rows][:, :, :, columns]
                out[:, channel] += np.einsum("nchw,c->nhw", part, w[channel, :, i, j])
    return (out if b is None else out + b[:, None, None]).astype(np.float32)


def convolution(label: str, x: tuple[int, ...], w: tuple[int, ...], **options: Any) -> None:
    arrays = (normal(*x), normal(*w), normal(w[0]))
    case(f"conv2d-{label}", arrays, lambda x, w, b: F.conv2d(x, w, b, **options),
         lambda x, w, b: conv_reference(x, w, b, **options), rtol=1e-4, atol=1e-4)  # fmt: skip


convolution("3x3", (1, 8, 9, 11), (16, 8, 3, 3), padding=1)
convolution("rgb-stride", (1, 3, 15, 15), (8, 3, 3, 3), stride=2, padding=((0, 1), (0, 1)))
convolution("gray", (2, 1, 7, 7), (5, 1, 5, 5))
convolution("odd", (1, 7, 5, 6), (3, 7, 3, 2), stride=(2, 1), padding=((1, 0), (2, 1)))
convolution("dilated", (1, 4, 12, 12), (4, 4, 3, 3), dilation=(2, 3), padding=(2, 3))
convolution("1x1", (2, 16, 7, 5), (24, 16, 1, 1))
convolution("1x1-odd", (1, 5, 3, 3), (7, 5, 1, 1))
convolution("1x1-stride", (1, 8, 6, 6), (8, 8, 1, 1), stride=2)
convolution("grouped", (1, 6, 5, 5), (9, 2, 3, 3), groups=3, padding=1)
convolution("depthwise-3x3", (1, 16, 9, 9), (16, 1, 3, 3), groups=16, padding=1)
convolution("depthwise-5x5-stride", (1, 8, 11, 11), (8, 1, 5, 5), groups=8, stride=2,
            padding=((1, 2), (1, 2)))  # fmt: skip
convolution("depthwise-odd", (1, 7, 6, 5), (7, 1, 3, 3), groups=7, padding=1)
convolution("depthwise-dilated", (1, 4, 9, 9), (4, 1, 3, 3), groups=4, dilation=2, padding=2)
convolution("multiplier", (1, 4, 6, 6), (8, 1, 3, 3), groups=4, padding=1)
convolution("large-kernel", (1, 4, 7, 7), (4, 4, 7, 7))
convolution("one-pixel", (2, 5, 3, 3), (7, 5, 3, 3))
convolution("depthwise-one-pixel", (2, 3, 1, 1), (3, 1, 1, 1), groups=3)
convolution("7x7-stride", (1, 3, 23, 23), (16, 3, 7, 7), stride=2, padding=3)


def patches_reference(x, kernel, stride, padding, dilation):  # type: ignore
    """What windows see, pixel by pixel."""
    x = np.pad(x, [(0, 0), *padding, (0, 0)])
    oh, ow = ((x.shape[1 + a] - dilation[a] * (kernel[a] - 1) - 1) // stride[a] + 1 for a in (0, 1))
    out = np.zeros((x.shape[0], oh, ow, *kernel, x.shape[3]), x.dtype)
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            rows = i * dilation[0] + stride[0] * np.arange(oh)
            out[:, :, :, i, j] = x[:, rows][:, :, j * dilation[1] + stride[1] * np.arange(ow)]
    return out


for label, options in {
    "plain": {"stride": (1, 1), "padding": ((0, 0), (0, 0)), "dilation": (1, 1)},
    "padded": {"stride": (1, 2), "padding": ((1, 1), (2, 0)), "dilation": (2, 1)},
}.items():
    case(f"patches-{label}", normal(2, 7, 6, 3),
         lambda x, options=options: tl.Tensor(
             make(patches, x.node, kernel=(3, 2), value=0, **options)),
         lambda x, options=options: patches_reference(x, (3, 2), **options))  # fmt: skip


def weight_reference(x, gradient, kernel, stride, padding, dilation, groups):  # type: ignore
    """The gradient of conv2d's weight by the definition, in float64."""
    x = np.pad(x.astype(np.float64), [(0, 0), *padding, (0, 0)])
    _, oh, ow, o = gradient.shape
    each, filters = x.shape[3] // groups, o // groups
    out = np.zeros((*kernel, each, o))
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            rows = dilation[0] * i + stride[0] * np.arange(oh)
            columns = dilation[1] * j + stride[1] * np.arange(ow)
            part = x[:, rows][:, :, columns]
            for g in range(groups):
                inner, outer = (
                    slice(g * each, (g + 1) * each),
                    slice(g * filters, (g + 1) * filters),
                )
                out[i, j, :, outer] = np.einsum(
                    "nhwc,nhwo->co", part[..., inner], gradient[..., outer]
                )
    return out.astype(np.float32)


def weight_gradient(
    label: str, x: tuple[int, ...], o: int, kernel: tuple[int, int], **options: Any
) -> None:
    attrs: dict[str, Any] = {
        "stride": (1, 1),
        "padding": ((0, 0), (0, 0)),
        "dilation": (1, 1),
        "groups": 1,
    }
    attrs |= options
    sizes = [
        (x[1 + a] + sum(attrs["padding"][a]) - attrs["dilation"][a] * (kernel[a] - 1) - 1)
        // attrs["stride"][a] + 1
        for a in (0, 1)
    ]  # fmt: skip
    case(f"conv2d_weight-{label}", (normal(*x), normal(x[0], *sizes, o)),
         lambda x, g: tl.Tensor(make(conv2d_weight, x.node, g.node, kernel=kernel, **attrs)),
         lambda x, g: weight_reference(x, g, kernel, **attrs), rtol=1e-4, atol=1e-4)  # fmt: skip


weight_gradient("3x3", (2, 8, 7, 8), 12, (3, 3), padding=((1, 1), (1, 1)))
weight_gradient("gray", (3, 9, 9, 1), 6, (5, 5))
weight_gradient("stride", (2, 9, 8, 5), 7, (3, 2), stride=(2, 1), padding=((1, 0), (2, 1)))
weight_gradient("dilated", (1, 12, 12, 4), 4, (3, 3), dilation=(2, 3), padding=((2, 2), (3, 3)))
weight_gradient("1x1", (2, 5, 4, 16), 24, (1, 1))
weight_gradient("grouped", (1, 5, 5, 6), 9, (3, 3), groups=3, padding=((1, 1), (1, 1)))
weight_gradient("depthwise", (2, 6, 6, 8), 8, (3, 3), groups=8, padding=((1, 1), (1, 1)))
weight_gradient("multiplier", (1, 6, 6, 4), 8, (3, 3), groups=4)


def residual_block(x, w1, w2, b, s):  # type: ignore
    """What a network does: convolution, scale, activation, convolution, residual."""
    inner = F.relu6(F.conv2d(x, w1, padding=1) * tl.reshape(s, (-1, 1, 1)))
    return F.conv2d(inner, w2, b) + x


case(
    "conv2d-residual",
    (normal(1, 8, 6, 6), normal(12, 8, 3, 3), normal(8, 12, 1, 1), normal(8), normal(12)),
    residual_block,
    lambda x, w1, w2, b, s: (
        conv_reference(np.clip(conv_reference(x, w1, padding=1) * s[:, None, None], 0, 6), w2, b)
        + x
    ),
    rtol=1e-3,
    atol=1e-3,
)
norm_weight = normal(8, 4, 3, 3)
norm_mean, norm_var, norm_scale, norm_shift = (np.abs(normal(8)) + 0.5 for _ in range(4))


def normed(x):  # type: ignore
    """A convolution and the batch norm after it, all of it weights."""
    weight, mean, var, scale, shift = map(
        tl.asarray, (norm_weight, norm_mean, norm_var, norm_scale, norm_shift)
    )
    return F.batch_norm(F.conv2d(x, weight), mean, var, scale, shift, eps=1e-3)


def normed_reference(x):  # type: ignore
    scale = norm_scale / np.sqrt(norm_var + 1e-3)
    centred = conv_reference(x, norm_weight) - norm_mean[:, None, None]
    return centred * scale[:, None, None] + norm_shift[:, None, None]


case("batch_norm-folded", normal(1, 4, 5, 5), normed, normed_reference, rtol=1e-3, atol=1e-4)


def pool_reference(x, kernel, stride, pads, ceil, reduce):  # type: ignore
    """Windows one by one; reduce(window elements inside, window elements with padding)."""
    n, c, h, w = x.shape
    sizes = []
    for axis, size in enumerate((h, w)):
        low, high = pads[axis]
        span = size + low + high - kernel[axis]
        count = -(-span // stride[axis]) + 1 if ceil else span // stride[axis] + 1
        if ceil and (count - 1) * stride[axis] >= size + low:
            count -= 1
        sizes.append(count)
    out = np.zeros((n, c, *sizes), np.float32)
    for i in range(sizes[0]):
        for j in range(sizes[1]):
            top, left = i * stride[0] - pads[0][0], j * stride[1] - pads[1][0]
            bottom, right = top + kernel[0], left + kernel[1]
            inside = x[:, :, max(top, 0) : min(bottom, h), max(left, 0) : min(right, w)]
            counted = (min(bottom, h + pads[0][1]) - top) * (min(right, w + pads[1][1]) - left)
            out[:, :, i, j] = reduce(inside, counted)
    return out


def pooling(label: str, shape: tuple[int, ...], kernel: Any, stride: Any, pads: Any,
            ceil: bool = False) -> None:  # fmt: skip
    x = normal(*shape)
    options = {"stride": stride, "padding": pads, "ceil_mode": ceil}
    case(f"max_pool2d-{label}", x, lambda x: F.max_pool2d(x, kernel, **options),
         lambda x: pool_reference(x, kernel, stride, pads, ceil,
                                  lambda w, _: w.max((2, 3))))  # fmt: skip
    case(f"avg_pool2d-{label}", x, lambda x: F.avg_pool2d(x, kernel, **options),
         lambda x: pool_reference(x, kernel, stride, pads, ceil,
                                  lambda w, n: w.sum((2, 3)) / n), rtol=1e-4)  # fmt: skip
    case(f"avg_pool2d-{label}-inside", x,
         lambda x: F.avg_pool2d(x, kernel, count_include_pad=False, **options),
         lambda x: pool_reference(x, kernel, stride, pads, ceil,
                                  lambda w, _: w.mean((2, 3))), rtol=1e-4)  # fmt: skip


none = ((0, 0), (0, 0))
pooling("2x2", (1, 8, 6, 6), (2, 2), (2, 2), none)
pooling("3x3-padded", (2, 3, 7, 9), (3, 3), (2, 2), ((1, 1), (1, 1)))
pooling("ceil", (1, 4, 6, 7), (3, 3), (2, 2), none, True)
pooling("ceil-padded", (1, 5, 7, 7), (3, 2), (3, 2), ((1, 1), (0, 1)), True)
pooling("asymmetric", (1, 4, 5, 5), (2, 3), (1, 2), ((0, 1), (2, 0)))
case("max_pool2d-int32", integers(1, 3, 6, 6), lambda x: F.max_pool2d(x, 2),
     lambda x: x.reshape(1, 3, 3, 2, 3, 2).max((3, 5)))  # fmt: skip
case("global_avg_pool", normal(2, 12, 7, 7), F.global_avg_pool,
     lambda x: x.mean((2, 3), keepdims=True), rtol=1e-4)  # fmt: skip
