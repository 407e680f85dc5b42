"""Losses, as functions and as modules."""

from __future__ import annotations

import numpy as np

from ..case import case, classes, drawn

positive = np.abs(drawn("positive", (4, 5))) + 0.1
probabilities = 1 / (1 + np.exp(-drawn("probabilities", (4, 5))))
zero_one = classes("zero or one", (4, 5), 2).astype(np.float32)
signs = zero_one * 2 - 1
per_row = classes("rows", (4,), 2).astype(np.float32) * 2 - 1
shares = np.exp(drawn("shares", (4, 5)))
shares /= shares.sum(1, keepdims=True)
labels = classes("labels", (4,), 5)
pixels = classes("pixels", (2, 3, 2), 5)
ignored = labels.copy()
ignored[1] = -100
importance = np.abs(drawn("importance", (5,))) + 0.1

for name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss"):
    for how in ("mean", "sum", "none"):
        case(f"nn.{name}-{how}", lambda t, n=name, r=how: getattr(t.nn, n)(reduction=r), (4, 5),
             (4, 5))  # fmt: skip
case("nn.SmoothL1Loss-beta", lambda t: t.nn.SmoothL1Loss(beta=0.3), (4, 5), (4, 5))
case("nn.HuberLoss-delta", lambda t: t.nn.HuberLoss(delta=0.3), (4, 5), (4, 5))

for reduction in ("mean", "sum", "none"):
    options = {"reduction": reduction}
    case(f"nn.CrossEntropyLoss-{reduction}",
         lambda t, o=options: t.nn.CrossEntropyLoss(**o), (4, 5), labels)  # fmt: skip
    case(f"nn.CrossEntropyLoss-all-{reduction}",
         lambda t, o=options: t.nn.CrossEntropyLoss(
             t.asarray(importance), label_smoothing=0.1, **o), (4, 5), ignored)  # fmt: skip
    case(f"nn.CrossEntropyLoss-shares-{reduction}",
         lambda t, o=options: lambda x: t.nn.functional.cross_entropy(
             x, t.asarray(shares), label_smoothing=0.1, **o), (4, 5))  # fmt: skip
    case(f"nn.NLLLoss-{reduction}", lambda t, o=options: t.nn.NLLLoss(**o), (2, 5, 3, 2), pixels)
    case(f"nn.BCELoss-{reduction}", lambda t, o=options: t.nn.BCELoss(**o),
         probabilities.astype(np.float32), zero_one, gradients=False)  # fmt: skip
    case(f"nn.BCEWithLogitsLoss-{reduction}", lambda t, o=options: t.nn.BCEWithLogitsLoss(**o),
         (4, 5), zero_one, constant=(1,))  # fmt: skip
    case(f"nn.KLDivLoss-{reduction}", lambda t, o=options: t.nn.KLDivLoss(**o), (4, 5),
         shares.astype(np.float32), constant=(1,))  # fmt: skip
case("nn.CrossEntropyLoss-pixels", lambda t: t.nn.CrossEntropyLoss(), (2, 5, 3, 2), pixels)
case("nn.CrossEntropyLoss-one", lambda t: t.nn.CrossEntropyLoss(), (5,), np.array(3))
case("nn.CrossEntropyLoss-ignore", lambda t: t.nn.CrossEntropyLoss(ignore_index=2), (4, 5), labels)
case("nn.NLLLoss-weight", lambda t: t.nn.NLLLoss(t.asarray(importance)), (4, 5), ignored)
case("nn.BCEWithLogitsLoss-weights",
     lambda t: t.nn.BCEWithLogitsLoss(t.asarray(importance), pos_weight=t.asarray(importance * 2)),
     (4, 5), zero_one, constant=(1,))  # fmt: skip
case("F.binary_cross_entropy", lambda t: lambda x, y: t.nn.functional.binary_cross_entropy(
    t.nn.functional.sigmoid(x), y), (4, 5), zero_one, constant=(1,))  # fmt: skip
case("nn.KLDivLoss-batchmean", lambda t: t.nn.KLDivLoss(reduction="batchmean"), (4, 5),
     shares.astype(np.float32), constant=(1,))  # fmt: skip
case("nn.KLDivLoss-log", lambda t: t.nn.KLDivLoss(log_target=True), (4, 5), (4, 5))
case(
    "nn.PoissonNLLLoss",
    lambda t: t.nn.PoissonNLLLoss(),
    (4, 5),
    np.round(positive * 3),
    constant=(1,),
)
case("nn.PoissonNLLLoss-full", lambda t: t.nn.PoissonNLLLoss(full=True), (4, 5),
     np.round(positive * 3), constant=(1,))  # fmt: skip
case("nn.GaussianNLLLoss", lambda t: t.nn.GaussianNLLLoss(), (4, 5), (4, 5), positive)
case("nn.GaussianNLLLoss-full", lambda t: t.nn.GaussianNLLLoss(full=True), (4, 5), (4, 5), positive)
case("nn.HingeEmbeddingLoss", lambda t: t.nn.HingeEmbeddingLoss(), (4, 5), signs, constant=(1,))
case("nn.SoftMarginLoss", lambda t: t.nn.SoftMarginLoss(), (4, 5), signs, constant=(1,))
case(
    "nn.MarginRankingLoss",
    lambda t: t.nn.MarginRankingLoss(0.3),
    (4,),
    (4,),
    per_row,
    constant=(2,),
)
case(
    "nn.CosineEmbeddingLoss",
    lambda t: t.nn.CosineEmbeddingLoss(0.1),
    (4, 5),
    (4, 5),
    per_row,
    constant=(2,),
)
case("nn.TripletMarginLoss", lambda t: t.nn.TripletMarginLoss(), (4, 5), (4, 5), (4, 5))
case("nn.TripletMarginLoss-swap", lambda t: t.nn.TripletMarginLoss(2.0, swap=True), (4, 5), (4, 5),
     (4, 5))  # fmt: skip
case("F.cosine_similarity", lambda t: t.nn.functional.cosine_similarity, (4, 5), (4, 5))
case("F.pairwise_distance", lambda t: t.nn.functional.pairwise_distance, (4, 5), (4, 5))

several = np.array([[3, 0, -1, 1, 2], [1, -1, -1, -1, -1], [4, 3, 2, 1, 0], [-1, 0, 1, 2, 3]])
for reduction in ("mean", "sum", "none"):
    case(f"nn.MultiMarginLoss-{reduction}",
         lambda t, r=reduction: t.nn.MultiMarginLoss(reduction=r), (4, 5), labels)  # fmt: skip
    case(f"nn.MultiLabelMarginLoss-{reduction}",
         lambda t, r=reduction: t.nn.MultiLabelMarginLoss(reduction=r), (4, 5),
         several)  # fmt: skip
    case(f"nn.MultiLabelSoftMarginLoss-{reduction}",
         lambda t, r=reduction: t.nn.MultiLabelSoftMarginLoss(reduction=r), (4, 5), zero_one,
         constant=(1,))  # fmt: skip
    case(f"nn.TripletMarginWithDistanceLoss-{reduction}",
         lambda t, r=reduction: t.nn.TripletMarginWithDistanceLoss(
             distance_function=lambda x, y: ((x - y) * (x - y)).sum(-1), swap=True, reduction=r),
         (4, 5), (4, 5), (4, 5))  # fmt: skip
case("nn.MultiMarginLoss-all", lambda t: t.nn.MultiMarginLoss(2, 0.5, t.asarray(importance)),
     (4, 5), labels)  # fmt: skip
case("nn.MultiMarginLoss-one", lambda t: t.nn.MultiMarginLoss(reduction="none"), (5,), np.array(3))
case("nn.MultiLabelMarginLoss-one", lambda t: t.nn.MultiLabelMarginLoss(), (5,), several[0])
case("nn.MultiLabelSoftMarginLoss-weight",
     lambda t: t.nn.MultiLabelSoftMarginLoss(t.asarray(importance)), (4, 5), zero_one,
     constant=(1,))  # fmt: skip
case("nn.TripletMarginWithDistanceLoss", lambda t: t.nn.TripletMarginWithDistanceLoss(), (4, 5),
     (4, 5), (4, 5))  # fmt: skip
case("nn.NLLLoss-one", lambda t: t.nn.NLLLoss(reduction="none"), (5,), np.array(3))
case("F.one_hot", lambda t: t.nn.functional.one_hot, pixels)

sequences = classes("sequences", (2, 4), 5) + 1
for reduction in ("mean", "sum", "none"):
    case(f"nn.CTCLoss-{reduction}",
         lambda t, r=reduction: lambda x, y, a, b: t.nn.functional.ctc_loss(
             t.nn.functional.log_softmax(x, dim=2), y, a, b, reduction=r),
         (12, 2, 6), sequences, np.array([12, 10]), np.array([4, 3]))  # fmt: skip

lined = np.array([1, 2, 3, 4, 2])
case(
    "F.ctc_loss-line",
    lambda t: (
        lambda x: t.nn.functional.ctc_loss(
            t.nn.functional.log_softmax(x, dim=2), t.tensor(lined), (12, 10), (3, 2)
        )
    ),
    (12, 2, 6),
)
case("F.ctc_loss-one", lambda t: lambda x: t.nn.functional.ctc_loss(
    t.nn.functional.log_softmax(x, dim=1), t.tensor(lined), t.tensor(12), t.tensor(5),
    reduction="none"), (12, 6))  # fmt: skip
case("F.pdist", lambda t: t.nn.functional.pdist, (5, 3))
case("F.pdist-3", lambda t: lambda x: t.nn.functional.pdist(x, p=3.0), (5, 3))
case("F.pdist-1", lambda t: lambda x: t.nn.functional.pdist(x, p=1.0), (5, 3))
