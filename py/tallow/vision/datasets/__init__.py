"""torchvision.datasets' names: pictures with labels, in torchvision's folders."""

from .base import VisionDataset
from .cifar import CIFAR10, CIFAR100
from .fake import FakeData
from .folder import IMG_EXTENSIONS, DatasetFolder, ImageFolder, default_loader
from .mnist import KMNIST, MNIST, FashionMNIST
from .zipped import ImageZip

__all__ = [
    "CIFAR10", "CIFAR100", "IMG_EXTENSIONS", "KMNIST", "MNIST", "DatasetFolder", "FakeData",
    "FashionMNIST", "ImageFolder", "ImageZip", "VisionDataset", "default_loader",
]  # fmt: skip
