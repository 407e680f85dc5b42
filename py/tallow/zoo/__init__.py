"""Networks, with the names that published weights have: `tl.load` and `tl.load_into` read those.

No weights come with Tallow.
"""

from ..vision.models.resnet import BasicBlock, Bottleneck, ResNet, resnet18, resnet34, resnet50
from .bert import BERT
from .efficientnet import EfficientNetLite0, InvertedBottleneck
from .lenet import LeNet5
from .mlp import MLP
from .transformer import GPT2, Encoder, GPT2Block

__all__ = [
    "BERT", "GPT2", "MLP", "BasicBlock", "Bottleneck", "EfficientNetLite0", "Encoder", "GPT2Block",
    "InvertedBottleneck", "LeNet5", "ResNet", "resnet18", "resnet34", "resnet50",
]  # fmt: skip
