"""Neural network functions, composed of ops.

Names and layouts follow torch.nn.functional; images are NCHW, weights OIHW.
"""

from .activations import (
    celu,
    elu,
    gelu,
    glu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_softmax,
    logsigmoid,
    mish,
    prelu,
    relu,
    relu6,
    rrelu,
    selu,
    sigmoid,
    silu,
    softmax,
    softmin,
    softplus,
    softshrink,
    softsign,
    swiglu,
    tanh,
    tanhshrink,
    threshold,
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
from .blocks import (
    fold,
    pixel_shuffle,
    pixel_unshuffle,
    unfold,
)
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
from .elementwise_losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    cosine_similarity,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    margin_ranking_loss,
    mse_loss,
    pairwise_distance,
    poisson_nll_loss,
    sigmoid_focal_loss,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
)
from .layers import (
    bilinear,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    embedding,
    linear,
    one_hot,
)
from .losses import (
    cross_entropy,
    ctc_loss,
    nll_loss,
)
from .margin_losses import (
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    triplet_margin_with_distance_loss,
)
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
    "batch_norm", "bilinear", "binary_cross_entropy", "binary_cross_entropy_with_logits",
    "celu", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "cosine_embedding_loss", "cosine_similarity", "cross_entropy",
    "ctc_loss", "deform_conv2d", "dropout", "dropout1d", "dropout2d", "dropout3d", "elu",
    "embedding", "fold", "gaussian_nll_loss", "gelu", "global_avg_pool", "glu", "group_norm",
    "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hinge_embedding_loss", "huber_loss",
    "instance_norm", "interpolate", "kl_div", "l1_loss", "layer_norm", "leaky_relu", "linear",
    "local_response_norm", "log_softmax", "logsigmoid", "margin_ranking_loss", "max_pool1d",
    "max_pool2d", "max_pool3d", "mish", "mse_loss", "multi_margin_loss",
    "multilabel_margin_loss", "multilabel_soft_margin_loss", "nll_loss", "normalize", "one_hot",
    "pad", "pairwise_distance", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss", "prelu",
    "relu", "relu6", "rms_norm", "rrelu", "scaled_dot_product_attention", "selu", "sigmoid",
    "sigmoid_focal_loss", "silu", "smooth_l1_loss", "soft_margin_loss", "softmax", "softmin",
    "softplus", "softshrink", "softsign", "sum_pool2d", "swiglu", "tanh", "tanhshrink",
    "threshold", "triplet_margin_loss", "triplet_margin_with_distance_loss", "unfold",
]  # fmt: skip
