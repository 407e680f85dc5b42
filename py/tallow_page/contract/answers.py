"""Which function of Python's answers with what."""

from __future__ import annotations

from collections.abc import Sequence

from .devices import Chosen, LoadedModel, OneDevice, Profiled, Runs, Tuned
from .models import Compared, MissingFiles, ModelFile, ModelTimes, RunAnswer, Survey, UnclearFiles
from .texts import (
    Embedded,
    Fetching,
    FindModel,
    HeardAnswer,
    HeardText,
    Indexed,
    IndexedFile,
    Looked,
    SpeechModel,
    TextModel,
    Wrote,
    WroteAnswer,
)
from .train import (
    Gathered,
    Gathering,
    Insight,
    LayerTable,
    LessonAnswer,
    Mistakes,
    ReadExamples,
    Reviewed,
    Reviewing,
    TrainAnswer,
    TrainBegun,
    TrainDamaged,
    Trained,
    TrainLook,
    TrainRecord,
    TrainRun,
    TrainSample,
    Written,
)


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
