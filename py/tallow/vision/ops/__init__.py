"""Parts of networks for images, under torchvision's names."""

from .misc import (
    MLP,
    Conv2dNormActivation,
    Conv3dNormActivation,
    Permute,
    SqueezeExcitation,
    StochasticDepth,
    stochastic_depth,
)

__all__ = [
    "MLP", "Conv2dNormActivation", "Conv3dNormActivation", "Permute", "SqueezeExcitation",
    "StochasticDepth", "stochastic_depth",
]  # fmt: skip
"""Operators of images and boxes, with torchvision's names and arguments."""

from ...functional.deformable import deform_conv2d as deform_conv2d
from ...functional.elementwise_losses import sigmoid_focal_loss as sigmoid_focal_loss
from ...nn import DeformConv2d as DeformConv2d
from .boxes import box_area as box_area
from .boxes import box_convert as box_convert
from .boxes import box_iou as box_iou
from .boxes import clip_boxes_to_image as clip_boxes_to_image
from .boxes import complete_box_iou as complete_box_iou
from .boxes import complete_box_iou_loss as complete_box_iou_loss
from .boxes import distance_box_iou as distance_box_iou
from .boxes import distance_box_iou_loss as distance_box_iou_loss
from .boxes import generalized_box_iou as generalized_box_iou
from .boxes import generalized_box_iou_loss as generalized_box_iou_loss
from .boxes import masks_to_boxes as masks_to_boxes
from .boxes import remove_small_boxes as remove_small_boxes
from .detection import FeaturePyramidNetwork as FeaturePyramidNetwork
from .detection import FrozenBatchNorm2d as FrozenBatchNorm2d
from .detection import LastLevelMaxPool as LastLevelMaxPool
from .drop_block import DropBlock2d as DropBlock2d
from .drop_block import drop_block2d as drop_block2d
from .regions import RoIAlign as RoIAlign
from .regions import RoIPool as RoIPool
from .regions import roi_align as roi_align
from .regions import roi_pool as roi_pool
from .suppression import batched_nms as batched_nms
from .suppression import batched_nms_async as batched_nms_async
from .suppression import nms as nms
from .suppression import nms_async as nms_async
