"""The public names: data. What is public, where it is defined, and in which forms.

A definition stands in one file, the file of its subject. Here is, for each file, which names it
makes public. From this table come the methods and operators of `Tensor`, `__all__`, what is
imported when it is first asked for (binding.py), the stubs beside the packages (`*.pyi`), and
docs/pytorch.md. This file imports nothing; tests/unit/project/test_names.py checks it.

A group of names is written under its forms:

    tallow        tallow.NAME               method     x.NAME(...)
    functional    tallow.functional.NAME    in-place   x.NAME_(...), which puts what x.NAME gives
    torch         torch.NAME                operator   x + y and the like
    torch_        torch.NAME_               static     of the class, Tensor.NAME(...)
    nn            tallow.nn.NAME            nn.utils   tallow.nn.utils.NAME
    zoo           tallow.zoo.NAME
    unlisted      tallow.NAME, which `from tallow import *` does not bring: it hides Python's
    internal      what the library itself binds late
    second        the tensor is the second argument of the definition, not the first
    number-first  torch.NAME may begin with a number, so it is the definition, not the method

`NAME=OWN` has another name than the definition, OWN. A name may have two definitions with two
meanings: `tl.sort` is the array API's, `x.sort` and `torch.sort` are PyTorch's. To add a function,
write it in the file of its subject and its name here.
"""

from __future__ import annotations

NAMES: dict[str, dict[str, str]] = {
    "core.dtype": {
        "tallow": """
            bool_ DType float16 float32 float64 int16 int32 int64 int8 uint16 uint32 uint64 uint8
        """,
        "unlisted": """
            bool=bool_ double=float64 float=float32 half=float16 int=int32 long=int64 short=int16
        """,
    },
    "errors": {
        "tallow": """
            DeviceError DeviceLostError DeviceMemoryError DeviceUnavailableError DTypeError
            FeedError FeedRangeError FormatError GradientError GraphError IndexRangeError
            KernelError LinAlgError NonFiniteError OnnxAmbiguousDataError OnnxError OnnxFormatError
            OnnxMissingDataError OnnxUnsupportedError OptionError RealizeError ShapeError
            TallowError TracingError
        """,
    },
    "tensor": {
        "tallow": "asarray Tensor",
    },
    "tensor.tensor": {
        "torch": "detach=Tensor.detach",
    },
    "tensor.printing": {
        "tallow": "set_printoptions",
    },
    "accelerators": {
        "unlisted": "accelerator backends cuda device mps",
    },
    "amp": {
        "tallow": "autocast",
    },
    "autodiff.everything": {
        "tallow": "checkpoint custom_vjp grad jvp stop_gradient value_and_grad vjp",
        "internal": "REVERSE",
    },
    "custom": {
        "tallow": "custom_op",
    },
    "devices.wasm.device": {
        "tallow": "get_num_threads set_num_threads",
    },
    "devices.webgpu.tuning": {
        "tallow": "tune tuning_steps Tuned TuningStep TuningWarning",
    },
    "formats.opened": {
        "tallow": "open_weights open_weights_async Weights",
    },
    "formats.weights": {
        "tallow": "load load_async load_into save",
    },
    "grad_mode": {
        "tallow": "enable_grad inference_mode is_grad_enabled no_grad set_grad_enabled",
    },
    "random": {
        "tallow": "Generator manual_seed",
    },
    "runtime.buffer": {
        "tallow": "live_buffers",
    },
    "runtime.debug": {
        "tallow": "debug_nans",
    },
    "runtime.device": {
        "tallow": """
            default_device devices get_float32_function_precision get_float32_matmul_precision
            open_device set_default_device set_float32_function_precision
            set_float32_matmul_precision
        """,
    },
    "runtime.evaluator": {
        "tallow": "realize",
    },
    "runtime.hosted": {
        "tallow": "NoKernelWarning",
    },
    "runtime.jit": {
        "tallow": "jit",
    },
    "runtime.session": {
        "tallow": "compile_session compile_session_async Session",
    },
    "runtime.variable": {
        "tallow": "Variable",
    },
    "sparse": {
        "method": "to_sparse",
    },
    "functions.arithmetic": {
        "tallow method in-place torch": "addcdiv addcmul lerp",
        "tallow method in-place number-first": "div sub",
        "tallow method in-place torch torch_": "clamp log10 log2 rsqrt",
        "tallow method torch": "allclose isclose isfinite",
        "method in-place torch torch_": "clip=clamp",
    },
    "functions.arrange": {
        "tallow": "scatter sort",
        "tallow method torch": "argsort",
    },
    "functions.bessel": {
        "tallow method in-place torch torch_": "i0",
    },
    "functions.creation": {
        "tallow": """
            arange empty eye from_dlpack from_numpy full full_like is_tensor linspace ones ones_like
            tensor zeros zeros_like
        """,
        "tallow method in-place torch": "tril triu",
        "static": "of_sizes_or_data",
    },
    "functions.cumulative": {
        "tallow": "cumulative_prod cumulative_sum",
    },
    "functions.data_types": {
        "tallow": "astype e finfo get_default_dtype iinfo inf isdtype nan newaxis pi result_type",
        "tallow method torch": "is_floating_point",
        "tallow torch": "can_cast",
    },
    "functions.decompositions": {
        "tallow torch": "chain_matmul",
        "tallow method torch": """
            cholesky cholesky_inverse cholesky_solve inverse logdet matrix_exp matrix_power pinverse
            slogdet
        """,
    },
    "functions.draws": {
        "tallow": "normal randint_like",
        "tallow method torch": "multinomial",
        "tallow torch": "binomial poisson",
    },
    "functions.elementwise": {
        "tallow": "bitcast bitwise_invert clip equal sign trunc_divide where",
        "tallow functional method in-place torch torch_": "tanh",
        "tallow method in-place": "pow",
        "tallow method in-place torch": """
            absolute=abs add bitwise_not=bitwise_invert divide eq=equal floor_divide fmod
            ge=greater_equal greater greater_equal gt=greater le=less_equal less less_equal
            logical_and logical_not logical_or logical_xor lt=less mul=multiply multiply
            ne=not_equal not_equal subtract true_divide=divide
        """,
        "tallow method in-place torch torch_": """
            abs acos acosh arccos=acos arccosh=acosh arcsin=asin arcsinh=asinh arctan=atan
            arctanh=atanh asin asinh atan atanh ceil cos cosh erf exp exp2 expm1 fix=trunc floor log
            log1p neg=negative negative reciprocal round sin sinh sqrt square tan trunc
        """,
        "tallow method in-place number-first": "bitwise_and bitwise_or bitwise_xor remainder",
        "tallow method torch": "isinf isnan maximum minimum positive",
        "tallow number-first": "bitwise_left_shift bitwise_right_shift",
        "operator": """
            __abs__=abs __add__=plus __and__=bitwise_and __eq__=equal __floordiv__=floor_divide
            __ge__=greater_equal __gt__=greater __invert__=bitwise_invert __le__=less_equal
            __lshift__=bitwise_left_shift __lt__=less __mod__=remainder __mul__=multiply
            __ne__=not_equal __neg__=negative __or__=bitwise_or __pow__=pow
            __rshift__=bitwise_right_shift __sub__=subtract __truediv__=divide __xor__=bitwise_xor
        """,
        "operator second": """
            __radd__=plus __rfloordiv__=floor_divide __rmod__=remainder __rmul__=multiply
            __rpow__=pow __rsub__=subtract __rtruediv__=divide
        """,
        "method in-place torch torch_": "clamp_max clamp_min",
    },
    "functions.equations": {
        "tallow torch": "einsum",
    },
    "functions.gamma": {
        "tallow method second in-place number-first": "polygamma",
        "tallow method in-place torch": """
            digamma igamma=gammainc igammac=gammaincc lgamma mvlgamma
        """,
    },
    "functions.grids": {
        "tallow": "as_tensor empty_like meshgrid",
        "tallow torch": "cartesian_prod combinations logspace tril_indices triu_indices vander",
    },
    "functions.indexing": {
        "tallow": "take take_along_axis",
    },
    "functions.joining": {
        "tallow method": "unfold",
        "tallow method torch": """
            as_strided diag_embed diagflat dsplit fliplr flipud hsplit ravel rot90 split_with_sizes
            tensor_split vsplit
        """,
        "tallow torch": """
            atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors column_stack dstack hstack
            row_stack=vstack vstack
        """,
    },
    "functions.linear_algebra": {
        "tallow": "matrix_transpose vecdot",
        "tallow method torch": "det matmul",
        "operator": "__matmul__=matmul",
        "operator second": "__rmatmul__=matmul",
    },
    "functions.lines": {
        "tallow method in-place torch": "cumprod cumsum",
        "tallow method torch": "cummax cummin diff logcumsumexp",
        "tallow torch": "cumulative_trapezoid gradient trapezoid trapz=trapezoid",
    },
    "functions.manipulation": {
        "tallow": """
            broadcast_arrays concat expand_dims flip moveaxis pad permute_dims repeat reshape split
            squeeze unstack
        """,
        "tallow method torch": "broadcast_to repeat_interleave=repeat tile",
        "tallow torch": "stack",
    },
    "functions.numbers": {
        "tallow": "promote_types",
        "tallow method in-place torch": """
            arctan2=atan2 atan2 copysign heaviside hypot nextafter
        """,
        "tallow method in-place torch torch_": """
            deg2rad frac gcd lcm ldexp nan_to_num rad2deg sinc
        """,
        "tallow method in-place number-first": "float_power",
        "tallow method torch": """
            fmax fmin frexp is_complex is_nonzero isneginf isposinf isreal logaddexp logaddexp2
            signbit
        """,
        "tallow torch": "rsub",
    },
    "functions.orders": {
        "tallow method torch": "kthvalue median mode msort nanmedian nanquantile quantile topk",
    },
    "functions.scattering": {
        "tallow method in-place torch": """
            index_copy index_fill index_reduce masked_scatter put scatter_reduce
        """,
        "tallow method in-place torch torch_": "index_put",
        "tallow method torch": """
            diagonal_scatter masked_select select_scatter slice_scatter take_along_dim
        """,
    },
    "functions.positions": {
        "tallow method": "fill_from slice_at update_at",
    },
    "functions.products": {
        "tallow method in-place torch": "addbmm addmm addr baddbmm renorm",
        "tallow method in-place torch torch_": "addmv",
        "tallow method torch": """
            bmm cdist cross dist dot ger=outer inner kron mm mv norm outer trace vdot=dot
        """,
        "tallow torch": "tensordot",
    },
    "functions.randomness": {
        "tallow": "rand rand_like randint randn randn_like randperm",
        "tallow method torch": "bernoulli",
    },
    "functions.reduction": {
        "tallow": "max mean min std var",
        "tallow method torch": "all any argmax argmin prod sum",
    },
    "functions.searching": {
        "tallow method torch": "argwhere=nonzero count_nonzero nonzero",
        "tallow torch": "searchsorted unravel_index",
        "tallow number-first": "bucketize",
    },
    "functions.selection": {
        "tallow method in-place torch": "index_add masked_fill scatter_add",
        "tallow method torch": "gather index_select narrow select",
        "method": "with_items",
        "method in-place torch": "scatter=scatter_along",
    },
    "functions.sets": {
        "tallow method": "unique",
        "tallow method torch": "unique_consecutive",
        "tallow number-first": "isin",
    },
    "functions.shapes": {
        "tallow": "cat concatenate=cat",
        "tallow method torch": "diag diagonal roll",
        "method": "expand repeat=repeated",
    },
    "functions.special": {
        "tallow method in-place torch": "erfinv",
        "tallow method in-place torch torch_": "erfc logit",
        "tallow method in-place number-first torch_": "xlogy",
    },
    "functions.statistics": {
        "tallow method torch": """
            amax amin aminmax bincount corrcoef cov histc histogram logsumexp nanmean nansum
        """,
        "tallow torch": "std_mean var_mean",
    },
    "functions.windows": {
        "tallow torch": """
            bartlett_window blackman_window hamming_window hann_window kaiser_window
        """,
    },
    "functional.activations": {
        "tallow functional method in-place torch torch_": "relu sigmoid",
        "tallow functional method torch": "log_softmax softmax",
        "functional": """
            elu gelu glu hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu6 silu
            softmin softplus softshrink softsign swiglu tanhshrink
        """,
        "functional torch": "celu hardshrink prelu rrelu selu threshold",
    },
    "functional.adaptive": {
        "functional": """
            adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d
        """,
        "functional torch": "adaptive_avg_pool1d adaptive_max_pool1d",
    },
    "functional.attention": {
        "functional": "scaled_dot_product_attention",
    },
    "functional.blocks": {
        "functional": "fold unfold",
        "functional torch": "pixel_shuffle pixel_unshuffle",
    },
    "functional.borders": {
        "functional": "pad",
    },
    "functional.convolution": {
        "functional torch": """
            conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
        """,
    },
    "functional.deformable": {
        "functional": "deform_conv2d",
    },
    "functional.elementwise_losses": {
        "functional": """
            binary_cross_entropy gaussian_nll_loss huber_loss l1_loss mse_loss sigmoid_focal_loss
            smooth_l1_loss soft_margin_loss
        """,
        "functional torch": """
            binary_cross_entropy_with_logits cosine_embedding_loss cosine_similarity
            hinge_embedding_loss kl_div margin_ranking_loss pairwise_distance poisson_nll_loss
            triplet_margin_loss
        """,
    },
    "functional.grids": {
        "tallow functional torch": "pdist",
        "functional": "affine_grid grid_sample",
        "functional torch": "channel_shuffle",
    },
    "functional.layers": {
        "functional": "dropout1d dropout2d dropout3d feature_alpha_dropout gumbel_softmax linear",
        "functional torch": "alpha_dropout bilinear dropout",
    },
    "functional.lookups": {
        "functional": "one_hot",
        "functional torch": "embedding embedding_bag",
    },
    "functional.losses": {
        "functional": "cross_entropy ctc_loss nll_loss",
    },
    "functional.margin_losses": {
        "functional": """
            multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss
            triplet_margin_with_distance_loss
        """,
    },
    "functional.normalization": {
        "functional": "local_response_norm normalize",
        "functional torch": "batch_norm group_norm instance_norm layer_norm rms_norm",
    },
    "functional.pool_indices": {
        "functional": "max_unpool1d max_unpool2d max_unpool3d",
    },
    "functional.pooling": {
        "functional": """
            avg_pool2d avg_pool3d global_avg_pool lp_pool1d lp_pool2d lp_pool3d sum_pool2d
        """,
        "functional torch": "avg_pool1d max_pool1d max_pool2d max_pool3d",
    },
    "functional.resampling": {
        "functional": "interpolate",
    },
    "functional.transducer": {
        "functional": "rnnt_loss",
    },
    "methods.conversions": {
        "tallow method torch": "clone",
        "method": """
            bfloat16 bool byte char contiguous cpu cuda data double float half int long new
            new_empty new_full new_ones new_tensor new_zeros short to to_dense type type_as xpu=cuda
        """,
    },
    "methods.exchange": {
        "operator": "__dlpack__=dlpack __dlpack_device__=dlpack_device",
    },
    "methods.facts": {
        "tallow method torch": "numel",
        "method": """
            data_ptr dim element_size get_device grad_fn H=hermitian is_contiguous is_cpu
            is_cuda is_hpu is_meta is_mkldnn is_mps is_nested is_pinned=no is_quantized is_same_size
            is_shared=no is_sparse is_sparse_csr is_xpu itemsize layout mH=hermitian names nbytes
            ndimension=dim nelement=numel pin_memory=itself real record_stream resolve_conj=itself
            share_memory_=itself storage_offset stride
        """,
        "method torch": "adjoint conj=itself is_inference=no is_signed",
    },
    "methods.fills": {
        "method": """
            bernoulli_ cauchy_ copy_ exponential_ fill_diagonal_ geometric_ log_normal_ normal_
            random_ resize_ resize_as_ squeeze_ swapaxes_=transpose_ swapdims_=transpose_ t_
            transpose_ uniform_ unsqueeze_
        """,
        "method torch": "detach_ fill_ zero_",
    },
    "methods.meanings": {
        "tallow method in-place torch": "sgn=sign",
        "method": "expand_as where",
        "method in-place torch": "sign",
        "method torch": "equal flip max mean min sort std take var",
    },
    "methods.views": {
        "tallow method torch": """
            chunk flatten movedim permute swapaxes=transpose swapdims=transpose t transpose unbind
            unflatten unsqueeze
        """,
        "operator": "__getitem__=getitem",
        "method": "reshape_as=view_as T view view_as",
        "method torch": "moveaxis=movedim reshape split squeeze",
    },
    "hub.load": {
        "zoo": "load load_async",
    },
    "nn.activation": {
        "nn": """
            CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid
            LogSoftmax Mish PReLU ReLU ReLU6 RReLU SELU Sigmoid SiLU Softmax Softmax2d Softmin
            Softplus Softshrink Softsign SwiGLU Tanh Tanhshrink Threshold
        """,
    },
    "nn.adaptive_softmax": {
        "nn": "AdaptiveLogSoftmaxWithLoss",
    },
    "nn.attention": {
        "nn": "MultiheadAttention",
    },
    "nn.borders": {
        "nn": """
            CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d
            ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d
            ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d
        """,
    },
    "nn.containers": {
        "nn": "ModuleDict ModuleList ParameterDict ParameterList Sequential",
    },
    "nn.convolution": {
        "nn": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d DeformConv2d",
    },
    "nn.distance": {
        "nn": "CosineSimilarity PairwiseDistance",
    },
    "nn.dropout": {
        "nn": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
    },
    "nn.embedding": {
        "nn": "Embedding EmbeddingBag",
    },
    "nn.encodings": {
        "nn": "PositionalEncoding RotaryEncoding",
    },
    "nn.functional": {
        "torch": "celu_ rrelu_ selu_ threshold_",
    },
    "nn.lazy": {
        "nn": """
            LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d LazyConv3d
            LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d
            LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear
        """,
    },
    "nn.linear": {
        "nn": "Bilinear Identity Linear",
    },
    "nn.loss": {
        "nn": """
            BCELoss BCEWithLogitsLoss CosineEmbeddingLoss CrossEntropyLoss CTCLoss GaussianNLLLoss
            HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MarginRankingLoss MSELoss
            MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss PoissonNLLLoss
            RNNTLoss SigmoidFocalLoss SmoothL1Loss SoftMarginLoss TripletMarginLoss
            TripletMarginWithDistanceLoss
        """,
    },
    "nn.module": {
        "nn": "Module",
    },
    "nn.normalization": {
        "nn": """
            BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm InstanceNorm1d InstanceNorm2d
            InstanceNorm3d LayerNorm LocalResponseNorm RMSNorm
        """,
    },
    "nn.parameter": {
        "nn": "Buffer Parameter",
    },
    "nn.pooling": {
        "nn": """
            AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d
            AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d
            LPPool3d MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d
        """,
    },
    "nn.recurrent": {
        "nn": "GRU GRUCell LSTM LSTMCell RNN RNNCell",
    },
    "nn.resampling": {
        "nn": """
            ChannelShuffle Flatten Fold PixelShuffle PixelUnshuffle Unflatten Unfold Upsample
            UpsamplingBilinear2d UpsamplingNearest2d
        """,
    },
    "nn.summaries": {
        "nn": "summary",
    },
    "nn.transformer": {
        "nn": """
            Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder
            TransformerEncoderLayer
        """,
    },
    "nn.utils.fusion": {
        "nn.utils": "fuse_conv_bn_eval fuse_linear_bn_eval",
    },
    "nn.utils.norms": {
        "nn.utils": "remove_spectral_norm remove_weight_norm spectral_norm weight_norm",
    },
}
"""For each file of the library, its names by their forms."""

PACKAGES = (
    "amp audio autograd data distributions files func functional generation hub linalg metrics "
    "nn onnx optim peft ray telemetry text train utils vision zoo"
)
"""Packages that are imported when they are first asked for: `tallow.nn`."""

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "dim": ("axis", "axes", "dims"), "axis": ("dim",), "dims": ("axes", "axis", "dim"),
    "keepdim": ("keepdims",), "keepdims": ("keepdim",), "end": ("stop",), "steps": ("num",),
    "diagonal": ("k",), "size": ("shape",), "axis0": ("dim0",), "axis1": ("dim1",),
}  # fmt: skip
"""Names of arguments in PyTorch, or in the array API, and what definitions may call them. Methods
and `tallow.torch` take both."""

FIRST = ("input", "self", "tensors", "data", "x", "a", "A")
"""What the first argument is called in PyTorch, whatever a definition calls it."""

SECOND = ("other", "exponent", "mat2", "vec2", "vec", "tensor2", "y", "q", "repeats", "index")
"""What the second argument is called in PyTorch."""
