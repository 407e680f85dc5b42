# Written by tests/unit/project/stubs.py from names.py: do not change it.

from tallow.functional.activations import celu as celu
from tallow.functional.activations import elu as elu
from tallow.functional.activations import gelu as gelu
from tallow.functional.activations import glu as glu
from tallow.functional.activations import hardshrink as hardshrink
from tallow.functional.activations import hardsigmoid as hardsigmoid
from tallow.functional.activations import hardswish as hardswish
from tallow.functional.activations import hardtanh as hardtanh
from tallow.functional.activations import leaky_relu as leaky_relu
from tallow.functional.activations import log_softmax as log_softmax
from tallow.functional.activations import logsigmoid as logsigmoid
from tallow.functional.activations import mish as mish
from tallow.functional.activations import prelu as prelu
from tallow.functional.activations import relu as relu
from tallow.functional.activations import relu6 as relu6
from tallow.functional.activations import rrelu as rrelu
from tallow.functional.activations import selu as selu
from tallow.functional.activations import sigmoid as sigmoid
from tallow.functional.activations import silu as silu
from tallow.functional.activations import softmax as softmax
from tallow.functional.activations import softmin as softmin
from tallow.functional.activations import softplus as softplus
from tallow.functional.activations import softshrink as softshrink
from tallow.functional.activations import softsign as softsign
from tallow.functional.activations import swiglu as swiglu
from tallow.functional.activations import tanhshrink as tanhshrink
from tallow.functional.activations import threshold as threshold
from tallow.functional.adaptive import adaptive_avg_pool1d as adaptive_avg_pool1d
from tallow.functional.adaptive import adaptive_avg_pool2d as adaptive_avg_pool2d
from tallow.functional.adaptive import adaptive_avg_pool3d as adaptive_avg_pool3d
from tallow.functional.adaptive import adaptive_max_pool1d as adaptive_max_pool1d
from tallow.functional.adaptive import adaptive_max_pool2d as adaptive_max_pool2d
from tallow.functional.adaptive import adaptive_max_pool3d as adaptive_max_pool3d
from tallow.functional.attention import scaled_dot_product_attention as scaled_dot_product_attention
from tallow.functional.blocks import fold as fold
from tallow.functional.blocks import pixel_shuffle as pixel_shuffle
from tallow.functional.blocks import pixel_unshuffle as pixel_unshuffle
from tallow.functional.blocks import unfold as unfold
from tallow.functional.borders import pad as pad
from tallow.functional.convolution import conv1d as conv1d
from tallow.functional.convolution import conv2d as conv2d
from tallow.functional.convolution import conv3d as conv3d
from tallow.functional.convolution import conv_transpose1d as conv_transpose1d
from tallow.functional.convolution import conv_transpose2d as conv_transpose2d
from tallow.functional.convolution import conv_transpose3d as conv_transpose3d
from tallow.functional.deformable import deform_conv2d as deform_conv2d
from tallow.functional.elementwise_losses import binary_cross_entropy as binary_cross_entropy
from tallow.functional.elementwise_losses import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from tallow.functional.elementwise_losses import cosine_embedding_loss as cosine_embedding_loss
from tallow.functional.elementwise_losses import cosine_similarity as cosine_similarity
from tallow.functional.elementwise_losses import gaussian_nll_loss as gaussian_nll_loss
from tallow.functional.elementwise_losses import hinge_embedding_loss as hinge_embedding_loss
from tallow.functional.elementwise_losses import huber_loss as huber_loss
from tallow.functional.elementwise_losses import kl_div as kl_div
from tallow.functional.elementwise_losses import l1_loss as l1_loss
from tallow.functional.elementwise_losses import margin_ranking_loss as margin_ranking_loss
from tallow.functional.elementwise_losses import mse_loss as mse_loss
from tallow.functional.elementwise_losses import pairwise_distance as pairwise_distance
from tallow.functional.elementwise_losses import poisson_nll_loss as poisson_nll_loss
from tallow.functional.elementwise_losses import sigmoid_focal_loss as sigmoid_focal_loss
from tallow.functional.elementwise_losses import smooth_l1_loss as smooth_l1_loss
from tallow.functional.elementwise_losses import soft_margin_loss as soft_margin_loss
from tallow.functional.elementwise_losses import triplet_margin_loss as triplet_margin_loss
from tallow.functional.grids import affine_grid as affine_grid
from tallow.functional.grids import channel_shuffle as channel_shuffle
from tallow.functional.grids import grid_sample as grid_sample
from tallow.functional.grids import pdist as pdist
from tallow.functional.layers import alpha_dropout as alpha_dropout
from tallow.functional.layers import bilinear as bilinear
from tallow.functional.layers import dropout as dropout
from tallow.functional.layers import dropout1d as dropout1d
from tallow.functional.layers import dropout2d as dropout2d
from tallow.functional.layers import dropout3d as dropout3d
from tallow.functional.layers import feature_alpha_dropout as feature_alpha_dropout
from tallow.functional.layers import gumbel_softmax as gumbel_softmax
from tallow.functional.layers import linear as linear
from tallow.functional.lookups import embedding as embedding
from tallow.functional.lookups import embedding_bag as embedding_bag
from tallow.functional.lookups import one_hot as one_hot
from tallow.functional.losses import cross_entropy as cross_entropy
from tallow.functional.losses import ctc_loss as ctc_loss
from tallow.functional.losses import nll_loss as nll_loss
from tallow.functional.margin_losses import multi_margin_loss as multi_margin_loss
from tallow.functional.margin_losses import multilabel_margin_loss as multilabel_margin_loss
from tallow.functional.margin_losses import multilabel_soft_margin_loss as multilabel_soft_margin_loss
from tallow.functional.margin_losses import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss
from tallow.functional.normalization import batch_norm as batch_norm
from tallow.functional.normalization import group_norm as group_norm
from tallow.functional.normalization import instance_norm as instance_norm
from tallow.functional.normalization import layer_norm as layer_norm
from tallow.functional.normalization import local_response_norm as local_response_norm
from tallow.functional.normalization import normalize as normalize
from tallow.functional.normalization import rms_norm as rms_norm
from tallow.functional.pool_indices import max_unpool1d as max_unpool1d
from tallow.functional.pool_indices import max_unpool2d as max_unpool2d
from tallow.functional.pool_indices import max_unpool3d as max_unpool3d
from tallow.functional.pooling import avg_pool1d as avg_pool1d
from tallow.functional.pooling import avg_pool2d as avg_pool2d
from tallow.functional.pooling import avg_pool3d as avg_pool3d
from tallow.functional.pooling import global_avg_pool as global_avg_pool
from tallow.functional.pooling import lp_pool1d as lp_pool1d
from tallow.functional.pooling import lp_pool2d as lp_pool2d
from tallow.functional.pooling import lp_pool3d as lp_pool3d
from tallow.functional.pooling import max_pool1d as max_pool1d
from tallow.functional.pooling import max_pool2d as max_pool2d
from tallow.functional.pooling import max_pool3d as max_pool3d
from tallow.functional.pooling import sum_pool2d as sum_pool2d
from tallow.functional.resampling import interpolate as interpolate
from tallow.functional.transducer import rnnt_loss as rnnt_loss
from tallow.functions.elementwise import tanh as tanh

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "deform_conv2d",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "gaussian_nll_loss",
    "gelu",
    "global_avg_pool",
    "glu",
    "grid_sample",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "rnnt_loss",
    "rrelu",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "sigmoid_focal_loss",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "sum_pool2d",
    "swiglu",
    "tanh",
    "tanhshrink",
    "threshold",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
]
