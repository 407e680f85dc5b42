"""Neural network functions, composed of ops.

Names and layouts follow torch.nn.functional; images are NCHW, weights OIHW.
"""

from .activations import (
    elu,
    gelu,
    hardsigmoid,
    hardswish,
    leaky_relu,
    log_softmax,
    relu,
    relu6,
    sigmoid,
    silu,
    softmax,
    softplus,
)
from .attention import scaled_dot_product_attention
from .convolution import conv2d
from .layers import embedding, linear
from .losses import cross_entropy, nll_loss
from .normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    normalize,
    rms_norm,
)
from .pooling import avg_pool2d, global_avg_pool, max_pool2d, sum_pool2d

__all__ = [
    "avg_pool2d", "batch_norm", "conv2d", "cross_entropy", "elu", "embedding", "gelu",
    "global_avg_pool", "group_norm", "hardsigmoid", "hardswish", "instance_norm", "layer_norm",
    "leaky_relu", "linear", "local_response_norm", "log_softmax", "max_pool2d", "nll_loss",
    "normalize", "relu", "relu6", "rms_norm", "scaled_dot_product_attention", "sigmoid", "silu",
    "softmax", "softplus", "sum_pool2d",
]  # fmt: skip
