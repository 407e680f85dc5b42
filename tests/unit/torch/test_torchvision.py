"""`import torchvision` finds `tallow.vision` where `import torch` finds `tallow.torch`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import tallow as tl
from tallow.errors import MissingNameError, OptionError

from .test_rooms import run

PROGRAM = """
import torch
import torchvision
import torch.nn.functional as F
import torchvision.transforms.functional as TF
import torchvision.transforms.v2.functional as F2
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms
from torchvision.datasets.vision import VisionDataset
from torchvision.io import read_image
from torchvision.models import ResNet18_Weights, resnet18
from torchvision.models.alexnet import AlexNet
from torchvision.ops import box_iou, nms
from torchvision.ops.misc import Conv2dNormActivation
from torchvision.transforms import InterpolationMode, v2
from torchvision.utils import make_grid, save_image

torch.manual_seed(0)
transform = transforms.Compose([
    transforms.Resize(8),
    transforms.RandomHorizontalFlip(),
    transforms.ToTensor(),
    transforms.Normalize((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
])
data = datasets.FakeData(8, (3, 16, 16), num_classes=5, transform=transform)
loader = DataLoader(data, batch_size=4, shuffle=True)
model = models.squeezenet1_1(weights=None, num_classes=5).to("cpu")
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for images, labels in loader:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(F.interpolate(images, size=32)), labels)
    loss.backward()
    optimizer.step()
print(images.shape, labels.dtype, loss.item() > 0)
save_image(make_grid(images, nrow=2, normalize=True), "grid.png")
print(read_image("grid.png").shape, torchvision.__version__.split("+")[1])
print(nms(torch.tensor([[0.0, 0, 1, 1], [0, 0, 1, 1]]), torch.tensor([0.5, 0.6]), 0.5))
print(F2.hflip is TF.hflip, issubclass(datasets.FakeData, VisionDataset), v2.Resize(4))
"""

ANSWER = """\
torch.Size([4, 3, 8, 8]) torch.int64 True
torch.Size([3, 22, 22]) tallow
tensor([1])
True True Resize"""


@pytest.fixture
def installed(torch: Any) -> Iterator[None]:
    torch.install()
    yield
    torch.uninstall()


def test_a_program_runs_as_it_is(tmp_path: Path) -> None:
    done = run(PROGRAM, "--as-torch", "--device", "numpy", folder=tmp_path)
    assert done.stdout.startswith(ANSWER), done.stderr


@pytest.mark.usefixtures("installed")
def test_rooms_are_those_of_tallow() -> None:
    assert import_module("torchvision") is tl.vision
    assert import_module("torchvision.datasets.mnist").MNIST is tl.vision.datasets.MNIST
    assert import_module("torchvision.transforms.autoaugment").RandAugment is (
        tl.vision.transforms.RandAugment
    )


@pytest.mark.usefixtures("installed")
def test_a_file_does_not_hide_the_function_of_its_name() -> None:
    file = import_module("torchvision.models.alexnet")
    assert tl.vision.models.alexnet is file.alexnet


@pytest.mark.usefixtures("installed")
def test_a_room_that_is_not_there_is_named() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"torchvision\.models\.segmentation is not in"):
        import_module("torchvision.models.segmentation")
    functional = import_module("torchvision.transforms.v2.functional")
    with pytest.raises(MissingNameError, match=r"torchvision\.transforms\.v2\.functional\.jpeg is"):
        _ = functional.jpeg


@pytest.mark.usefixtures("installed")
def test_uninstall_takes_both_back(torch: Any) -> None:
    import_module("torchvision.ops")
    torch.uninstall()
    assert not [name for name in sys.modules if name.partition(".")[0] == "torchvision"]


def test_install_refuses_where_torchvision_is_imported(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torchvision", type(sys)("torchvision"))
    with pytest.raises(OptionError, match=r"torchvision has been.*anything imports torchvision"):
        torch.install()


def test_lists_of_weights_say_what_to_do() -> None:
    models = tl.vision.models
    with pytest.raises(MissingNameError, match=r"ResNet50_Weights\.DEFAULT: no weights .*load_sta"):
        _ = models.ResNet50_Weights.DEFAULT
    with pytest.raises(MissingNameError, match="no attribute 'Nothing_Weights'"):
        _ = models.Nothing_Weights
    with pytest.raises(MissingNameError, match="no attribute 'resnet19'"):
        _ = models.resnet19


def test_pretrained_of_older_programs() -> None:
    assert tl.vision.models.squeezenet1_1(pretrained=False, num_classes=3).num_classes == 3
    with pytest.raises(OptionError, match=r"pretrained=True cannot be loaded\. Build the network"):
        tl.vision.models.squeezenet1_1(pretrained=True)
