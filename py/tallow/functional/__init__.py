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
from .adaptive import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
)
from .attention import scaled_dot_product_attention
from .blocks import fold, pixel_shuffle, pixel_unshuffle, unfold
from .borders import pad
from .convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from .deformable import deform_conv2d
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
from .pooling import (
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    global_avg_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    sum_pool2d,
)
from .resampling import interpolate

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "batch_norm", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "cross_entropy", "deform_conv2d", "elu", "embedding", "fold", "gelu",
    "global_avg_pool", "group_norm", "hardsigmoid", "hardswish", "instance_norm", "interpolate",
    "layer_norm", "leaky_relu", "linear", "local_response_norm", "log_softmax", "max_pool1d",
    "max_pool2d", "max_pool3d", "nll_loss", "normalize", "pad", "pixel_shuffle", "pixel_unshuffle",
    "relu", "relu6", "rms_norm", "scaled_dot_product_attention", "sigmoid", "silu", "softmax",
    "softplus", "sum_pool2d", "unfold",
]  # fmt: skip
