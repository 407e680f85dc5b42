"""Transforms as functions: torchvision.transforms.functional's names.

They take tensors [..., C, H, W] and images of Pillow's.
"""

from .colour import adjust_brightness as adjust_brightness
from .colour import adjust_contrast as adjust_contrast
from .colour import adjust_gamma as adjust_gamma
from .colour import adjust_hue as adjust_hue
from .colour import adjust_saturation as adjust_saturation
from .colour import adjust_sharpness as adjust_sharpness
from .colour import autocontrast as autocontrast
from .colour import equalize as equalize
from .colour import gaussian_blur as gaussian_blur
from .colour import invert as invert
from .colour import posterize as posterize
from .colour import rgb_to_grayscale as rgb_to_grayscale
from .colour import solarize as solarize
from .colour import to_grayscale as to_grayscale
from .conversion import convert_image_dtype as convert_image_dtype
from .conversion import normalize as normalize
from .conversion import pil_to_tensor as pil_to_tensor
from .conversion import to_dtype as to_dtype
from .conversion import to_image as to_image
from .conversion import to_pil_image as to_pil_image
from .conversion import to_pil_image_async as to_pil_image_async
from .conversion import to_tensor as to_tensor
from .geometry import center_crop as center_crop
from .geometry import crop as crop
from .geometry import erase as erase
from .geometry import five_crop as five_crop
from .geometry import hflip as hflip
from .geometry import pad as pad
from .geometry import resize as resize
from .geometry import resized_crop as resized_crop
from .geometry import ten_crop as ten_crop
from .geometry import vflip as vflip
from .images import InterpolationMode as InterpolationMode
from .images import Picture
from .images import dimensions as dimensions
from .warps import affine as affine
from .warps import elastic_transform as elastic_transform
from .warps import perspective as perspective
from .warps import rotate as rotate


def get_dimensions(img: Picture) -> list[int]:
    """[channels, height, width]."""
    return [*dimensions(img)]


def get_image_size(img: Picture) -> list[int]:
    """[width, height]."""
    return [*dimensions(img)[:0:-1]]


def get_image_num_channels(img: Picture) -> int:
    """The number of channels."""
    return dimensions(img)[0]
