"""Records what torchmetrics and scikit-learn give for the cases, where both are installed:

    python -m tests.unit.metrics.record

The project itself needs neither: what they gave stands in recorded.npz.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from .cases import CASES, DATA, results

RECORDED = Path(__file__).parent / "recorded.npz"


def recorded() -> dict[str, np.ndarray]:
    """What the file has: float32 arrays by name."""
    with np.load(RECORDED) as archive:
        shapes, values = json.loads(str(archive["shapes"])), archive["values"]
    found, at = {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape))
        found[name] = values[at : at + size].reshape(shape)
        at += size
    return found


def _of_scikit_learn() -> dict[str, Any]:
    from sklearn import metrics as m  # type: ignore[import-not-found]

    joined = {
        name: [np.concatenate(each) for each in zip(*batches, strict=True)]
        for name, batches in DATA.items()
        if name in ("binary", "binary labels", "classes, labels", "numbers", "labels")
    }
    (p, t), (bp, bt) = joined["classes, labels"], joined["binary"]
    return {
        "accuracy": m.accuracy_score(t, p),
        "f1": m.f1_score(t, p, average="macro"),
        "precision": m.precision_score(t, p, average="weighted", zero_division=0),
        "kappa": m.cohen_kappa_score(t, p),
        "quadratic kappa": m.cohen_kappa_score(t, p, weights="quadratic", labels=range(5)),
        "confusion matrix": m.confusion_matrix(t, p, labels=range(5)),
        "jaccard": m.jaccard_score(t, p, average="macro"),
        "auroc": m.roc_auc_score(bt, bp),
        "auroc to 0.2": m.roc_auc_score(bt, bp, max_fpr=0.2),
        "average precision": m.average_precision_score(bt, bp),
        "auroc of labels": m.roc_auc_score(*joined["labels"][::-1], average=None),
        "r2": m.r2_score(*joined["numbers"][::-1]),
        "mse": m.mean_squared_error(*joined["numbers"][::-1]),
    }


def main() -> None:
    import torch  # type: ignore[import-not-found]
    import torchmetrics as tm  # type: ignore[import-not-found]
    from torchmetrics import segmentation, text

    warnings.simplefilter("ignore")
    found: dict[str, Any] = {}
    for name, case in CASES.items():
        kind = next(getattr(m, case.metric) for m in (tm, text, segmentation, tm.image)
                    if hasattr(m, case.metric))  # fmt: skip
        metric = kind(**case.options)
        for batch in DATA[case.data]:
            given = [torch.tensor(x) if isinstance(x, np.ndarray) else x for x in batch]
            metric.update(*given)
        for key, value in results(metric.compute()).items():
            found[name + key] = value.numpy()
    found |= {f"scikit-learn {key}": value for key, value in _of_scikit_learn().items()}
    arrays = {name: np.asarray(value, np.float32) for name, value in found.items()}
    np.savez_compressed(
        RECORDED,
        shapes=json.dumps({name: value.shape for name, value in arrays.items()}),
        values=np.concatenate([value.ravel() for value in arrays.values()]),
    )  # an entry for each would be ten times as large
    print(f"{len(found)} arrays of torchmetrics {tm.__version__}, {RECORDED.stat().st_size} bytes")


if __name__ == "__main__":
    main()
