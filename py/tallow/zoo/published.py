"""Weights of published decoders, as the networks here have them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .. import functions as f
from .. import nn
from ..core.hostarray import HostArray
from ..errors import ShapeError
from ..tensor import Tensor, asarray
from ..tensor.tensor import host_values

_EXPERT = re.compile(
    r"(.*)\.(?:mlp|block_sparse_moe)\.experts\.(\d+)\.(w1|w2|w3|gate_proj|up_proj|down_proj)\.weight"
)
_MIXTRAL = {"w1": "gate_proj", "w2": "down_proj", "w3": "up_proj"}


def published(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Tensors of a published file under the names of the networks here: experts one by one become
    one tensor, and prefixes of larger models go. Values are what `asarray` takes."""
    found: dict[str, Any] = {}
    experts: dict[str, dict[int, Any]] = {}
    for name, value in tensors.items():
        name = re.sub(r"^(model\.)?language_model\.(model\.)?", "model.", name)
        name = re.sub(r"^transformer\.", "", name)
        match = _EXPERT.fullmatch(name)
        if match is not None:
            start, number, part = match.groups()
            whole = f"{start}.mlp.experts.{_MIXTRAL.get(part, part)}"
            experts.setdefault(whole, {})[int(number)] = value
        elif not re.search(r"\.attn\.(masked_)?bias$|rotary_emb\.inv_freq$", name):
            found[name.replace(".block_sparse_moe.gate.", ".mlp.gate.")] = value
    for name, several in experts.items():
        found[name] = f.stack([asarray(several[number]) for number in sorted(several)])
    return found


def set_weights(network: nn.Module, tensors: Mapping[str, Tensor]) -> list[str]:
    """Puts tensors in the place of parameters, as they are: constants of the plans that read
    them, which may be packed and decoded where they are used.

    tensors: by the names of parameters. Scores that are products with the embeddings take these.
    Returns: the names of parameters that got none.
    Raises: ShapeError for a tensor of another shape.
    """
    missing = []
    for name, parameter in list(network.named_parameters()):
        tensor = tensors.get(name)
        if tensor is None:
            missing.append(name)
            continue
        if tensor.shape != parameter.shape:
            raise ShapeError(f"{name} is {tensor.shape}, and should be {parameter.shape}")
        start, _, last = name.rpartition(".")
        holder = network.get_submodule(start)
        delattr(holder, last)
        setattr(holder, last, tensor)
    return missing


def freeze(network: nn.Module) -> nn.Module:
    """Makes constants of a network's parameters, so that plans may lay them out as their products
    read them; WebAssembly takes a fraction of the time then. It can be trained no longer. Blocks.

    Returns: the network itself.
    """
    named = dict(network.named_parameters())
    values = host_values(list(named.values()))
    fixed = [HostArray(each.data.toreadonly(), each.shape, each.dtype) for each in values]
    set_weights(network, {name: asarray(value) for name, value in zip(named, fixed, strict=True)})
    return network
