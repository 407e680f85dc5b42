"""torch.nn.utils.fusion: a batch norm in evaluation becomes part of the layer before it."""

from __future__ import annotations

from copy import deepcopy
from typing import TypeVar

from ... import functions as f
from ...errors import OptionError
from ...grad_mode import no_grad
from ...tensor import Tensor
from ..module import Module
from ..parameter import Parameter

Layer = TypeVar("Layer", bound=Module)


def fuse_conv_bn_eval(conv: Layer, bn: Module, transpose: bool = False) -> Layer:
    """A convolution that computes what a convolution and the batch norm behind it compute in
    evaluation.

    conv: the convolution, which stays as it is.
    bn: the batch norm.
    transpose: the convolution is a transposed one.
    Returns: a copy of conv, with another weight and another bias.
    Raises: OptionError if one of them is training, or the batch norm has no running statistics.
    Source: PyTorch, `torch.nn.utils.fusion.fuse_conv_bn_eval`.
    """
    return _fused(conv, bn, 1 if transpose else 0)


def fuse_linear_bn_eval(linear: Layer, bn: Module) -> Layer:
    """A linear layer that computes what a linear layer and the batch norm behind it compute in
    evaluation.

    linear: the linear layer, which stays as it is.
    bn: the batch norm.
    Returns: a copy of linear, with another weight and another bias.
    Raises: OptionError if one of them is training, or the batch norm has no running statistics.
    Source: PyTorch, `torch.nn.utils.fusion.fuse_linear_bn_eval`.
    """
    return _fused(linear, bn, 0)


def _fused(layer: Layer, norm: Module, axis: int) -> Layer:
    if layer.training or norm.training or norm.running_mean is None:
        raise OptionError("fuse: both must be in evaluation, with running statistics; call eval()")
    fused = deepcopy(layer)
    with no_grad():
        scale: Tensor = 1.0 / f.sqrt(norm.running_var + norm.eps)
        scale = scale if norm.weight is None else scale * norm.weight
        bias = -norm.running_mean if layer.bias is None else layer.bias - norm.running_mean
        bias = bias * scale if norm.bias is None else bias * scale + norm.bias
        weight: Tensor = layer.weight
        if axis:  # (channels, results of a group, ...): the results of all groups as rows
            groups = layer.groups
            rows = (groups, weight.shape[0] // groups, *weight.shape[1:])
            each = f.reshape(scale, (groups, 1, -1, *(1,) * (weight.ndim - 2)))
            weight = f.reshape(f.reshape(weight, rows) * each, weight.shape)
        else:
            weight = weight * f.reshape(scale, (-1, *(1,) * (weight.ndim - 1)))
    fused.weight = Parameter(weight, layer.weight.requires_grad)
    trained = layer.bias is None or layer.bias.requires_grad
    fused.bias = Parameter(bias, trained)
    return fused
