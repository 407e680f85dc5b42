"""Rooms of `tallow.torch`: data. Functions of tensors stand in names.py of the library. What a room
offers is looked up by these lists, and docs/pytorch.md is written from them."""

from __future__ import annotations


def words(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


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

_LAYERS = {
    "activation": "", "batchnorm": "normalization", "container": "", "conv": "convolution",
    "distance": "", "dropout": "dropout", "flatten": "", "instancenorm": "normalization",
    "linear": "", "loss": "loss", "module": "module", "normalization": "normalization",
    "padding": "", "pixelshuffle": "", "pooling": "", "rnn": "recurrent", "sparse": "",
    "transformer": "transformer", "upsampling": "",
}  # fmt: skip
"""Rooms of `nn.modules`, and the modules of `tallow.nn` that have more of their names."""

ROOMS: dict[str, tuple[str, ...]] = {
    "func": ("tallow.func",),
    "autograd.forward_ad": ("tallow.autodiff.forward",),
    "autograd.function": ("tallow.torch.autograd",),
    "autograd.functional": ("tallow.torch.autograd_functional",),
    "autograd.profiler": ("tallow.torch.profiler",),
    "autograd.variable": ("tallow.torch.autograd",),
    "autograd.grad_mode": ("tallow.torch.autograd",),
    "jit.annotations": ("typing", "tallow.torch.jit"),
    "nn.attention.flex_attention": ("tallow.functional.flex_attention",),
    "nn.modules": ("tallow.torch.nn",),
    **{
        f"nn.modules.{room}": (
            "tallow.torch.nn",
            "tallow.torch.nn.internals",
            *(f"tallow.nn.{module}" for module in words(modules)),
        )
        for room, modules in _LAYERS.items()
    },
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
        for name in words("cpu cuda cudnn mkl mkldnn mps openmp opt_einsum quantized")
    },
    "__config__": ("tallow.torch.version",),
    "distributed.nn": ("tallow.torch.distributed",),
    "distributed.rpc": ("tallow.torch.rpc",),
    "distributed.nn.functional": ("tallow.torch.distributed",),
    "cpu": ("tallow.torch.mps",),
    "cpu.amp": ("tallow.torch.amp",),
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
    "utils.dlpack": ("tallow.torch.dlpack",),
    "utils.hooks": ("tallow.core.hooks",),
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
    "utils.checkpoint": ("tallow.utils.checkpoint", "tallow.torch.settings"),
    "utils.data": ("tallow.data", "tallow.torch.data_names"),
    "utils.data.dataloader": (
        "tallow.torch.utils.data",
        "tallow.data.collate",
        "tallow.torch.data_names",
    ),
    "utils.data.dataset": ("tallow.torch.utils.data",),
    "utils.data.distributed": ("tallow.torch.utils.data",),
    "utils.data.sampler": ("tallow.torch.utils.data",),
    "distributions": ("tallow.distributions",),
    **{
        f"distributions.{name}": ("tallow.distributions",)
        for name in words(
            """
            bernoulli beta binomial categorical cauchy chi2 continuous_bernoulli dirichlet
            distribution exp_family exponential fishersnedecor gamma geometric gumbel half_cauchy
            half_normal independent inverse_gamma kl kumaraswamy laplace lkj_cholesky log_normal
            logistic_normal lowrank_multivariate_normal mixture_same_family multinomial
            multivariate_normal negative_binomial normal one_hot_categorical pareto poisson
            relaxed_bernoulli relaxed_categorical studentT transformed_distribution uniform
            von_mises weibull wishart
            """
        )
    },
    "distributions.constraints": ("tallow.distributions.constraints",),
    "distributions.constraint_registry": ("tallow.distributions.constraint_registry",),
    "distributions.transforms": ("tallow.distributions.transforms",),
    "distributions.utils": ("tallow.distributions.utils",),
}
"""Rooms that have no names of their own: where the names of each are found, in this order."""

VISION_ROOMS: dict[str, tuple[str, ...]] = {
    "transforms.autoaugment": ("tallow.vision.transforms",),
    "transforms.transforms": ("tallow.vision.transforms",),
    "transforms.v2.functional": ("tallow.vision.transforms.functional",),
    "datasets.vision": ("tallow.vision.datasets",),
    "io.image": ("tallow.vision.io",),
    "models.mobilenet": ("tallow.vision.models",),
    **{
        f"ops.{name}": ("tallow.vision.ops",)
        for name in words(
            "ciou_loss deform_conv diou_loss feature_pyramid_network focal_loss giou_loss"
        )
    },
}
"""torchvision's rooms that are not files of `tallow.vision` by the same names, in the same way."""
