"""The transforms that are classes, by name."""

from .colouring import (
    ColorJitter,
    GaussianBlur,
    GaussianNoise,
    Grayscale,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomEqualize,
    RandomGrayscale,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
)
from .containers import Compose, Lambda, RandomApply, RandomChoice, RandomOrder
from .converting import (
    ConvertImageDtype,
    LinearTransformation,
    Normalize,
    PILToTensor,
    ToDtype,
    ToImage,
    ToPILImage,
    ToTensor,
)
from .erasing import RandomErasing
from .images import InterpolationMode
from .mixing import CutMix, MixUp
from .per_sample import PerSample
from .policies import AutoAugment, AutoAugmentPolicy, RandAugment, TrivialAugmentWide
from .sizing import (
    CenterCrop,
    FiveCrop,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    TenCrop,
)
from .transform import Transform
from .warping import ElasticTransform, RandomAffine, RandomPerspective, RandomRotation

__all__ = [
    "AutoAugment", "AutoAugmentPolicy", "CenterCrop", "ColorJitter", "Compose",
    "ConvertImageDtype", "CutMix", "ElasticTransform", "FiveCrop", "GaussianBlur",
    "GaussianNoise", "Grayscale", "InterpolationMode", "Lambda", "LinearTransformation",
    "MixUp", "Normalize", "PILToTensor", "Pad", "PerSample", "RandAugment",
    "RandomAdjustSharpness", "RandomAffine", "RandomApply", "RandomAutocontrast",
    "RandomChoice", "RandomCrop", "RandomEqualize", "RandomErasing", "RandomGrayscale",
    "RandomHorizontalFlip", "RandomInvert", "RandomOrder", "RandomPerspective",
    "RandomPosterize", "RandomResizedCrop", "RandomRotation", "RandomSolarize",
    "RandomVerticalFlip", "Resize", "TenCrop", "ToDtype", "ToImage", "ToPILImage", "ToTensor",
    "Transform", "TrivialAugmentWide",
]  # fmt: skip
