"""PyTorch's names: data. What the rooms of `tallow.torch` offer is looked up by these lists, and
docs/pytorch.md is written from them."""

from __future__ import annotations


def words(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


FUNCTIONS = frozenset(
    words(
        """
    abs abs_ absolute acos acos_ acosh acosh_ adaptive_avg_pool1d adaptive_max_pool1d
    add addbmm addcdiv addcmul addmm addmv addmv_ addr all allclose alpha_dropout amax
    amin aminmax any arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_
    arctan arctan2 arctan_ arctanh arctanh_ argmax argmin argsort argwhere as_strided
    asin asin_ asinh asinh_ atan atan2 atan_ atanh atanh_ atleast_1d atleast_2d
    atleast_3d avg_pool1d baddbmm bartlett_window batch_norm bernoulli bilinear
    binary_cross_entropy_with_logits bincount binomial bitwise_and bitwise_left_shift
    bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman_window block_diag
    bmm broadcast_shapes broadcast_tensors broadcast_to bucketize can_cast
    cartesian_prod cdist ceil ceil_ celu celu_ chain_matmul channel_shuffle cholesky
    cholesky_inverse cholesky_solve chunk clamp clamp_ clamp_max clamp_max_ clamp_min
    clamp_min_ clip clip_ clone column_stack combinations conj conv1d conv2d conv3d
    conv_transpose1d conv_transpose2d conv_transpose3d copysign corrcoef cos cos_ cosh
    cosh_ cosine_embedding_loss cosine_similarity count_nonzero cov cross cummax cummin
    cumprod cumsum cumulative_trapezoid deg2rad deg2rad_ det detach detach_ diag
    diag_embed diagflat diagonal diagonal_scatter diff digamma dist div divide dot
    dropout dsplit dstack einsum embedding embedding_bag eq equal erf erf_ erfc erfc_
    erfinv exp exp2 exp2_ exp_ expm1 expm1_ fill_ fix fix_ flatten flip fliplr flipud
    float_power floor floor_ floor_divide fmax fmin fmod frac frac_ frexp gather gcd
    gcd_ ge ger gradient greater greater_equal group_norm gt hamming_window hann_window
    hardshrink heaviside hinge_embedding_loss histc histogram hsplit hstack hypot i0 i0_
    igamma igammac index_add index_copy index_fill index_put index_put_ index_reduce
    index_select inner instance_norm inverse is_complex is_floating_point is_inference
    is_nonzero is_signed isclose isfinite isin isinf isnan isneginf isposinf isreal
    kaiser_window kl_div kron kthvalue layer_norm lcm lcm_ ldexp ldexp_ le lerp less
    less_equal lgamma log log10 log10_ log1p log1p_ log2 log2_ log_ log_softmax
    logaddexp logaddexp2 logcumsumexp logdet logical_and logical_not logical_or
    logical_xor logit logit_ logspace logsumexp lt margin_ranking_loss masked_fill
    masked_scatter masked_select matmul matrix_exp matrix_power max max_pool1d
    max_pool2d max_pool3d maximum mean median min minimum mm mode moveaxis movedim msort
    mul multinomial multiply mv mvlgamma nan_to_num nan_to_num_ nanmean nanmedian
    nanquantile nansum narrow ne neg neg_ negative negative_ nextafter nonzero norm
    not_equal numel outer pairwise_distance pdist permute pinverse pixel_shuffle
    pixel_unshuffle poisson poisson_nll_loss polygamma positive prelu prod put
    quantile rad2deg rad2deg_ ravel reciprocal reciprocal_ relu relu_ remainder renorm
    repeat_interleave reshape rms_norm roll rot90 round round_ row_stack rrelu rrelu_
    rsqrt rsqrt_ rsub scatter scatter_add scatter_reduce searchsorted select
    select_scatter selu selu_ sgn sigmoid sigmoid_ sign signbit sin sin_ sinc sinc_ sinh
    sinh_ slice_scatter slogdet softmax sort split split_with_sizes sqrt sqrt_ square
    square_ squeeze stack std std_mean sub subtract sum swapaxes swapdims t take
    take_along_dim tan tan_ tanh tanh_ tensor_split tensordot threshold threshold_ tile
    topk trace transpose trapezoid trapz tril tril_indices triplet_margin_loss triu
    triu_indices true_divide trunc trunc_ unbind unflatten unique_consecutive
    unravel_index unsqueeze vander var var_mean vdot vsplit vstack xlogy xlogy_ zero_
    """
    )
)
"""Functions of tensors that `torch` has, beside those that tensors.py and settings.py define."""

NUMBER_FIRST = words(
    """
    bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor bucketize
    float_power isin polygamma remainder xlogy
    """
)
"""Those of them whose first argument may be a number, so that they are no methods of it."""

TYPES = words(
    """
    bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 uint16 uint32 uint64
    """
)
"""Element types."""

INSTEAD = {
    "complex64": "two real tensors, or a last axis of length 2",
    "complex128": "two real tensors, or a last axis of length 2",
    "cfloat": "two real tensors, or a last axis of length 2",
    "complex": "two real tensors, or a last axis of length 2",
    "polar": "cos and sin of the angle, times the absolute value",
    "view_as_complex": "products written out for the real and the imaginary part",
    "view_as_real": "products written out for the real and the imaginary part",
    "stft": "Tensor.unfold for the windows, times a matrix of cosines and sines",
    "istft": "torch.nn.functional.fold",
    "fft": "a product with a matrix of cosines and sines",
    "quantize_per_tensor": "python -m tallow convert --int8, for ONNX files",
    "lobpcg": "torch.linalg.eigh",
    "eig": "torch.linalg.eigh, for symmetric matrices",
    "eigvals": "torch.linalg.eigvalsh, for symmetric matrices",
    "lu": "torch.linalg.solve, or torch.linalg.qr",
    "lu_factor": "torch.linalg.solve, or torch.linalg.qr",
    "solve": "torch.linalg.solve",
    "triangular_solve": "torch.linalg.solve_triangular",
    "svd_lowrank": "torch.linalg.svd",
    "pca_lowrank": "torch.linalg.svd",
    "imag": "two real tensors, or a last axis of length 2",
    "load_state_dict_from_url": "torch.load of a file that was fetched before",
    "compile_session": "tallow.compile_session",
}
"""What there is instead of a name that is missing."""

ROOMS: dict[str, tuple[str, ...]] = {
    "func": ("tallow.func",),
    "autograd.function": ("tallow.torch.autograd",),
    "autograd.functional": ("tallow.torch.autograd_functional",),
    "autograd.profiler": ("tallow.torch.profiler",),
    "autograd.variable": ("tallow.torch.autograd",),
    "autograd.grad_mode": ("tallow.torch.autograd",),
    "nn.modules": ("tallow.torch.nn",),
    "nn.modules.activation": ("tallow.torch.nn", "tallow.torch.nn.internals"),
    "nn.modules.batchnorm": (
        "tallow.torch.nn",
        "tallow.torch.nn.internals",
        "tallow.nn.normalization",
    ),
    "nn.modules.container": ("tallow.torch.nn", "tallow.torch.nn.internals"),
    "nn.modules.conv": ("tallow.torch.nn", "tallow.torch.nn.internals", "tallow.nn.convolution"),
    "nn.modules.distance": ("tallow.torch.nn", "tallow.torch.nn.internals"),
    "nn.modules.dropout": ("tallow.torch.nn", "tallow.torch.nn.internals", "tallow.nn.dropout"),
    "nn.modules.flatten": ("tallow.torch.nn", "tallow.torch.nn.internals"),
    "nn.modules.instancenorm": (
        "tallow.torch.nn",
        "tallow.torch.nn.internals",
        "tallow.nn.normalization",
    ),
    "nn.modules.linear": ("tallow.torch.nn", "tallow.torch.nn.internals"),
    "nn.modules.loss": ("tallow.torch.nn", "tallow.torch.nn.internals", "tallow.nn.loss"),
    "nn.modules.module": ("tallow.torch.nn", "tallow.torch.nn.internals", "tallow.nn.module"),
    "nn.modules.normalization": (
        "tallow.torch.nn",
        "tallow.torch.nn.internals",
        "tallow.nn.normalization",
    ),
    "nn.modules.padding": ("tallow.torch.nn", "tallow.torch.nn.internals"),
    "nn.modules.pixelshuffle": ("tallow.torch.nn", "tallow.torch.nn.internals"),
    "nn.modules.pooling": ("tallow.torch.nn", "tallow.torch.nn.internals"),
    "nn.modules.rnn": ("tallow.torch.nn", "tallow.torch.nn.internals", "tallow.nn.recurrent"),
    "nn.modules.sparse": ("tallow.torch.nn", "tallow.torch.nn.internals"),
    "nn.modules.transformer": (
        "tallow.torch.nn",
        "tallow.torch.nn.internals",
        "tallow.nn.transformer",
    ),
    "nn.modules.upsampling": ("tallow.torch.nn", "tallow.torch.nn.internals"),
    "nn.common_types": ("tallow.torch.nn.internals",),
    "nn.modules.utils": ("tallow.torch.nn.tuples",),
    "nn.parallel.data_parallel": ("tallow.torch.nn.parallel",),
    "nn.parallel.distributed": ("tallow.torch.nn.parallel",),
    "nn.parallel.scatter_gather": ("tallow.torch.nn.parallel",),
    "nn.parameter": ("tallow.torch.nn", "tallow.nn.parameter"),
    "nn.utils.clip_grad": ("tallow.nn.utils",),
    "nn.utils.convert_parameters": ("tallow.nn.utils",),
    "nn.utils.fusion": ("tallow.nn.utils.fusion",),
    "nn.utils.parametrizations": ("tallow.nn.utils.parametrizations",),
    "nn.utils.parametrize": ("tallow.nn.utils.parametrize",),
    "nn.utils.prune": ("tallow.nn.utils.prune",),
    "nn.utils.rnn": ("tallow.nn.utils.rnn",),
    "nn.utils.spectral_norm": ("tallow.nn.utils",),
    "nn.utils.stateless": ("tallow.func",),
    "nn.utils.weight_norm": ("tallow.nn.utils",),
    "optim": ("tallow.optim",),
    "optim.adam": ("tallow.optim",),
    "optim.adamw": ("tallow.optim",),
    "optim.lbfgs": ("tallow.optim",),
    "optim.lr_scheduler": ("tallow.optim.lr_scheduler",),
    "optim.optimizer": ("tallow.optim", "tallow.optim.optimizer", "tallow.torch.optimizer_names"),
    "optim.rmsprop": ("tallow.optim",),
    "optim.sgd": ("tallow.optim",),
    "optim.swa_utils": ("tallow.optim.swa_utils",),
    "accelerator": ("tallow.torch.mps",),
    **{
        f"backends.{name}": ("tallow.torch.switches",)
        for name in words(
            """
    cpu cuda cudnn mkl mkldnn mps openmp opt_einsum quantized
    """
        )
    },
    "cuda.amp": ("tallow.torch.amp",),
    "cuda.amp.autocast_mode": ("tallow.torch.amp",),
    "cuda.amp.grad_scaler": ("tallow.torch.amp",),
    "amp.autocast_mode": ("tallow.torch.amp",),
    "amp.grad_scaler": ("tallow.torch.amp",),
    "fx.node": ("tallow.torch.fx",),
    "fx.proxy": ("tallow.torch.fx",),
    "random": ("tallow.torch.settings",),
    "serialization": ("tallow.torch.files",),
    "utils._pytree": ("tallow.torch.pytree",),
    "utils.hooks": ("tallow.hooks",),
    "utils.model_zoo": ("tallow.torch.model_zoo",),
    "utils.tensorboard": ("tallow.torch.tensorboard",),
    "utils.tensorboard.writer": ("tallow.torch.tensorboard",),
    "xpu": ("tallow.torch.cuda",),
    "functional": ("tallow.torch",),
    "_tensor": ("tallow.torch",),
    "_C": ("tallow.torch.bindings",),
    "_dynamo": ("tallow.torch.compiler",),
    "_dynamo.config": ("tallow.torch.compiler",),
    "_inductor": ("tallow.torch.compiler",),
    "_inductor.config": ("tallow.torch.compiler",),
    "cuda.nvtx": ("tallow.torch.profiler",),
    "utils.checkpoint": ("tallow.utils.checkpoint",),
    "utils.data": ("tallow.utils.data", "tallow.torch.data_names"),
    "utils.data.dataloader": ("tallow.torch.utils.data", "tallow.utils.data.collate"),
    "utils.data.dataset": ("tallow.torch.utils.data",),
    "utils.data.distributed": ("tallow.torch.utils.data",),
    "utils.data.sampler": ("tallow.torch.utils.data",),
    "distributions": ("tallow.distributions",),
    **{
        f"distributions.{name}": ("tallow.distributions",)
        for name in [
            "bernoulli",
            "beta",
            "binomial",
            "categorical",
            "cauchy",
            "chi2",
            "continuous_bernoulli",
            "dirichlet",
            "distribution",
            "exp_family",
            "exponential",
            "fishersnedecor",
            "gamma",
            "geometric",
            "gumbel",
            "half_cauchy",
            "half_normal",
            "independent",
            "inverse_gamma",
            "kl",
            "kumaraswamy",
            "laplace",
            "lkj_cholesky",
            "log_normal",
            "logistic_normal",
            "lowrank_multivariate_normal",
            "mixture_same_family",
            "multinomial",
            "multivariate_normal",
            "negative_binomial",
            "normal",
            "one_hot_categorical",
            "pareto",
            "poisson",
            "relaxed_bernoulli",
            "relaxed_categorical",
            "studentT",
            "transformed_distribution",
            "uniform",
            "von_mises",
            "weibull",
            "wishart",
        ]
    },
    "distributions.constraints": ("tallow.distributions.constraints",),
    "distributions.constraint_registry": ("tallow.distributions.constraint_registry",),
    "distributions.transforms": ("tallow.distributions.transforms",),
    "distributions.utils": ("tallow.distributions.utils",),
}
"""Rooms that have no names of their own: where the names of each are found, in this order."""
