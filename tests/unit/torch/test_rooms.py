"""Modules under PyTorch's names, `install()`, files, and programs that run as they are."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.errors import FormatError, MissingNameError, OptionError, ShapeError

IMPORTS = """
from torch import Tensor, nn, optim
from torch.autograd import Function, Variable
from torch.autograd.functional import hessian, jacobian
from torch.cuda.amp import GradScaler, autocast
from torch.distributions import Categorical, Normal
from torch.distributions.normal import Normal as SameNormal
from torch.jit import Final
from torch.nn import Parameter, functional as F, init
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.pooling import MaxPool2d
from torch.nn.modules.utils import _pair
from torch.nn.parallel import DataParallel, DistributedDataParallel
from torch.nn.utils import clip_grad_norm_
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.optim.lr_scheduler import StepLR
from torch.optim.optimizer import Optimizer, required
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset, random_split
from torch.utils.data.distributed import DistributedSampler
import torch.backends.cudnn as cudnn
import torch.distributed as dist
import torch.fx
import torch.linalg
import torch.multiprocessing as mp
import torch.special
import torch.utils.model_zoo
"""


def run(code: str, *options: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A program in a file, run by the command line."""
    script = folder / "program.py"
    script.write_text(code)
    command = [sys.executable, "-m", "tallow", "run", str(script), *options]
    paths = {**os.environ, "PYTHONPATH": str(Path(tl.__file__).parents[1])}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=paths, check=False
    )


def test_a_program_runs_as_it_is(tmp_path: Path) -> None:
    code = IMPORTS + "\nimport sys\nprint(torch.ones(2).sum(), sys.argv[1:], __name__)\n"
    done = run(code, "--as-torch", "--device", "numpy", "--epochs", "3", folder=tmp_path)
    assert done.stdout == "tensor(2.) ['--epochs', '3'] __main__\n", done.stderr


def test_what_a_program_raises_is_shown(tmp_path: Path) -> None:
    done = run("import torch\nraise KeyError('mine')\n", "--as-torch", folder=tmp_path)
    assert done.returncode == 1 and "program.py" in done.stderr and "KeyError" in done.stderr
    done = run("import torch.nothing\n", "--as-torch", folder=tmp_path)
    assert "torch.nothing is not in Tallow" in done.stderr


def test_rooms_have_the_same_objects(torch: Any) -> None:
    nn = import_module("tallow.torch.nn")
    assert nn is torch.nn and torch.nn.Linear is tl.nn.Linear
    assert import_module("tallow.torch.nn.modules.linear").Linear is tl.nn.Linear
    assert torch.optim.Adam is tl.optim.Adam
    assert torch.utils.data.DataLoader is tl.utils.data.DataLoader
    before = torch.backends.cudnn.benchmark
    torch.backends.cudnn.benchmark = not before
    assert import_module("tallow.torch.backends.cudnn").benchmark is not before
    torch.backends.cudnn.benchmark = before
    assert "Linear" in dir(nn) and "max" in dir(torch)


def test_install_and_uninstall(torch: Any) -> None:
    torch.install()
    try:
        assert import_module("torch") is torch
        assert import_module("torch.nn.functional") is torch.nn.functional
        assert torch.nn.__spec__.name == "tallow.torch.nn"  # imports within the package still work
        torch.install()  # again: nothing more
    finally:
        torch.uninstall()
    assert "torch" not in sys.modules


def test_install_refuses_where_pytorch_is_imported(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", type(sys)("torch"))
    with pytest.raises(OptionError, match=r"imported already.*before anything imports torch"):
        torch.install()


def test_files_of_any_name(torch: Any, tmp_path: Path) -> None:
    saved = {
        "model": torch.nn.Linear(2, 1).state_dict(), "epoch": 3, "best": np.float64(0.5),
        "parts": [torch.arange(3), (torch.ones(2, 2).half(), "text")],
        "half": torch.ones(2).bfloat16(), "flag": True, "none": None,
    }  # fmt: skip
    torch.save(saved, tmp_path / "weights.whatever")
    found = torch.load(tmp_path / "weights.whatever", map_location="cpu", weights_only=True)
    assert list(found) == list(saved) and found["epoch"] == 3 and found["best"] == 0.5
    assert found["parts"][0].tolist() == [0, 1, 2] and found["parts"][1][1] == "text"
    assert found["parts"][1][0].dtype is torch.float16 and found["half"].dtype is torch.bfloat16
    assert found["model"]["weight"].tolist() == saved["model"]["weight"].tolist()
    buffer = io.BytesIO()
    torch.save(torch.ones(2), buffer)
    buffer.seek(0)
    assert torch.load(buffer).tolist() == [1.0, 1.0]


def test_a_pickle_that_would_run_code_is_refused(torch: Any, tmp_path: Path) -> None:
    torch.save(torch.nn.Linear(2, 1), tmp_path / "whole.pt")
    with pytest.raises(FormatError, match=r"tallow.nn.linear.Linear.*may run code"):
        torch.load(tmp_path / "whole.pt", weights_only=False)
    with pytest.raises(OptionError, match="save"):
        torch.save({"f": lambda x: x}, tmp_path / "function.pt")
    assert not (tmp_path / "function.pt").exists()


def test_matrices_in_coordinates(torch: Any) -> None:
    places = torch.tensor([[0, 1, 1, 0], [2, 0, 2, 2]])
    values = torch.tensor([3.0, 4.0, 5.0, 1.0], requires_grad=True)
    a = torch.sparse_coo_tensor(places, values, (2, 3))
    b = torch.arange(6.0).reshape(3, 2).requires_grad_()
    dense = [[0.0, 0.0, 4.0], [4.0, 0.0, 5.0]]
    assert a.to_dense().tolist() == dense and a.is_sparse and isinstance(a, torch.Tensor)
    for product in (torch.spmm(a, b), torch.sparse.mm(a, b), a @ b, torch.mm(a, b)):
        assert product.tolist() == (torch.tensor(dense) @ b).tolist()
    (a @ b).sum().backward()
    assert values.grad.tolist() == [9.0, 1.0, 9.0, 9.0]
    assert b.grad.tolist() == [[4.0, 4.0], [0.0, 0.0], [9.0, 9.0]]
    assert a.coalesce().values().tolist() == [4.0, 4.0, 5.0]
    assert a.t().to_dense().tolist() == torch.tensor(dense).t().tolist()
    rows = torch.sparse.softmax(a.detach().coalesce(), 1).to_dense()
    assert rows.sum(1).tolist() == [1.0, 1.0] and rows[0].tolist() == [0.0, 0.0, 1.0]
    assert torch.eye(2).to_sparse().indices().tolist() == [[0, 1], [0, 1]]
    with pytest.raises(ShapeError, match="mm"):
        a @ torch.ones(2, 2)
    with pytest.raises(IndexError, match="index 7"):
        torch.sparse_coo_tensor([[7], [0]], [1.0], (2, 3))


def test_onnx_export(torch: Any, tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Dropout(0.5))
    path = tmp_path / "model.onnx"
    torch.onnx.export(
        model, torch.ones(1, 3), str(path), input_names=["rows"], output_names=["scores"],
        dynamic_axes={"rows": {0: "n"}},
    )  # fmt: skip
    assert model.training
    loaded = tl.onnx.load(path)
    assert [x.name for x in loaded.inputs] == ["rows"] and loaded.inputs[0].shape == ("n", 3)
    got = loaded.session("numpy").run({"rows": np.ones((4, 3), np.float32)})
    np.testing.assert_allclose(
        got["scores"], model.eval()(torch.ones(4, 3)).detach().numpy(), rtol=1e-6
    )


def test_derivatives_of_functions(torch: Any) -> None:
    functional = torch.autograd.functional
    x = torch.tensor([1.0, 2.0])
    assert functional.jacobian(lambda x: x**2, x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert functional.hessian(lambda x: (x**3).sum(), x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    assert functional.vjp(lambda x: x**2, x, torch.ones(2))[1].tolist() == [2.0, 4.0]
    assert functional.jvp(lambda x: x**2, x, torch.ones(2))[1].tolist() == [2.0, 4.0]
    assert functional.hvp(lambda x: (x**3).sum(), x, torch.ones(2))[1].tolist() == [6.0, 12.0]
    y = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda y: y.sin() * y, (y,))


def test_samplers_and_seeds(torch: Any) -> None:
    sampler = torch.utils.data.distributed.DistributedSampler(range(5), 2, 1, shuffle=False)
    assert list(sampler) == [1, 3, 0] and len(sampler) == 3
    state = torch.get_rng_state()
    first = torch.rand(3).tolist()
    torch.set_rng_state(state)
    assert torch.rand(3).tolist() == first
    assert torch.manual_seed(3).initial_seed() == torch.initial_seed() == 3
    before = torch.rand(2).tolist()
    with torch.random.fork_rng():
        torch.rand(1)
    torch.manual_seed(3)
    assert torch.rand(2).tolist() == before


def test_what_is_the_identity_here(torch: Any) -> None:
    def double(x: Any) -> Any:
        return 2 * x

    assert torch.compile(double) is torch.jit.script(double) is double
    assert torch.compile(mode="max-autotune")(double) is double
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    assert list(model.state_dict()) == ["module.weight", "module.bias"]
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH), torch.no_grad():
        assert double(1) == 2
    with pytest.raises(MissingNameError, match="state_dict"):
        torch.jit.load("model.pt")
    torch.testing.assert_close(torch.ones(2), torch.ones(2) + 1e-8)
    with pytest.raises(AssertionError, match="first at"):
        torch.testing.assert_close(torch.ones(2), torch.tensor([1.0, 2.0]))
