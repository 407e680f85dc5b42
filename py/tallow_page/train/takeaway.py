"""What a visitor takes home of a run: the network as ONNX and safetensors, the program that trains
it once more on a desktop, the data that this program needs, and a card."""

from __future__ import annotations

import io
import pprint
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tallow as tl
from tallow import nn, onnx
from tallow.core.drivers import run_async
from tallow.data import TensorDataset
from tallow.errors import OptionError
from tallow.formats.weights import save
from tallow.tensor import Tensor, asarray, reading

from .data import Data
from .layers import DataFacts, facts, network, network_call
from .learning import Lesson, Prepared, lesson
from .review import applied, decided_of

__all__ = ["take_home"]

FORMS = ("onnx", "safetensors", "python", "data", "card")

_PUBLISHED = {"mnist": "MNIST", "fashion-mnist": "FashionMNIST"}
"""Data sets that `tallow.vision.datasets` fetches."""

_INPUTS = {"pictures": "uint8", "text": "int64"}
"""The type of what a network is given; float32 for other kinds of data."""


async def take_home(run: str, form: str) -> bytes:
    """A file to take home, of the run that is open.

    form: one of `FORMS`. Raises OptionError for another one, and for a run that is not open.
    """
    held = lesson(run)
    if form == "onnx":
        return await onnx_file(held)
    if form == "safetensors":
        return await safetensors_file(held)
    if form == "python":
        return program(held.settings, held.source).encode()
    if form == "data":
        return data_file(held.data)
    if form == "card":
        return (await card(held)).encode()
    raise OptionError(f"form={form!r} is none of {', '.join(FORMS)}")


# ---- the network ------------------------------------------------------------------------------


async def _weights(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name, on the host."""
    state = dict(model.state_dict())
    values = await run_async(reading([asarray(each) for each in state.values()]))
    return {name: asarray(value) for name, value in zip(state, values, strict=True)}


async def safetensors_file(held: Lesson) -> bytes:
    """The weights, under the names that they have in the program's `network`."""
    file = io.BytesIO()
    save(file, await _weights(held.learner.model.network), format="safetensors",
         metadata={"format": "pt"})  # fmt: skip
    return file.getvalue()


async def settled(held: Lesson) -> Prepared:
    """The network with what stands before it, in eval mode, its weights as they are now."""
    inner = network(held.settings["layers"], DataFacts.of(held.data))
    fixed = Prepared(inner, held.data, []).eval()
    for name, value in (await _weights(held.learner.model)).items():
        start, _, last = name.rpartition(".")
        holder = fixed.get_submodule(start)
        delattr(holder, last)
        setattr(holder, last, value)
    return fixed


async def onnx_file(held: Lesson) -> bytes:
    """The network with what stands before it: `input` as the data have it, (N, ...), to `scores`
    before a softmax."""
    fixed = await settled(held)

    def scores(input: Tensor) -> dict[str, Tensor]:
        return {"scores": fixed(input)}

    example = (("N", *held.data.shape), _INPUTS.get(held.data.kind, "float32"))
    return file_of(scores, inputs={"input": example})


def file_of(what: Any, **options: Any) -> bytes:
    """A graph or a function as an ONNX file (`onnx.save`)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.onnx"
        onnx.save(what, path, external=False, **options)
        return path.read_bytes()


# ---- the program ------------------------------------------------------------------------------

_PROGRAM = '''\
"""{title}, learned by Tallow. It trains the network of the page's run once more, with the same
settings and seed.

    pip install tallow
    python train.py [FOLDER]

FOLDER has {files}; without it, the current folder. The records of the run go to curve.csv there,
the weights to network.safetensors.
"""

import sys
from pathlib import Path

import tallow as tl
from tallow import functional as F
from tallow import nn, optim, zoo
from tallow.data import {loaders}
{imports}
FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

{data}
CLASSES = {classes}


class Prepared(nn.Module):
    """The network, with what stands before it."""

    def __init__(self, network):
        super().__init__()
        self.network = network{changes}

    def forward(self, x):
{forward}


class Learner(tl.train.Learner):
    """Measures how many are right, of training, too."""

    def step(self, batch):
        inputs, target = batch
        scores = self.model(inputs)
        if scores.ndim > 2:  # of a text: a class at each place
            scores, target = scores.reshape((-1, scores.shape[-1])), target.reshape((-1,))
        right = tl.argmax(scores, axis=1) == target
        return {{
            "loss": F.cross_entropy(scores, target),
            "accuracy": right.astype("float32").mean(),
        }}


tl.manual_seed({seed})
network = {network}
model = Prepared(network)
batches = DataLoader(train, {batch}, shuffle=True, drop_last=True)
optimizer = {optimizer}
learner = Learner(
    model, optimizer, callbacks=[tl.train.CSVLogger(FOLDER / "curve.csv")],
    schedule={schedule}, schedule_every="step", seed={seed},
)
learner.fit(batches, {valid}, epochs={epochs})
tl.save(FOLDER / "network.safetensors", network.state_dict())
'''

_FETCHED = """\
train, valid = (datasets.{name}(FOLDER, part, download=True) for part in (True, False))
train, valid = (
    TensorDataset(each.data[:, None], each.targets.astype("int32")) for each in (train, valid)
)
"""

_REVIEWED = """\


def reviewed(dataset, decided):
    \"\"\"The samples with the classes that were decided about them; None leaves one out.\"\"\"
    x, y = dataset.tensors
    labels = y.tolist()
    for number, label in decided.items():
        labels[number] = label
    left = [number for number, label in enumerate(labels) if label is not None]
    y = tl.asarray([labels[number] for number in left], dtype="int32")
    return TensorDataset(tl.take(x, tl.asarray(left), axis=0), y)


"""

_KEPT = """\
found = tl.load(FOLDER / "data.safetensors")
train = TensorDataset(found["train.x"], found["train.y"])
"""

_TEXT = """\
text = (FOLDER / "text.txt").read_bytes().decode()
end = len(text) - len(text) // 10
train = CharDataset(text[:end], {length}, {stride}, sorted(set(text)))
valid = CharDataset(text[end:], {length}, {length}, sorted(set(text)))
"""

_CHANGES = {
    "mirror": "transforms.RandomHorizontalFlip()",
    "shift": "transforms.RandomAffine(0, (0.1, 0.1))",
    "rotate": "transforms.RandomRotation(10)",
}


def program(settings: Mapping[str, Any], data: Data) -> str:
    """A Python program that trains the same network on the same data, with the same seed. On the
    same device it has the same curve, on another one nearly the same. data: as they were before
    the visitor's changes."""
    review = _review_lines(settings, data)
    data = applied(data, settings["data"].get("changes", ()))
    lines, files, loaders, imports = _data_lines(data)
    lines += review
    count = settings["data"].get("count")
    if count is not None and count < len(data.train):
        lines += (
            f"train = Subset(train, [number * len(train) // {count} for number in range({count})])"
            "\n"
        )
        loaders = sorted([*loaders, "Subset"])
    augment = list(settings.get("augment", ()))
    changes = forward = ""
    if augment:
        imports.append("transforms")
        made = ", ".join(f"transforms.PerSample({_CHANGES[name]})" for name in augment)
        changes = f"\n        self.changes = [{made}]"
    if data.kind == "text":
        forward = "        return self.network(x)"
    else:
        forward = '        x = x.astype("float32")\n'
        if augment:
            forward += "        for change in self.changes if self.training else ():\n"
            forward += "            x = change(x)\n"
        forward += f"        return self.network((x - {data.mean!r}) / {data.deviation!r})"
    batch, epochs = int(settings["batch"]), int(settings["epochs"])
    valid = "None" if data.valid is None else "DataLoader(valid, 500)"
    return _PROGRAM.format(
        # A docstring ends at quotes, and a backslash means something there.
        title="".join(c if c.isprintable() and c not in '\\"' else " " for c in data.name),
        files=files,
        loaders=", ".join(sorted(["DataLoader", *loaders])),
        imports=f"from tallow.vision import {', '.join(sorted(imports))}\n" if imports else "",
        data=lines,
        classes=pprint.pformat(list(data.classes), width=88, compact=True),
        changes=changes,
        forward=forward,
        network=network_call(settings["layers"], DataFacts.of(data)).code(),
        batch=batch,
        epochs=epochs,
        seed=int(settings.get("seed", 0)),
        optimizer=_optimizer(settings["optimizer"]),
        schedule=_schedule(settings, f"{epochs} * len(batches)"),
        valid=valid,
    )


def _data_lines(data: Data) -> tuple[str, str, list[str], list[str]]:
    """The lines that open the data; which files these need, in words; what of `tallow.data` and of
    `tallow.vision` they use."""
    if data.name in _PUBLISHED:
        name = _PUBLISHED[data.name]
        files = f"{name}'s files in {name}/raw/; they are fetched if they are missing"
        return _FETCHED.format(name=name), files, ["TensorDataset"], ["datasets"]
    if data.kind == "text":
        lines = _TEXT.format(length=data.shape[0], stride=data.train.stride)
        return lines, "text.txt, the text", ["CharDataset"], []
    lines = _KEPT
    if data.valid is not None:
        lines += 'valid = TensorDataset(found["valid.x"], found["valid.y"])\n'
    return lines, "data.safetensors, the data that the page saves", ["TensorDataset"], []


def _review_lines(settings: Mapping[str, Any], data: Data) -> str:
    """The lines that apply what the visitor decided about published samples; the file of other data
    is as it was decided."""
    decided = decided_of(data, settings["data"].get("changes", ()))
    if data.name not in _PUBLISHED or not decided:
        return ""
    lines, count = _REVIEWED, len(data.labels["train"])
    for part, numbers in (("train", range(count)), ("valid", range(count, max(decided) + 1))):
        own = {number - numbers[0]: label for number, label in decided.items() if number in numbers}
        if own:
            made = pprint.pformat(own, width=88, compact=True)
            lines += f"{part} = reviewed({part}, {made})\n"
    return lines


def _optimizer(given: Mapping[str, Any]) -> str:
    names = {"sgd": "SGD", "adam": "Adam", "adamw": "AdamW"}
    options = [f"lr={float(given['lr'])!r}"]
    if given["name"] == "sgd":
        momentum = float(given.get("momentum", 0))
        options.append(f"momentum={momentum!r}")
        if given.get("nesterov", False) and momentum > 0:
            options.append("nesterov=True")
    options.append(f"weight_decay={float(given.get('weight_decay', 0))!r}")
    return f"optim.{names[given['name']]}(model.parameters(), {', '.join(options)})"


def _schedule(settings: Mapping[str, Any], steps: str) -> str:
    name, rate = settings["schedule"], float(settings["optimizer"]["lr"])
    if name == "onecycle":
        return f"optim.lr_scheduler.OneCycleLR(optimizer, {rate!r}, {steps}, pct_start=0.2)"
    if name == "cosine":
        return f"optim.lr_scheduler.CosineAnnealingLR(optimizer, {steps})"
    return "()"


def data_file(data: Data) -> bytes:
    """The data that the program needs, where nobody else has them: a text, or train.x, train.y,
    valid.x and valid.y in a safetensors file. Raises OptionError for published data."""
    if data.name in _PUBLISHED:
        raise OptionError(f"{data.name} is published; the program fetches it")
    if data.kind == "text":
        parts = (data.train, data.valid)
        return "".join(each.decode(each.data) for each in parts).encode()
    state: dict[str, Tensor] = {}
    for part, given in (("train", data.train), ("valid", data.valid)):
        if isinstance(given, TensorDataset):
            state |= {f"{part}.{name}": x for name, x in zip("xy", given.tensors, strict=True)}
    file = io.BytesIO()
    save(file, state, format="safetensors", metadata={"classes": "\n".join(data.classes)})
    return file.getvalue()


# ---- the card ---------------------------------------------------------------------------------


async def card(held: Lesson) -> str:
    """What the network is, on what and how it was trained, and how good it is: Markdown."""
    data, settings, history = held.data, held.settings, held.learner.history
    found = facts(settings["layers"], DataFacts.of(data))
    lines = [
        f"# A network for {data.name}",
        "",
        f"Trained in a browser's tab by Tallow {tl.__version__}; this card is of "
        f"{datetime.now(UTC):%Y-%m-%d}.",
        "",
        "## Data",
        "",
        f"* {_count(held):,} samples to learn from"
        + (f", {len(data.valid):,} others to measure with" if data.valid is not None else ""),
        f"* {len(data.classes):,} classes: " + _listed(data.classes),
        "",
        "## Network",
        "",
        "| layer | output | parameters |",
        "|---|---|---|",
    ]
    for row, each in zip(settings["layers"], found["rows"], strict=True):
        shape = "×".join(map(str, each["shape"] or ()))
        given = ", ".join(f"{name} {value}" for name, value in row.items() if name != "kind")
        lines.append(f"| {row['kind']} {given} | {shape} | {each['parameters'] or 0:,} |")
    lines += ["", f"{found['parameters']:,} parameters in all.", "", "## Training", ""]
    given = ", ".join(f"{name} {value}" for name, value in settings["optimizer"].items())
    lines += [
        f"* {held.learner.epoch} of {settings['epochs']} epochs, {held.learner.steps:,} steps, "
        f"batches of {settings['batch']}",
        f"* optimiser: {given}; schedule: {settings['schedule']}; seed: {settings.get('seed', 0)}",
    ]
    if settings.get("augment"):
        lines.append(f"* pictures changed at random: {', '.join(settings['augment'])}")
    lines += ["", "## How good it is", ""]
    if not history:
        lines.append("It was not measured: no epoch has ended.")
        return "\n".join([*lines, ""])
    last = history[-1]
    lines += ["| | loss | right |", "|---|---|---|"]
    names = {"train": "what it learned from", "valid": "others"}
    for part, name in names.items():
        if f"{part}_loss" in last:
            right = last[f"{part}_accuracy"]
            lines.append(f"| {name} | {last[f'{part}_loss']:.4f} | {right:.2%} |")
    if data.valid is not None and data.kind != "text":
        lines += ["", "| class | right | of |", "|---|---|---|"]
        for name, (right, count) in zip(data.classes, await _by_class(held), strict=True):
            share = f"{right / count:.1%}" if count else "-"
            lines.append(f"| {_cell(name)} | {share} | {count:,} |")
    return "\n".join([*lines, ""])


def _count(held: Lesson) -> int:
    dataset: Any = held.train.dataset
    return len(dataset)


async def _by_class(held: Lesson) -> list[tuple[int, int]]:
    """Of each class, how many samples of the validation are right, and how many there are."""
    assert held.valid is not None
    scores = await held.learner.predict_async(held.valid)
    labels = held.data.valid.tensors[1]
    guessed = tl.argmax(scores, axis=1)
    values = await run_async(reading([guessed, asarray(labels)]))
    pairs = list(zip(*(each.tolist() for each in values), strict=True))
    return [
        (
            sum(guess == label == number for guess, label in pairs),
            sum(label == number for _, label in pairs),
        )
        for number in range(len(held.data.classes))
    ]


def _listed(names: Sequence[str], most: int = 50) -> str:
    shown = ", ".join(_cell(name) for name in names[:most])
    return shown + (", …" if len(names) > most else "")


def _cell(name: str) -> str:
    """A name in a cell of a table, in which signs that would end it are escaped."""
    return name.translate({ord("|"): r"\|", ord("\n"): "↵"})
