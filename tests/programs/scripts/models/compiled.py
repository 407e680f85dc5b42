"""torch.compile, jit.script and autocast, as programs ask for them where they can."""

import os
import warnings

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

warnings.simplefilter("ignore")
torch.backends.cudnn.benchmark = True
torch.backends.cudnn.deterministic = False
torch.set_float32_matmul_precision("high")
torch.set_num_threads(1)


@torch.jit.script
def fused_gelu(x):
    return x * 0.5 * (1.0 + torch.erf(x / 1.41421))


@torch.compile(backend="eager")
def distance(a, b):
    return (a - b).abs().mean()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(5, 16)
        self.fc2 = nn.Linear(16, 3)

    @torch.jit.export
    def features(self, x):
        return fused_gelu(self.fc1(x))

    def forward(self, x):
        return self.fc2(self.features(x))


local_rank = int(os.environ.get("LOCAL_RANK", -1))
ddp = local_rank != -1 and dist.is_available() and not dist.is_initialized()
if ddp:
    dist.init_process_group(backend="gloo")
master_process = not ddp or dist.get_rank() == 0
device = "cuda" if torch.cuda.is_available() else "cpu"
device_type = "cuda" if "cuda" in device else "cpu"
dtype = "bfloat16" if torch.cuda.is_available() and torch.cuda.is_bf16_supported() else "float32"
ptdtype = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[dtype]

model = Net().to(device)
rng = np.random.default_rng(33)
with torch.no_grad():
    for p in model.parameters():
        p.copy_(torch.from_numpy(rng.normal(0, 0.4, p.shape)).to(p.device))
model = torch.compile(model, backend="eager")
if ddp:
    model = DDP(model, device_ids=[local_rank])
if torch.cuda.device_count() > 1:
    model = nn.DataParallel(model)
raw_model = model.module if ddp else model
optimizer = torch.optim.Adam(raw_model.parameters(), lr=0.02, foreach=False)
scaler = torch.amp.GradScaler(device_type, enabled=(dtype == "float16"))

x = torch.from_numpy(rng.normal(size=(30, 5))).float().to(device, non_blocking=True)
y = x[:, :3].argmax(1)
for step in range(6):
    with torch.autocast(device_type=device_type, dtype=ptdtype, enabled=device_type == "cuda"):
        logits = model(x)
        loss = F.cross_entropy(logits, y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    if master_process:
        print(f"step {step} loss {loss.item():.6f}")
print(f"apart: loss {distance(logits.softmax(-1), F.one_hot(y, 3).float()).item():.6f}")

with torch.autocast("cpu", dtype=torch.bfloat16):
    low = nn.functional.linear(x[:2], torch.ones(3, 5))
print(low.dtype, low.shape)
with torch.no_grad():
    double = Net().double()
    print(double(x[:2].double()).dtype, scaler.get_scale(), scaler.is_enabled())
if torch.cuda.is_available():
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
if ddp:
    dist.destroy_process_group()
