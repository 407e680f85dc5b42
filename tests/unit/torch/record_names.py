"""Records PyTorch's and torchvision's public names, where they are installed:

    python tests/unit/torch/record_names.py [torchvision]

With `torchvision`, those of its rooms alone. They stand in names.json, a list for each room;
docs/pytorch.md says which of them Tallow has.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROOMS = (
    "torch", "torch.Tensor", "torch.nn", "torch.nn.functional", "torch.nn.init",
    "torch.nn.utils", "torch.nn.utils.rnn", "torch.nn.utils.parametrizations",
    "torch.nn.utils.prune", "torch.optim", "torch.optim.lr_scheduler",
    "torch.optim.swa_utils", "torch.autograd", "torch.autograd.functional", "torch.func",
    "torch.amp", "torch.linalg", "torch.fft", "torch.special", "torch.sparse",
    "torch.distributions", "torch.distributions.transforms",
    "torch.distributions.constraints", "torch.utils.data", "torch.utils.checkpoint",
    "torch.jit", "torch.hub", "torch.onnx", "torch.cuda",
    "torchvision.datasets", "torchvision.transforms", "torchvision.transforms.functional",
    "torchvision.transforms.v2", "torchvision.transforms.v2.functional", "torchvision.models",
    "torchvision.ops", "torchvision.utils", "torchvision.io",
)  # fmt: skip

# Names of PyTorch's own machinery, of which no documentation speaks.
INTERNAL = re.compile(
    r"_|cudnn_|fbgemm_|miopen_|mkldnn_|native_|batch_norm_|sym_|fake_quant|autocast_|quantize|q_|"
    r"sspaddmm|sparse_|hsmm|hspmm|dsmm|smm|import_ir|parse_|merge_type|unify|rnn_|quantized_|"
    r"choose_qparams|fused_|int_repr|is_vulkan|read_vit|set_vital|vitals|init_num|get_file|saddmm|"
    r"segment_reduce|unsafe_|to_dlpack|embedding_renorm|affine_grid_gen|grid_sampler|has_|"
    r"is_autocast|get_autocast|set_autocast|clear_autocast|is_mkldnn|compiled_with|nuclear|"
    r"frobenius|lu_unpack|refine_names|align|conv_tbc|ctc_loss|gru|lstm|hash_tensor|classproperty|"
    r"lobpcg_|slice_inverse|rowwise|typename|profiler_|thread_safe|prepare_multi|mse|to_mkldnn|"
    r"crow_|ccol_|col_ind|row_ind|module_load|output_nr|const_data|data_ptr|is_(ipu|maia|mtia|xla)|"
    r"ipu|mtia|dim_order|qscheme|retains|volatile|reinforce|handle_torch|as_subclass"
)

# Of torchvision: a kernel for each kind of v2's inputs, and lists of weights, which are files.
INTERNAL_VISION = re.compile(r"_|.*_(image|video|mask|bounding_boxes|keypoints)$|.*_Weights$")
NOT_THEIRS = re.compile(r"typing|collections|functools|contextlib|builtins|warnings|weakref|enum")


def public(room: str) -> list[str]:
    """The public names of a room: functions, classes, methods, element types."""
    parent, _, last = room.rpartition(".")
    whole: Any = getattr(import_module(parent), last) if last == "Tensor" else import_module(room)
    found = []
    if room.startswith("torchvision"):
        for name in getattr(whole, "__all__", None) or dir(whole):
            value = getattr(whole, name)
            theirs = getattr(value, "__module__", "").startswith("torchvision")
            if theirs and not INTERNAL_VISION.match(name):
                found.append(name)
        return sorted(found)
    for name in dir(whole):
        value = getattr(whole, name, None)
        module = getattr(value, "__module__", "") or ""
        copies = name.endswith(("_copy", "Storage", "Type")) or INTERNAL.match(name)
        if copies or inspect.ismodule(value) or NOT_THEIRS.match(module):
            continue
        if room == "torch" and name[0].isupper() and not name.endswith("Tensor"):
            continue
        attribute = room == "torch.Tensor" or type(value).__name__ == "dtype"
        if callable(value) or attribute:
            found.append(name)
    return sorted(found)


if __name__ == "__main__":
    path = Path(__file__).with_name("names.json")
    names = {
        room: public(room) for room in ROOMS if room.startswith(tuple(sys.argv[1:]) or "torch")
    }
    recorded = json.loads(path.read_text("utf-8")) if sys.argv[1:] else {}
    path.write_text(json.dumps(recorded | names, indent=0) + "\n", "utf-8")
