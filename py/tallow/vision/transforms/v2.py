"""torchvision.transforms.v2's names: the same classes."""

from . import functional as functional
from .colouring import (
    ColorJitter as ColorJitter,
)
from .colouring import (
    GaussianBlur as GaussianBlur,
)
from .colouring import (
    GaussianNoise as GaussianNoise,
)
from .colouring import (
    Grayscale as Grayscale,
)
from .colouring import (
    RandomAdjustSharpness as RandomAdjustSharpness,
)
from .colouring import (
    RandomAutocontrast as RandomAutocontrast,
)
from .colouring import (
    RandomEqualize as RandomEqualize,
)
from .colouring import (
    RandomGrayscale as RandomGrayscale,
)
from .colouring import (
    RandomInvert as RandomInvert,
)
from .colouring import (
    RandomPosterize as RandomPosterize,
)
from .colouring import (
    RandomSolarize as RandomSolarize,
)
from .containers import (
    Compose as Compose,
)
from .containers import (
    Lambda as Lambda,
)
from .containers import (
    RandomApply as RandomApply,
)
from .containers import (
    RandomChoice as RandomChoice,
)
from .containers import (
    RandomOrder as RandomOrder,
)
from .converting import (
    ConvertImageDtype as ConvertImageDtype,
)
from .converting import (
    LinearTransformation as LinearTransformation,
)
from .converting import (
    Normalize as Normalize,
)
from .converting import (
    PILToTensor as PILToTensor,
)
from .converting import (
    ToDtype as ToDtype,
)
from .converting import (
    ToImage as ToImage,
)
from .converting import (
    ToPILImage as ToPILImage,
)
from .converting import (
    ToTensor as ToTensor,
)
from .erasing import RandomErasing as RandomErasing
from .images import InterpolationMode as InterpolationMode
from .mixing import (
    CutMix as CutMix,
)
from .mixing import (
    MixUp as MixUp,
)
from .per_sample import PerSample as PerSample
from .policies import (
    AutoAugment as AutoAugment,
)
from .policies import (
    AutoAugmentPolicy as AutoAugmentPolicy,
)
from .policies import (
    RandAugment as RandAugment,
)
from .policies import (
    TrivialAugmentWide as TrivialAugmentWide,
)
from .sizing import (
    CenterCrop as CenterCrop,
)
from .sizing import (
    FiveCrop as FiveCrop,
)
from .sizing import (
    Pad as Pad,
)
from .sizing import (
    RandomCrop as RandomCrop,
)
from .sizing import (
    RandomHorizontalFlip as RandomHorizontalFlip,
)
from .sizing import (
    RandomResizedCrop as RandomResizedCrop,
)
from .sizing import (
    RandomVerticalFlip as RandomVerticalFlip,
)
from .sizing import (
    Resize as Resize,
)
from .sizing import (
    TenCrop as TenCrop,
)
from .transform import Transform as Transform
from .warping import (
    ElasticTransform as ElasticTransform,
)
from .warping import (
    RandomAffine as RandomAffine,
)
from .warping import (
    RandomPerspective as RandomPerspective,
)
from .warping import (
    RandomRotation as RandomRotation,
)
