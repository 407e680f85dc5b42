"""Metrics of images: PSNR, SSIM, and Dice's coefficient of masks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import functions as f
from ..errors import OptionError, ShapeError
from ..functional import pad
from ..tensor import Tensor, asarray
from .metric import Summed
from .regression import floats
from .tasks import divided, one_of

Range = float | tuple[float, float] | None
REDUCTIONS = ("elementwise_mean", "sum", "none", None)


def _in_range(preds: Tensor, target: Tensor, data_range: Range) -> tuple[Tensor, Tensor, Tensor]:
    """Both, clipped to a range of two ends, and the length of the range; of None it is measured."""
    if isinstance(data_range, tuple):
        low, high = data_range
        return f.clip(preds, low, high), f.clip(target, low, high), asarray(float(high - low))
    if data_range is None:
        lengths = [f.max(x) - f.min(x) for x in (preds, target)]
        return preds, target, f.maximum(lengths[0], lengths[1])
    return preds, target, asarray(float(data_range))


class PeakSignalNoiseRatio(Summed):
    """The peak signal-to-noise ratio, 10 log10(range^2 / mean squared error).

    data_range: the length of the range of values, or its two ends, to which values are clipped.
    base: of the logarithm.
    reduction: of the values of `dim`: "elementwise_mean" or "sum"; None and "none" give each.
    dim: the axes of one value, which collects values; None takes all elements together.
    Raises: OptionError for another reduction, ShapeError for shapes that differ.
    Source: torchmetrics, `PeakSignalNoiseRatio`.
    """

    higher_is_better = True

    def __init__(
        self,
        data_range: float | tuple[float, float],
        base: float = 10.0,
        reduction: str | None = "elementwise_mean",
        dim: int | tuple[int, ...] | None = None,
    ) -> None:
        super().__init__()
        one_of("PeakSignalNoiseRatio: reduction", reduction, REDUCTIONS)
        self.data_range, self.base, self.reduction, self.dim = data_range, base, reduction, dim
        for each in ("error", "count"):
            self.add_state(each, asarray(0.0) if dim is None else [])

    def of_batch(self, preds: Tensor, target: Tensor) -> list[Tensor]:
        preds, target = floats("PeakSignalNoiseRatio", preds, target)
        preds, target, _ = _in_range(preds, target, self.data_range)
        square = (preds - target) ** 2
        if self.dim is None:
            return [square.sum(), asarray(float(square.size))]
        error = square.sum(self.dim).reshape((-1,))
        return [error, f.full(error.shape, float(square.size) / max(int(error.size), 1))]

    def of_states(self, *states: Tensor) -> Tensor:
        error, count = states
        wide = self.data_range
        length = wide[1] - wide[0] if isinstance(wide, tuple) else wide
        logarithm = 2 * math.log(length) - f.log(error / count)
        found = logarithm * (10 / math.log(self.base))
        return _reduced(found, self.reduction) if self.dim is not None else found


def _reduced(values: Tensor, reduction: str | None) -> Tensor:
    if reduction == "elementwise_mean":
        return f.mean(values)
    return values.sum() if reduction == "sum" else values


class StructuralSimilarityIndexMeasure(Summed):
    """The structural similarity of images (N, C, H, W), or volumes with one axis more.

    gaussian_kernel: whether the window is a Gaussian, or even.
    sigma: the standard deviation of the Gaussian, which is 3.5 of them wide on each side.
    kernel_size: the size of the even window. Both: one number, or one for each axis.
    reduction: "elementwise_mean" or "sum" over images; None and "none" give each.
    data_range: the length of the range of values, or its two ends, to which values are clipped;
      None measures it in each batch.
    k1, k2: the constants against small divisors.
    return_full_image, return_contrast_sensitivity: one of them collects a second result, the
      similarity of each pixel or the mean contrast of each image.
    Raises: OptionError for options that do not fit, ShapeError for shapes that do not.
    Source: Wang et al. 2004, "Image quality assessment: from error visibility to structural
    similarity"; torchmetrics, `StructuralSimilarityIndexMeasure`, for the borders.
    """

    higher_is_better = True

    def __init__(
        self,
        gaussian_kernel: bool = True,
        sigma: float | Sequence[float] = 1.5,
        kernel_size: int | Sequence[int] = 11,
        reduction: str | None = "elementwise_mean",
        data_range: Range = None,
        k1: float = 0.01,
        k2: float = 0.03,
        return_full_image: bool = False,
        return_contrast_sensitivity: bool = False,
    ) -> None:
        super().__init__()
        name = "StructuralSimilarityIndexMeasure"
        one_of(f"{name}: reduction", reduction, REDUCTIONS)
        if return_full_image and return_contrast_sensitivity:
            raise OptionError(
                f"{name}: return_full_image and return_contrast_sensitivity exclude each other"
            )
        self.gaussian, self.reduction, self.data_range = gaussian_kernel, reduction, data_range
        self.sigma, self.kernel_size, self.k1, self.k2 = sigma, kernel_size, k1, k2
        self.full, self.contrast = return_full_image, return_contrast_sensitivity
        each = reduction in (None, "none")
        self.add_state("similarity", [] if each else asarray(0.0))
        if not each:
            self.add_state("count", asarray(0, "int32"))
        if self.full or self.contrast:
            self.add_state("images", [])

    def windows(self, axes: int) -> list[list[float]]:
        """The weights along each axis of an image."""

        def all_axes(value: float | Sequence[float]) -> list[float]:
            found = list(value) if isinstance(value, Sequence) else [value] * axes
            if len(found) != axes or min(found) <= 0:
                raise OptionError(
                    f"StructuralSimilarityIndexMeasure: {value} is not above 0 for each of {axes} "
                    "axes"
                )
            return found

        windows: list[list[float]] = []
        if not self.gaussian:
            for size in map(int, all_axes(self.kernel_size)):
                if size % 2 == 0:
                    raise OptionError(
                        f"StructuralSimilarityIndexMeasure: kernel_size={size} is even"
                    )
                windows.append([1 / size] * size)
            return windows
        for sigma in all_axes(self.sigma):
            half = int(3.5 * sigma + 0.5)
            bell = [math.exp(-0.5 * (at / sigma) ** 2) for at in range(-half, half + 1)]
            windows.append([each / sum(bell) for each in bell])
        return windows

    def of_batch(self, preds: Tensor, target: Tensor) -> list[Tensor]:
        preds, target = floats("StructuralSimilarityIndexMeasure", preds, target)
        if preds.ndim not in (4, 5):
            raise ShapeError(
                f"StructuralSimilarityIndexMeasure: preds {tuple(preds.shape)} are not "
                "(N, C, H, W) or (N, C, D, H, W)"
            )
        preds, target, length = _in_range(preds, target, self.data_range)
        windows = self.windows(preds.ndim - 2)
        borders = [(len(each) - 1) // 2 for each in windows]
        widths = [width for border in reversed(borders) for width in (border, border)]
        p, t = (pad(each, widths, mode="reflect") for each in (preds, target))
        p_mean, t_mean, p_square, t_square, product = (
            _smoothed(each, windows) for each in (p, t, p * p, t * t, p * t)
        )
        c1, c2 = (self.k1 * length) ** 2, (self.k2 * length) ** 2
        above = 2 * (product - p_mean * t_mean) + c2
        spread = [f.clip(x - m * m, min=0.0) for x, m in ((p_square, p_mean), (t_square, t_mean))]
        contrast = above / (spread[0] + spread[1] + c2)
        full = (2 * p_mean * t_mean + c1) / (p_mean * p_mean + t_mean * t_mean + c1) * contrast
        axes = tuple(range(1, preds.ndim))
        found = f.mean(full, axes)
        parts = [found]
        if self.reduction not in (None, "none"):
            parts = [found.sum(), asarray(int(preds.shape[0]), "int32")]
        if self.contrast:
            for axis, border in enumerate(borders, 2):
                contrast = f.narrow(contrast, axis, border, contrast.shape[axis] - 2 * border)
            parts.append(f.mean(contrast, axes))
        elif self.full:
            parts.append(full)
        return parts

    def of_states(self, *states: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        found = states[0]
        if self.reduction == "elementwise_mean":
            found = found / states[1].astype("float32")
        return (found, states[-1]) if self.full or self.contrast else found


def _smoothed(x: Tensor, windows: Sequence[Sequence[float]]) -> Tensor:
    """Weighted means of windows, one axis after the other, from the third on."""
    for axis, window in enumerate(windows, 2):
        length = x.shape[axis] - len(window) + 1
        parts = [f.narrow(x, axis, at, length) * weight for at, weight in enumerate(window)]
        x = parts[0]
        for each in parts[1:]:
            x = x + each
    return x


class DiceScore(Summed):
    """Dice's coefficient of masks, 2 |A and B| / (|A| + |B|), of classes that occur in one of them.

    num_classes: how many classes there are.
    include_background: whether the class 0 counts.
    average: over classes: "micro" together, "macro", "weighted" by targets; None and "none" give
      each.
    aggregation_level: "samplewise" takes the mean over samples, "global" counts all together.
    input_format: "one-hot" of (N, C, ...), where scores choose the highest class, "index" of
      (N, ...), or "mixed", one of each.
    Raises: OptionError for options that do not fit, ShapeError for shapes that do not.
    Source: torchmetrics, `segmentation.DiceScore`.
    """

    higher_is_better = True

    def __init__(
        self,
        num_classes: int,
        include_background: bool = True,
        average: str | None = "macro",
        aggregation_level: str = "samplewise",
        input_format: str = "one-hot",
    ) -> None:
        super().__init__()
        one_of("DiceScore: average", average, ("micro", "macro", "weighted", "none", None))
        one_of("DiceScore: aggregation_level", aggregation_level, ("samplewise", "global"))
        one_of("DiceScore: input_format", input_format, ("one-hot", "index", "mixed"))
        if num_classes < 1:
            raise OptionError(f"DiceScore: num_classes={num_classes} is below 1")
        self.num_classes, self.first = num_classes, 0 if include_background else 1
        self.average, self.input_format = average, input_format
        self.samplewise = aggregation_level == "samplewise"
        one = average not in (None, "none") and self.samplewise
        shape = () if one else (num_classes - self.first,)
        for each in ("above", "below") if self.samplewise else ("both", "sizes", "targets"):
            self.add_state(each, f.zeros(shape))

    def of_batch(self, preds: Tensor, target: Tensor) -> list[Tensor]:
        mixed = self.input_format == "mixed"
        hot = [
            x.ndim > other.ndim if mixed else self.input_format == "one-hot"
            for x, other in ((preds, target), (target, preds))
        ]
        fits = all(
            not one or (x.ndim > 2 and x.shape[1] == self.num_classes)
            for one, x in zip(hot, (preds, target), strict=True)
        )
        shapes = [
            (*x.shape[:1], *x.shape[1 + one :]) for one, x in zip(hot, (preds, target), strict=True)
        ]
        if not fits or shapes[0] != shapes[1] or (mixed and hot[0] == hot[1]):
            raise ShapeError(
                f"DiceScore: preds {tuple(preds.shape)} and target {tuple(target.shape)} do not "
                f"fit input_format={self.input_format!r} and num_classes={self.num_classes}"
            )
        p, t = self._mask(preds, hot[0]), self._mask(target, hot[1])
        counts = [2.0 * (p * t).sum(-1), (p + t).sum(-1), t.sum(-1)]
        if not self.samplewise:
            return [each.sum(0) for each in counts]
        score = self._averaged(*counts)
        known = ~f.isnan(score)
        return [f.where(known, score, 0.0).sum(0), known.astype("float32").sum(0)]

    def of_states(self, *states: Tensor) -> Tensor:
        return states[0] / states[1] if self.samplewise else self._averaged(*states)

    def _averaged(self, both: Tensor, sizes: Tensor, targets: Tensor) -> Tensor:
        """The scores of counts (..., C); NaN where there is nothing."""
        if self.average == "micro":
            both, sizes = both.sum(-1), sizes.sum(-1)
        score = both / sizes
        if self.average in (None, "none", "micro"):
            return score
        weight = targets if self.average == "weighted" else f.ones_like(score)
        known = ~f.isnan(score)
        weight = f.where(known, weight, 0.0)
        found = (f.where(known, score, 0.0) * divided(weight, weight.sum(-1, keepdim=True))).sum(-1)
        return f.where(known.any(-1), found, f.nan)

    def _mask(self, x: Tensor, one_hot: bool) -> Tensor:
        """A mask as float32 (N, C, X). Scores choose the highest class."""
        if one_hot and not x.dtype.is_floating:
            mask = x.reshape((*x.shape[:2], -1)).astype("float32")
        else:
            chosen = (f.argmax(x, 1) if one_hot else x).reshape((x.shape[0], 1, -1))
            mask = (chosen == f.arange(self.num_classes).reshape((1, -1, 1))).astype("float32")
        return mask[:, self.first :]
