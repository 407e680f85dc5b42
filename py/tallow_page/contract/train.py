"""The view Train."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict


class TrainBegun(TypedDict):
    """A run begins or goes on. run: the name of its folder; steps: of all epochs; samples: that an
    epoch learns from; parameters: numbers that learn."""

    stage: Literal["begun"]
    run: str
    steps: int
    samples: int
    parameters: int


class TrainDamaged(TypedDict):
    """Checkpoints that could not be read; the run goes on from an older one."""

    stage: Literal["damaged"]
    checkpoints: Sequence[str]


class TrainLook(TypedDict):
    """What a run measured since the look before. loss, accuracy: means; rate: samples a second;
    left: seconds. norms: the mean norm of the gradients of each layer, null if it is not finite."""

    stage: Literal["look"]
    step: int
    epoch: int
    loss: float
    accuracy: float
    lr: float
    rate: float
    left: float
    norms: NotRequired[Mapping[str, float | None]]


class TrainSample(TypedDict):
    """What a network of characters writes after a step: the sample so far."""

    stage: Literal["sample"]
    step: int
    text: str


class TrainRecord(TypedDict):
    """What an epoch measured: means, and those of the validation, null without one."""

    stage: Literal["record"]
    step: int
    epoch: int
    train_loss: float
    train_accuracy: float
    valid_loss: float | None
    valid_accuracy: float | None


class Gathering(TypedDict):
    """How many of the visitor's own examples were read."""

    stage: Literal["gather"]
    done: int
    total: int


class Gathered(TypedDict):
    """The visitor's own examples as data for training. version: differs from that of other
    examples; train, valid: how many there are of each; computed: how many were not read before;
    damaged: the numbers of those that could not be read."""

    version: int
    train: int
    valid: int
    computed: int
    damaged: Sequence[int]


class ReadExamples(TypedDict):
    """Some of the visitor's own examples, read beforehand. computed, damaged: as in `Gathered`."""

    computed: int
    damaged: Sequence[int]


class TrainReason(TypedDict):
    """Why a run failed: a loss that is not finite, at which step; storage that is full, or refuses
    the run for another reason, which `text` says."""

    code: Literal["loss", "full", "storage"]
    text: str
    step: int | None


TrainState = Literal["paused", "done", "failed"]


class TrainAnswer(TypedDict):
    """How a run ended, or where it stands. kept: the name of the last checkpoint."""

    state: TrainState
    step: int
    epoch: int
    kept: str | None
    reason: TrainReason | None


class TrainRun(TypedDict):
    """A kept run. settings, source: as the page gave them, without files. curve: (step, loss,
    accuracy) of its looks. records: those of its epochs."""

    run: str
    name: str
    settings: Mapping[str, Any]
    source: Mapping[str, Any]
    state: str
    step: int
    epoch: int
    curve: Sequence[tuple[int, float, float]]
    records: Sequence[Mapping[str, Any]]


class LayerField(TypedDict):
    """A number of a layer: what it is if nothing is said, and its bounds. whole: no fractions."""

    name: str
    value: float
    least: float
    most: float
    whole: bool


class LayerKind(TypedDict):
    """A kind of layer that is offered, and its fields."""

    kind: str
    fields: Sequence[LayerField]


class RowFacts(TypedDict):
    """A row of a table of layers: the shape of its output, its parameters, and the bytes that a
    step of training takes for it; null where the row, or one before it, is impossible."""

    shape: Sequence[int] | None
    parameters: int | None
    memory: int | None


class RowReason(TypedDict):
    """Why a row, counted from 0, is impossible (`ENGLISH` of py/tallow_page/train/layers.py)."""

    row: int
    code: str
    details: Sequence[str | float]


class NetworkFacts(TypedDict):
    """What a table of layers means. memory: bytes of a step, with its samples. The sums are null
    if a row is impossible."""

    rows: Sequence[RowFacts]
    parameters: int | None
    memory: int | None
    error: RowReason | None


class LayerTable(TypedDict):
    """A table of layers, which of the networks that are offered it is ("" for another one), what it
    means, and the kinds and networks that are offered."""

    layers: Sequence[Mapping[str, Any]]
    network: str
    facts: NetworkFacts
    kinds: Sequence[LayerKind]
    presets: Sequence[str]


class Mistake(TypedDict):
    """A sample of the validation: its place, its label, and what the network took it for. The
    figures are null where they are not finite."""

    index: int
    label: int
    predicted: int
    probability: float | None
    loss: float | None


class Mistakes(TypedDict):
    """Samples of a cell of the confusion matrix."""

    samples: Sequence[Mistake]


class Insight(TypedDict):
    """What a run has learnt. kind, shape: of its data, and of one input. confusion: how often each
    class, a row, was taken for which, a column, in the last validation; none without classes, or
    without a validation. mistakes: the worst first."""

    kind: str
    shape: Sequence[int]
    classes: Sequence[str]
    confusion: Sequence[Sequence[int]]
    mistakes: Sequence[Mistake]


class LessonAnswer(TypedDict):
    """How probable each class is for an input."""

    classes: Sequence[str]
    probabilities: Sequence[float]


class Trained(TypedDict):
    """What a network knows after so many steps."""

    step: int
    classes: Sequence[str]


class Written(TypedDict):
    """A text with what a network of characters has written behind it."""

    text: str


class Doubt(TypedDict):
    """A sample whose label is in doubt: its place among its part, its number in changes, its label,
    the class that it rather belongs to, and the probabilities of that and of its label."""

    index: int
    number: int
    label: int
    guess: int
    probability: float | None
    own: float | None


class Duplicate(TypedDict):
    """A sample that is like an earlier one of its part. of, other: that one's place and label.
    alike: their correlation. same: whether all their numbers are equal."""

    index: int
    number: int
    label: int
    of: int
    other: int
    alike: float
    same: bool


class ReviewedPart(TypedDict):
    """What was found among the samples to learn from, or those to measure by. doubted, duplicated:
    how many there are, of which the first are listed. near: whether near duplicates were looked
    for."""

    part: Literal["train", "valid"]
    doubted: int
    doubts: Sequence[Doubt]
    duplicated: int
    duplicates: Sequence[Duplicate]
    near: bool


class Reviewing(TypedDict):
    """How far a review is."""

    stage: Literal["review"]
    done: int
    total: int


class Reviewed(TypedDict):
    """A review. counts: samples of each class, with the visitor's changes."""

    classes: Sequence[str]
    counts: Sequence[int]
    parts: Sequence[ReviewedPart]


class TrainChange(TypedDict):
    """A visitor's change: a sample's class from now on, or null for one that is thrown out."""

    number: int
    label: str | None
