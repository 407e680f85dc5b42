"""Networks, with the names that published weights have: `tl.load` and `tl.load_into` read those.

No weights come with Tallow.
"""

from ..binding import getter
from ..vision.models.resnet import BasicBlock, Bottleneck, ResNet, resnet18, resnet34, resnet50
from .bert import BERT
from .causal import CausalLayer, TokenEmbedding
from .decoder import Decoder, DecoderConfig
from .efficientnet import EfficientNetLite0, InvertedBottleneck
from .experts import ExpertsDecoder
from .families import from_config
from .gemma import Gemma3
from .gguf import config_of_gguf, name_of_gguf
from .gpt2 import GPT2, GPT2Block
from .lenet import LeNet5
from .lfm2 import Lfm2
from .llama import Llama
from .mlp import MLP
from .published import freeze, published, set_weights
from .sentences import SentenceEncoder
from .transcriber import Segment, Transcriber, Transcript
from .transformer import Encoder
from .turns import Span
from .voice import SileroVAD, VoiceDetector, VoiceStream
from .whisper import Whisper

__all__ = [
    "BERT", "GPT2", "MLP", "BasicBlock", "Bottleneck", "CausalLayer", "Decoder", "DecoderConfig",
    "EfficientNetLite0", "Encoder", "ExpertsDecoder", "GPT2Block", "Gemma3", "InvertedBottleneck",
    "LeNet5", "Lfm2", "Llama", "ResNet", "Segment", "SentenceEncoder", "SileroVAD", "Span",
    "TokenEmbedding", "Transcriber", "Transcript", "VoiceDetector", "VoiceStream", "Whisper",
    "config_of_gguf", "freeze", "from_config", "load", "load_async", "name_of_gguf", "published",
    "resnet18", "resnet34", "resnet50", "set_weights",
]  # fmt: skip

__getattr__ = getter(globals(), "zoo")
