# Written by tests/unit/project/stubs.py from names.py: do not change it.

from tallow.nn.activation import CELU as CELU
from tallow.nn.activation import ELU as ELU
from tallow.nn.activation import GELU as GELU
from tallow.nn.activation import GLU as GLU
from tallow.nn.activation import Hardshrink as Hardshrink
from tallow.nn.activation import Hardsigmoid as Hardsigmoid
from tallow.nn.activation import Hardswish as Hardswish
from tallow.nn.activation import Hardtanh as Hardtanh
from tallow.nn.activation import LeakyReLU as LeakyReLU
from tallow.nn.activation import LogSigmoid as LogSigmoid
from tallow.nn.activation import LogSoftmax as LogSoftmax
from tallow.nn.activation import Mish as Mish
from tallow.nn.activation import PReLU as PReLU
from tallow.nn.activation import RReLU as RReLU
from tallow.nn.activation import ReLU as ReLU
from tallow.nn.activation import ReLU6 as ReLU6
from tallow.nn.activation import SELU as SELU
from tallow.nn.activation import SiLU as SiLU
from tallow.nn.activation import Sigmoid as Sigmoid
from tallow.nn.activation import Softmax as Softmax
from tallow.nn.activation import Softmax2d as Softmax2d
from tallow.nn.activation import Softmin as Softmin
from tallow.nn.activation import Softplus as Softplus
from tallow.nn.activation import Softshrink as Softshrink
from tallow.nn.activation import Softsign as Softsign
from tallow.nn.activation import SwiGLU as SwiGLU
from tallow.nn.activation import Tanh as Tanh
from tallow.nn.activation import Tanhshrink as Tanhshrink
from tallow.nn.activation import Threshold as Threshold
from tallow.nn.adaptive_softmax import AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss
from tallow.nn.attention import MultiheadAttention as MultiheadAttention
from tallow.nn.borders import CircularPad1d as CircularPad1d
from tallow.nn.borders import CircularPad2d as CircularPad2d
from tallow.nn.borders import CircularPad3d as CircularPad3d
from tallow.nn.borders import ConstantPad1d as ConstantPad1d
from tallow.nn.borders import ConstantPad2d as ConstantPad2d
from tallow.nn.borders import ConstantPad3d as ConstantPad3d
from tallow.nn.borders import ReflectionPad1d as ReflectionPad1d
from tallow.nn.borders import ReflectionPad2d as ReflectionPad2d
from tallow.nn.borders import ReflectionPad3d as ReflectionPad3d
from tallow.nn.borders import ReplicationPad1d as ReplicationPad1d
from tallow.nn.borders import ReplicationPad2d as ReplicationPad2d
from tallow.nn.borders import ReplicationPad3d as ReplicationPad3d
from tallow.nn.borders import ZeroPad1d as ZeroPad1d
from tallow.nn.borders import ZeroPad2d as ZeroPad2d
from tallow.nn.borders import ZeroPad3d as ZeroPad3d
from tallow.nn.containers import ModuleDict as ModuleDict
from tallow.nn.containers import ModuleList as ModuleList
from tallow.nn.containers import ParameterDict as ParameterDict
from tallow.nn.containers import ParameterList as ParameterList
from tallow.nn.containers import Sequential as Sequential
from tallow.nn.convolution import Conv1d as Conv1d
from tallow.nn.convolution import Conv2d as Conv2d
from tallow.nn.convolution import Conv3d as Conv3d
from tallow.nn.convolution import ConvTranspose1d as ConvTranspose1d
from tallow.nn.convolution import ConvTranspose2d as ConvTranspose2d
from tallow.nn.convolution import ConvTranspose3d as ConvTranspose3d
from tallow.nn.convolution import DeformConv2d as DeformConv2d
from tallow.nn.distance import CosineSimilarity as CosineSimilarity
from tallow.nn.distance import PairwiseDistance as PairwiseDistance
from tallow.nn.dropout import AlphaDropout as AlphaDropout
from tallow.nn.dropout import Dropout as Dropout
from tallow.nn.dropout import Dropout1d as Dropout1d
from tallow.nn.dropout import Dropout2d as Dropout2d
from tallow.nn.dropout import Dropout3d as Dropout3d
from tallow.nn.dropout import FeatureAlphaDropout as FeatureAlphaDropout
from tallow.nn.embedding import Embedding as Embedding
from tallow.nn.embedding import EmbeddingBag as EmbeddingBag
from tallow.nn.encodings import PositionalEncoding as PositionalEncoding
from tallow.nn.encodings import RotaryEncoding as RotaryEncoding
from tallow.nn.lazy import LazyBatchNorm1d as LazyBatchNorm1d
from tallow.nn.lazy import LazyBatchNorm2d as LazyBatchNorm2d
from tallow.nn.lazy import LazyBatchNorm3d as LazyBatchNorm3d
from tallow.nn.lazy import LazyConv1d as LazyConv1d
from tallow.nn.lazy import LazyConv2d as LazyConv2d
from tallow.nn.lazy import LazyConv3d as LazyConv3d
from tallow.nn.lazy import LazyConvTranspose1d as LazyConvTranspose1d
from tallow.nn.lazy import LazyConvTranspose2d as LazyConvTranspose2d
from tallow.nn.lazy import LazyConvTranspose3d as LazyConvTranspose3d
from tallow.nn.lazy import LazyInstanceNorm1d as LazyInstanceNorm1d
from tallow.nn.lazy import LazyInstanceNorm2d as LazyInstanceNorm2d
from tallow.nn.lazy import LazyInstanceNorm3d as LazyInstanceNorm3d
from tallow.nn.lazy import LazyLinear as LazyLinear
from tallow.nn.linear import Bilinear as Bilinear
from tallow.nn.linear import Identity as Identity
from tallow.nn.linear import Linear as Linear
from tallow.nn.loss import BCELoss as BCELoss
from tallow.nn.loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from tallow.nn.loss import CTCLoss as CTCLoss
from tallow.nn.loss import CosineEmbeddingLoss as CosineEmbeddingLoss
from tallow.nn.loss import CrossEntropyLoss as CrossEntropyLoss
from tallow.nn.loss import GaussianNLLLoss as GaussianNLLLoss
from tallow.nn.loss import HingeEmbeddingLoss as HingeEmbeddingLoss
from tallow.nn.loss import HuberLoss as HuberLoss
from tallow.nn.loss import KLDivLoss as KLDivLoss
from tallow.nn.loss import L1Loss as L1Loss
from tallow.nn.loss import MSELoss as MSELoss
from tallow.nn.loss import MarginRankingLoss as MarginRankingLoss
from tallow.nn.loss import MultiLabelMarginLoss as MultiLabelMarginLoss
from tallow.nn.loss import MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss
from tallow.nn.loss import MultiMarginLoss as MultiMarginLoss
from tallow.nn.loss import NLLLoss as NLLLoss
from tallow.nn.loss import PoissonNLLLoss as PoissonNLLLoss
from tallow.nn.loss import RNNTLoss as RNNTLoss
from tallow.nn.loss import SigmoidFocalLoss as SigmoidFocalLoss
from tallow.nn.loss import SmoothL1Loss as SmoothL1Loss
from tallow.nn.loss import SoftMarginLoss as SoftMarginLoss
from tallow.nn.loss import TripletMarginLoss as TripletMarginLoss
from tallow.nn.loss import TripletMarginWithDistanceLoss as TripletMarginWithDistanceLoss
from tallow.nn.module import Module as Module
from tallow.nn.normalization import BatchNorm1d as BatchNorm1d
from tallow.nn.normalization import BatchNorm2d as BatchNorm2d
from tallow.nn.normalization import BatchNorm3d as BatchNorm3d
from tallow.nn.normalization import GroupNorm as GroupNorm
from tallow.nn.normalization import InstanceNorm1d as InstanceNorm1d
from tallow.nn.normalization import InstanceNorm2d as InstanceNorm2d
from tallow.nn.normalization import InstanceNorm3d as InstanceNorm3d
from tallow.nn.normalization import LayerNorm as LayerNorm
from tallow.nn.normalization import LocalResponseNorm as LocalResponseNorm
from tallow.nn.normalization import RMSNorm as RMSNorm
from tallow.nn.parameter import Buffer as Buffer
from tallow.nn.parameter import Parameter as Parameter
from tallow.nn.pooling import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from tallow.nn.pooling import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from tallow.nn.pooling import AdaptiveAvgPool3d as AdaptiveAvgPool3d
from tallow.nn.pooling import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from tallow.nn.pooling import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from tallow.nn.pooling import AdaptiveMaxPool3d as AdaptiveMaxPool3d
from tallow.nn.pooling import AvgPool1d as AvgPool1d
from tallow.nn.pooling import AvgPool2d as AvgPool2d
from tallow.nn.pooling import AvgPool3d as AvgPool3d
from tallow.nn.pooling import LPPool1d as LPPool1d
from tallow.nn.pooling import LPPool2d as LPPool2d
from tallow.nn.pooling import LPPool3d as LPPool3d
from tallow.nn.pooling import MaxPool1d as MaxPool1d
from tallow.nn.pooling import MaxPool2d as MaxPool2d
from tallow.nn.pooling import MaxPool3d as MaxPool3d
from tallow.nn.pooling import MaxUnpool1d as MaxUnpool1d
from tallow.nn.pooling import MaxUnpool2d as MaxUnpool2d
from tallow.nn.pooling import MaxUnpool3d as MaxUnpool3d
from tallow.nn.recurrent import GRU as GRU
from tallow.nn.recurrent import GRUCell as GRUCell
from tallow.nn.recurrent import LSTM as LSTM
from tallow.nn.recurrent import LSTMCell as LSTMCell
from tallow.nn.recurrent import RNN as RNN
from tallow.nn.recurrent import RNNCell as RNNCell
from tallow.nn.resampling import ChannelShuffle as ChannelShuffle
from tallow.nn.resampling import Flatten as Flatten
from tallow.nn.resampling import Fold as Fold
from tallow.nn.resampling import PixelShuffle as PixelShuffle
from tallow.nn.resampling import PixelUnshuffle as PixelUnshuffle
from tallow.nn.resampling import Unflatten as Unflatten
from tallow.nn.resampling import Unfold as Unfold
from tallow.nn.resampling import Upsample as Upsample
from tallow.nn.resampling import UpsamplingBilinear2d as UpsamplingBilinear2d
from tallow.nn.resampling import UpsamplingNearest2d as UpsamplingNearest2d
from tallow.nn.summaries import summary as summary
from tallow.nn.transformer import Transformer as Transformer
from tallow.nn.transformer import TransformerDecoder as TransformerDecoder
from tallow.nn.transformer import TransformerDecoderLayer as TransformerDecoderLayer
from tallow.nn.transformer import TransformerEncoder as TransformerEncoder
from tallow.nn.transformer import TransformerEncoderLayer as TransformerEncoderLayer
from tallow.nn import functional as functional
from tallow.nn import init as init
from tallow.nn import utils as utils

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveLogSoftmaxWithLoss",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AlphaDropout",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "Buffer",
    "CELU",
    "CTCLoss",
    "ChannelShuffle",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "DeformConv2d",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "ELU",
    "Embedding",
    "EmbeddingBag",
    "FeatureAlphaDropout",
    "Flatten",
    "Fold",
    "GELU",
    "GLU",
    "GRU",
    "GRUCell",
    "GaussianNLLLoss",
    "GroupNorm",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "Identity",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "KLDivLoss",
    "L1Loss",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "LSTM",
    "LSTMCell",
    "LayerNorm",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
    "LeakyReLU",
    "Linear",
    "LocalResponseNorm",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MarginRankingLoss",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "MultiheadAttention",
    "NLLLoss",
    "PReLU",
    "PairwiseDistance",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "PixelShuffle",
    "PixelUnshuffle",
    "PoissonNLLLoss",
    "PositionalEncoding",
    "RMSNorm",
    "RNN",
    "RNNCell",
    "RNNTLoss",
    "RReLU",
    "ReLU",
    "ReLU6",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "RotaryEncoding",
    "SELU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SigmoidFocalLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "SwiGLU",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
    "Unflatten",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
    "functional",
    "init",
    "summary",
    "utils",
]
