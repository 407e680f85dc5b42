"""Trajectories of optimisers, with all their options. `o` is torch.optim or tallow.optim."""

from __future__ import annotations

from ..case import register
from ..training import PROBLEMS, Make, Training, bowl, matrices

OPTIMISERS: dict[str, Make] = {
    "sgd": lambda o, p: o.SGD(p, lr=0.1),
    "sgd default": lambda o, p: o.SGD(p),
    "sgd decay": lambda o, p: o.SGD(p, 0.1, weight_decay=0.1),
    "sgd momentum": lambda o, p: o.SGD(p, 0.05, 0.9),
    "sgd dampening": lambda o, p: o.SGD(p, 0.1, 0.8, 0.3, 0.01),
    "sgd nesterov": lambda o, p: o.SGD(p, 0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
    "sgd maximize": lambda o, p: o.SGD(p, 0.01, momentum=0.5, maximize=True),
    "adam": lambda o, p: o.Adam(p, lr=0.05),
    "adam default": lambda o, p: o.Adam(p),
    "adam betas": lambda o, p: o.Adam(p, 0.05, (0.8, 0.95), 1e-6),
    "adam beta 0": lambda o, p: o.Adam(p, 0.01, betas=(0.0, 0.9)),
    "adam decay": lambda o, p: o.Adam(p, 0.05, weight_decay=0.1),
    "adam decoupled": lambda o, p: o.Adam(
        p, 0.05, weight_decay=0.1, decoupled_weight_decay=True),
    "adam amsgrad": lambda o, p: o.Adam(p, 0.05, amsgrad=True, foreach=False),
    "adam maximize": lambda o, p: o.Adam(p, 0.01, maximize=True),
    "adamw": lambda o, p: o.AdamW(p, lr=0.05),
    "adamw all": lambda o, p: o.AdamW(
        p, 0.05, (0.8, 0.9), weight_decay=0.2, amsgrad=True, maximize=True),
    "adamax": lambda o, p: o.Adamax(p, lr=0.05),
    "adamax all": lambda o, p: o.Adamax(
        p, 0.05, (0.7, 0.9), 1e-6, 0.1, False, maximize=True),
    "adagrad": lambda o, p: o.Adagrad(p, lr=0.3),
    "adagrad all": lambda o, p: o.Adagrad(p, 0.3, 0.1, 0.05, 0.5, 1e-8, False),
    "adagrad maximize": lambda o, p: o.Adagrad(p, 0.01, maximize=True),
    "adafactor": lambda o, p: o.Adafactor(p),
    "adafactor all": lambda o, p: o.Adafactor(p, 0.05, -0.5, (1e-4, 0.1), 1.5, 0.1),
    "rmsprop": lambda o, p: o.RMSprop(p, lr=0.02),
    "rmsprop momentum": lambda o, p: o.RMSprop(p, 0.01, momentum=0.8, weight_decay=0.05),
    "rmsprop centered": lambda o, p: o.RMSprop(p, 0.01, 0.9, 1e-4, 0.0, 0.0, True),
    "rmsprop all": lambda o, p: o.RMSprop(p, 0.01, 0.8, 1e-3, 0.1, 0.5, True, maximize=True),
    "groups": lambda o, p: o.AdamW(
        [{"params": p[:1]}, {"params": p[1:], "lr": 0.01, "weight_decay": 0.0}], lr=0.05),
    "named": lambda o, p: o.SGD([(f"p{n}", x) for n, x in enumerate(p)], lr=0.1, momentum=0.9),
}  # fmt: skip

MUON: dict[str, Make] = {
    "muon": lambda o, p: o.Muon(p, lr=0.02),
    "muon plain": lambda o, p: o.Muon(p, 0.02, 0.0, 0.9, False, adjust_lr_fn="original"),
    "muon rms": lambda o, p: o.Muon(p, 0.02, ns_steps=3, adjust_lr_fn="match_rms_adamw"),
}
"""For matrices alone; PyTorch computes them in bfloat16."""

LBFGS: dict[str, Make] = {
    "lbfgs": lambda o, p: o.LBFGS(p, lr=0.2, max_iter=4),
    "lbfgs history": lambda o, p: o.LBFGS(p, lr=0.3, max_iter=6, history_size=2),
    "lbfgs wolfe": lambda o, p: o.LBFGS(p, max_iter=5, line_search_fn="strong_wolfe"),
    "lbfgs wolfe far": lambda o, p: o.LBFGS(
        p, lr=30.0, max_iter=3, line_search_fn="strong_wolfe"),
}  # fmt: skip

ON_BOWL: dict[str, Make] = {
    "sgd": lambda o, p: o.SGD(p, lr=0.1),
    "sgd momentum": lambda o, p: o.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "sgd dampening": lambda o, p: o.SGD(p, lr=0.1, momentum=0.8, dampening=0.3),
    "sgd nesterov": lambda o, p: o.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    "sgd maximize": lambda o, p: o.SGD(p, lr=0.01, maximize=True),
    "adam": lambda o, p: o.Adam(p, lr=0.1),
    "adam decay": lambda o, p: o.Adam(p, lr=0.1, betas=(0.8, 0.95), weight_decay=0.1),
    "adam amsgrad": lambda o, p: o.Adam(p, lr=0.1, amsgrad=True),
    "adamw": lambda o, p: o.AdamW(p, lr=0.1, weight_decay=0.1),
    "adamax": lambda o, p: o.Adamax(p, lr=0.1, weight_decay=0.01),
    "adagrad": lambda o, p: o.Adagrad(p, lr=0.5, lr_decay=0.1, weight_decay=0.01),
    "adagrad start": lambda o, p: o.Adagrad(p, initial_accumulator_value=0.5),
    "rmsprop": lambda o, p: o.RMSprop(p, lr=0.05, weight_decay=0.01),
    "rmsprop centered": lambda o, p: o.RMSprop(p, lr=0.05, momentum=0.5, centered=True),
    "groups": lambda o, p: o.SGD([{"params": p[:1]}, {"params": p[1:], "lr": 0.01}], lr=0.1),
}
"""With other settings, on a bowl."""

TRAININGS = [
    *(
        Training(f"optim.{name} on {problem}", make, PROBLEMS[problem])
        for problem in PROBLEMS
        for name, make in OPTIMISERS.items()
    ),
    *(
        Training(
            f"optim.{name} on bowl", make, bowl, after=(8,), rtol=2e-4,
            diverges=name in ("sgd momentum", "sgd dampening", "sgd maximize"),
        )
        for name, make in ON_BOWL.items()
    ),
    # PyTorch iterates in bfloat16, of which numbers have 8 bits.
    *(
        Training(f"optim.{name} on matrices", make, matrices, rtol=0.02, atol=0.01)
        for name, make in MUON.items()
    ),
    *(
        Training(
            f"optim.{name} on {problem}", make, PROBLEMS[problem],
            after=(1, 2, 3), closure=True, rtol=1e-3, atol=5e-4,
        )
        for problem in PROBLEMS
        for name, make in LBFGS.items()
    ),
]  # fmt: skip

for each in TRAININGS:
    register(each)
