"""What crosses between JavaScript and Python as JSON, each record once.

Only type checkers import this; web/shared/contract.d.ts is written from it (`python -m
tallow_build.contract`). Beside these records cross strings, numbers and buffers.
"""

# Why: docs/decisions/page.md, "The contract is types alone"
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

# ---- devices and the site's models ------------------------------------------------------------


class Chosen(TypedDict):
    """A device, and the name of its adapter."""

    device: str
    adapter: str


WarningKind = Literal["leftOut", "unread", "damaged", "unkept"]


class Warned(TypedDict):
    """A TuningWarning (py/tallow/devices/webgpu/tuning.py)."""

    kind: WarningKind
    kernel: str
    why: str


class LoadedModel(TypedDict):
    """Facts about a model that can answer.

    nodes: of the file's network. kept: whether its plan was stored on an earlier visit; otherwise
    planId is the number of the new one (plan_registry.py), and compiling the milliseconds spent on
    the graph, the passes and kernels. seconds: from the graph, or the stored plan, to the session.
    The others: `Session.stats`.
    """

    name: str
    nodes: int
    kept: bool
    planId: NotRequired[int]
    compiling: NotRequired[float]
    seconds: float
    warnings: Sequence[Warned]
    kernels: int
    dispatches: int
    slots: int
    bytes: int
    weights: int
    runs: int
    adapter: str


class OneDevice(TypedDict):
    """An answer on one device: its probabilities; milliseconds of the first run, from the graph on,
    null where the model was loaded; the median of the further ones, null without any."""

    probabilities: Sequence[float]
    first: float | None
    warm: float | None


class Runs(TypedDict):
    """Progress: runs that are done, of so many at most."""

    stage: Literal["runs"]
    done: int
    total: int


class Replaced(TypedDict):
    """An op whose fastest kernel is not the rule's, and how many times as fast that is."""

    op: str
    shape: Sequence[int]
    kernel: str
    gain: float


Clock = Literal["timestamp", "clock", "counted"]


class Tuned(TypedDict):
    """What tuning has measured, at its end or so far: ops that have a choice, and those measured;
    the largest gain first; whose clock was used, null before the first op; new warnings."""

    stage: Literal["tuning"]
    ops: int
    measured: int
    replaced: Sequence[Replaced]
    clock: Clock | None
    warnings: Sequence[Warned]


class Kernel(TypedDict):
    """A KernelTime of py/tallow/runtime/profile.py. code: WebAssembly's; a GPU's is in the plan."""

    number: int
    name: str
    anchor: str
    ops: Sequence[str]
    shape: Sequence[int]
    dtype: str
    milliseconds: float
    share: float
    flops: int
    gflops: float
    read: int
    written: int
    reads: Sequence[int]
    writes: int
    constants: Mapping[str, float | bool]
    workgroups: Sequence[int]
    module: int
    code: NotRequired[str]


class Profile(TypedDict):
    """`Profile.to_dict` of py/tallow/runtime/profile.py."""

    name: str
    device: str
    adapter: str
    source: Clock
    explanation: str
    resolution: float
    repeats: int
    milliseconds: float
    kernels: Sequence[Kernel]


class Modules(TypedDict):
    """A plan, of which the page reads the text of its kernels."""

    modules: Sequence[str]


class Profiled(TypedDict):
    """A profile, its plan, and a trace for Perfetto."""

    profile: Profile
    plan: Modules
    trace: Mapping[str, Any]


# ---- the visitor's model ----------------------------------------------------------------------


class ValueInfo(TypedDict):
    """What an input or output is declared to be (py/tallow/formats/onnx/records.py). element: of a
    sequence's members, or of an optional's value."""

    name: str
    shape: Sequence[int | str] | None
    dtype: str | None
    type: str
    kind: str
    element: ValueInfo | None


class ModelFile(TypedDict):
    """The contents of an ONNX file, and the given files that it does not need. left: unsupported
    features that are not listed."""

    name: str
    producer: str
    doc: str
    properties: Sequence[tuple[str, str]]
    opsets: Sequence[tuple[str, int]]
    ir: int
    bytes: int
    unneeded: Sequence[str]
    inputs: Sequence[ValueInfo]
    outputs: Sequence[ValueInfo]
    unsupported: Sequence[str]
    left: int


class MissingFiles(TypedDict):
    """Locations of external data that no given file has."""

    missing: Sequence[str]


class UnclearFiles(TypedDict):
    """Locations of external data, and given files whose names do not tell which is which."""

    unclear: Sequence[str]
    given: Sequence[str]


class Reason(TypedDict):
    """Why a node is not on the device (py/tallow/formats/onnx/reasons.py)."""

    code: str
    details: Sequence[str | int]


Place = Literal["device", "host", "nowhere"]


class OperatorUse(TypedDict):
    """How often an operator is used in one place."""

    operator: str
    place: Place
    count: int
    reason: Reason | None


class Survey(TypedDict):
    """Size, arithmetic and operators of a model for given lengths (formats/onnx/run/summary.py).
    whole: whether multiplyAdds counts all nodes."""

    parameters: int
    weightBytes: int
    nodes: int
    multiplyAdds: int | None
    whole: bool
    uses: Sequence[OperatorUse]
    unsupported: Sequence[str]


class Feed(TypedDict):
    """A value of an input, without the buffer of its elements. texts: the elements of strings,
    which have no buffer. members: of a sequence. wide: the elements are passed as float64, because
    JavaScript lacks their type."""

    name: str
    shape: Sequence[int]
    dtype: NotRequired[str]
    wide: NotRequired[bool]
    texts: NotRequired[Sequence[str]]
    members: NotRequired[Sequence[Feed]]


class Output(TypedDict):
    """A result, without the elements of an array. dtype: of a tensor. texts: of strings.
    members: of a sequence."""

    name: str
    kind: Literal["tensor", "texts", "sequence", "none"]
    shape: Sequence[int]
    dtype: NotRequired[str]
    texts: NotRequired[Sequence[str]]
    members: NotRequired[Sequence[Output]]


class RunReport(TypedDict):
    """What a run did: `Report` of py/tallow/formats/onnx/run/report.py. host: nodes computed by the
    host; bytes: that crossed; moved: why a part did not run on the device."""

    parts: int
    nodes: int
    dispatches: int
    moved: Sequence[str]
    host: int
    bytes: int


Device = Literal["webgpu", "wasm", "numpy", "remote"]


class RunAnswer(TypedDict):
    """A run. first: milliseconds. planId: of a new plan to store (plan_registry.py). refused: why
    the stored plan could not be used, or ""."""

    device: Device
    adapter: str
    first: float
    outputs: Sequence[Output]
    report: RunReport
    planId: int | None
    refused: str


class Series(TypedDict):
    """Statistics of runs, in milliseconds; low and high are the quartiles."""

    count: int
    median: float
    low: float
    high: float
    least: float
    most: float


class ModelTimes(TypedDict):
    """The runs after the first, null without any."""

    device: str
    adapter: str
    series: Series | None


class Times(TypedDict):
    """Milliseconds of a first run, and the further ones."""

    first: float | None
    series: Series | None


class Difference(TypedDict):
    """The largest difference of two elements, null if only one of them is a number; and the largest
    element, for scale."""

    name: str
    difference: float | None
    largest: float | None


class Compared(TypedDict):
    """A run on two devices."""

    devices: Mapping[Device, Times]
    outputs: Sequence[Difference]


class TextModel(TypedDict):
    """A language model: its class, its numbers, the most tokens of a text, and whether it answers
    messages."""

    family: str
    parameters: int
    context: int
    converses: bool


class Fetching(TypedDict):
    """How far a published model has arrived: bytes of all its files, and the one that arrives."""

    stage: Literal["fetch"]
    done: int
    total: int | None
    file: str


class Wrote(TypedDict):
    """A piece of a text; tokens: how many there are by now. considered: for each new token the most
    probable ones, with their probabilities."""

    stage: Literal["write"]
    piece: str
    tokens: int
    considered: Sequence[Sequence[tuple[str, float]]]


class WroteAnswer(TypedDict):
    """A text that ended. first: seconds until the first token; rate: tokens a second from then on.
    end: why it ended (tl.generation.Written)."""

    tokens: int
    first: float
    rate: float | None
    end: str | None


# ---- Find -------------------------------------------------------------------------------------


class FindModel(TypedDict):
    """A model of sentences: the width of its vectors, the most tokens of a text, and how many
    passages lost their kept vectors, since another model had made them."""

    width: int
    tokens: int
    dropped: int


class IndexedFile(TypedDict):
    """A file of the index; done: how many of its passages have vectors."""

    name: str
    passages: int
    done: int


class Embedded(TypedDict):
    """How far cutting is, in characters, or embedding, in passages; rate: passages a second."""

    stage: Literal["cut", "embed"]
    done: int
    total: int
    rate: NotRequired[float]


class Indexed(TypedDict):
    """A file that was cut into passages. guessed: the encoding of a text that names none."""

    passages: int
    guessed: str | None


class FoundPassage(TypedDict):
    """A passage near a question: its file and page, the cosine, and its text: what is before the
    nearest sentence, that sentence, and what is behind it."""

    source: str
    page: int | None
    score: float
    parts: Sequence[str]


class Looked(TypedDict):
    """The passages near a question, the nearest first."""

    stage: Literal["look"]
    seconds: float
    found: Sequence[FoundPassage]


# ---- Listen -----------------------------------------------------------------------------------


class SpeechModel(TypedDict):
    """A network of speech: its numbers, and the languages that it knows, such as "en"; none if it
    knows English alone."""

    parameters: int
    languages: Sequence[str]


class HeardText(TypedDict):
    """What was said, in seconds of the sound. final: false while it is still being written down."""

    stage: Literal["heard"]
    start: float
    end: float
    text: str
    language: str
    final: bool


class HeardAnswer(TypedDict):
    """How many seconds were heard in all, and whether somebody speaks at their end."""

    seconds: float
    speaks: bool


# ---- Train ------------------------------------------------------------------------------------


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


# ---- Train: what is seen of a run -------------------------------------------------------------


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


# ---- which function answers with what ---------------------------------------------------------


class Answers:
    """The functions that are awaited, of app.py and of views, and their answers."""

    start: Chosen
    connect: Chosen
    load_model: LoadedModel
    load_kept: LoadedModel
    profile: Profiled
    needed_files: Sequence[str]
    open_model: ModelFile | MissingFiles | UnclearFiles
    survey_model: Survey
    run_model: RunAnswer
    remove_file: Embedded
    put_kept: IndexedFile
    put_vectors: IndexedFile
    unpack_run: TrainRun
    layer_table: LayerTable
    gather_text: Gathered
    open_zip: Sequence[str]
    read_insight: Insight
    read_cell: Mistakes
    answer_lesson: LessonAnswer
    model_facts: Trained


class StreamedAnswers:
    """The long actions (steps.py) and their answers."""

    run_on: OneDevice
    tune: Tuned
    time_model: ModelTimes
    compare_model: Compared
    open_text_model: TextModel
    write_text: WroteAnswer
    open_find_model: FindModel
    add_file: Indexed
    embed_passages: Embedded
    find_passages: Looked
    open_listener: SpeechModel
    hear_sound: HeardAnswer
    gather_examples: Gathered
    read_examples: ReadExamples
    run_training: TrainAnswer
    review_labels: Reviewed
    write_on: Written


class StreamedProgress:
    """What they report on the way."""

    run_on: Runs
    tune: Tuned
    time_model: Runs
    compare_model: Runs
    open_text_model: Fetching
    write_text: Wrote
    open_find_model: Fetching
    add_file: Embedded
    embed_passages: Embedded
    find_passages: Looked
    open_listener: Fetching
    hear_sound: HeardText
    run_training: Fetching | TrainBegun | TrainDamaged | TrainLook | TrainRecord | TrainSample
    write_on: Written
    gather_examples: Gathering
    read_examples: Gathering
    review_labels: Reviewing
