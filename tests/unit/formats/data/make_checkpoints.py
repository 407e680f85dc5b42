"""Makes the PyTorch checkpoints of this folder, where PyTorch is installed."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

import torch  # type: ignore[import-not-found]

HERE = Path(__file__).parent

net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
with torch.no_grad():
    for number, value in enumerate(net.state_dict().values()):
        value.copy_(torch.arange(value.numel()).reshape(value.shape) + 10 * number)
base = torch.arange(24, dtype=torch.float32)
state = {
    "model": net.state_dict(),
    "epoch": 3,
    "lr": 0.5,
    "name": "net",
    "flags": (True, None, [1, -2]),
    "parameter": torch.nn.Parameter(torch.tensor([1.5, 2.5])),
    "transposed": base[:6].reshape(2, 3).T,
    "part": base[4:10:2],
    "expanded": torch.tensor([7.0]).expand(2, 2),
    "half": torch.tensor([0.5, -2.0], dtype=torch.float16),
    "bfloat16": torch.tensor([0.5, -2.0], dtype=torch.bfloat16),
    "double": torch.tensor([[1.25]], dtype=torch.float64),
    "long": torch.tensor([1 << 40, -1]),
    "byte": torch.tensor([1, 255], dtype=torch.uint8),
    "bool": torch.tensor([True, False]),
    "scalar": torch.tensor(5, dtype=torch.int32),
    "empty": torch.zeros(0, 3),
    "size": torch.Size([2, 3]),
    "ordered": OrderedDict(a=1),
}
torch.save(state, HERE / "zip.pt")
torch.save(state, HERE / "legacy.pt", _use_new_zipfile_serialization=False)
torch.save({"x": torch.tensor([0.5, 2.0]).to(torch.float8_e5m2)}, HERE / "float8.pt")
torch.save(net, HERE / "whole_module.pt")
