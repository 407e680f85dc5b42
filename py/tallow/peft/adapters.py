"""Files of adapters, as Hugging Face's PEFT has them.

adapter_config.json says what they are, adapter_model.safetensors has the tensors.
https://huggingface.co/docs/peft/developer_guides/checkpoint shows their names.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import functions as f
from .. import nn, zoo
from ..core.drivers import Steps, run_async, run_sync
from ..core.dtype import float32
from ..errors import FormatError, OptionError, ShapeError
from ..formats.opened import opening
from ..formats.weights import save as save_tensors
from ..hub.bundle import bundled
from ..tensor import Tensor, asarray, host_values
from ..zoo.decoder import Attention
from ..zoo.gpt2 import Conv1D
from .lora import LoRALayer, Model, adapted, check_bare, forget, network_of, sizes

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
_START = "base_model.model."
_TENSOR = re.compile(r"(.+)\.lora_([AB])(?:\.default)?\.weight")
_REFUSED = ("use_dora", "modules_to_save", "layer_replication", "trainable_token_indices")


def load(model: Model, source: Any, trainable: bool = False) -> Model:
    """Puts an adapter of PEFT into a model; blocks.

    model: a network, or a language model, its weights packed or not.
    source: a folder with adapter_config.json and adapter_model.safetensors, its address, or a dict
      of such files, Blobs too, by their names.
    trainable: the adapter's tensors are parameters, and all others are frozen; otherwise they are
      constants.
    Returns: the model itself.
    Raises: FormatError for files that are missing, damaged, or of another network; OptionError for
      adapters other than LoRA, and for a model that has one.
    """
    return run_sync(_loading(model, source, trainable))


async def load_async(model: Model, source: Any, trainable: bool = False) -> Model:
    """As `load`, without blocking."""
    return await run_async(_loading(model, source, trainable))


def save(model: Model, folder: str | os.PathLike[str]) -> None:
    """Writes the adapters of a model as a folder that PEFT, and `load`, read. Blocks.

    Raises: OptionError for a model without adapters.
    """
    network = network_of(model)
    layers = dict(adapted(network))
    if not layers:
        raise OptionError("the model has no adapters: tl.peft.lora adds some")
    start = _START + ("transformer." if isinstance(network, zoo.GPT2) else "")
    tensors = {}
    for name, layer in layers.items():
        tensors[f"{start}{name}.lora_A.weight"] = layer.lora_A
        heads = _turned_heads(network, name)
        second = _halves(layer.lora_B, heads) if heads else layer.lora_B
        tensors[f"{start}{name}.lora_B.weight"] = second
    values = host_values(list(tensors.values()))
    first = next(iter(layers.values()))
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": None,
        "r": first.rank,
        "lora_alpha": first.alpha,
        "lora_dropout": first.dropout,
        "use_rslora": first.rslora,
        "target_modules": sorted({name.rpartition(".")[2] for name in layers}),
        "rank_pattern": {n: each.rank for n, each in layers.items() if each.rank != first.rank},
        "alpha_pattern": {n: each.alpha for n, each in layers.items() if each.alpha != first.alpha},
        "bias": "none",
        "fan_in_fan_out": isinstance(first.base_layer, Conv1D),
        "inference_mode": True,
    }
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    (path / CONFIG).write_text(json.dumps(config, indent=2), "utf-8")
    named = zip(tensors, values, strict=True)
    save_tensors({name: asarray(value) for name, value in named}, path / WEIGHTS)


def _loading(model: Model, source: Any, trainable: bool) -> Steps[Model]:
    network = network_of(model)
    check_bare(network)
    files = yield from bundled(source)
    config = yield from files.record(CONFIG)
    if not config:
        raise FormatError(f"{files.name}: there is no {CONFIG}")
    _check(config, files.name)
    weights = yield from files.find(WEIGHTS)
    if weights is None:
        raise FormatError(f"{files.name}: there is no {WEIGHTS}")
    tensors = yield from (yield from opening(weights)).reading_all()
    layers = _layers(network, tensors, config, files.name)
    if trainable:
        network.requires_grad_(False)
    for name, (base, first, second, alpha) in layers.items():
        heads = _turned_heads(network, name)
        second = _neighbours(second, heads) if heads else second
        if trainable:
            first, second = nn.Parameter(first), nn.Parameter(second)
        dropout = float(config.get("lora_dropout") or 0)
        layer = LoRALayer(base, first, second, alpha, dropout, bool(config.get("use_rslora")))
        network.set_submodule(name, layer.train(base.training))
    forget(model)
    return model


def _check(config: Mapping[str, Any], where: str) -> None:
    kind = config.get("peft_type")
    if kind != "LORA":
        raise OptionError(f"{where}: an adapter of the kind {kind!r}; LORA is read here")
    for name in _REFUSED:
        if config.get(name):
            raise OptionError(f"{where}: the adapter uses {name}, which is not read here")
    if config.get("bias", "none") != "none":
        raise OptionError(f"{where}: the adapter has biases, which are not read here")
    alpha = config.get("lora_alpha", 8)
    if isinstance(alpha, bool) or not isinstance(alpha, int | float):
        raise FormatError(f"{where}: lora_alpha is {alpha!r:.60}, not a number")


def _layers(
    network: nn.Module, tensors: Mapping[str, Tensor], config: Mapping[str, Any], where: str
) -> dict[str, tuple[nn.Module, Tensor, Tensor, float]]:
    """The layers of an adapter by their names: what they add to, A, B and alpha."""
    pairs: dict[str, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        found = _TENSOR.fullmatch(name.removeprefix(_START))
        if found is None:
            raise FormatError(f"{where}: the tensor {name!r:.100} is no part of a LoRA")
        wide = tensor if tensor.dtype == float32 else f.astype(tensor, float32)
        pairs.setdefault(found[1], {})[found[2]] = wide
    if not pairs:
        raise FormatError(f"{where}: {WEIGHTS} has no tensors")
    modules = dict(network.named_modules())
    layers = {}
    for name, pair in pairs.items():
        own = next((each for each in _names(name) if each in modules), None)
        if own is None or len(pair) != 2:
            why = "one of lora_A and lora_B alone" if own else "a layer that the network lacks"
            raise FormatError(f"{where}: the adapter has {why}: {name:.100}")
        outputs, inputs = sizes(modules[own], own)
        first, second = pair["A"], pair["B"]
        rank = first.shape[0]
        if first.shape != (rank, inputs) or second.shape != (outputs, rank):
            raise ShapeError(
                f"{where}: {name} has {first.shape} and {second.shape}; expected (rank, {inputs}) "
                f"and ({outputs}, rank)"
            )
        patterns = config.get("alpha_pattern") or {}
        fitting = [v for key, v in patterns.items() if re.fullmatch(rf"(.*\.)?({key})", name)]
        layers[own] = (modules[own], first, second, (fitting or [config.get("lora_alpha", 8)])[0])
    return layers


def _names(name: str) -> list[str]:
    """What a layer may be called here: files of some networks have a prefix more."""
    return [name, name.removeprefix("transformer."), name.removeprefix("model.")]


# ---- pairs of rotary encodings ---------------------------------------------------------------


def _turned_heads(network: nn.Module, name: str) -> int:
    """How many heads a layer has whose pairs that turn are neighbours, as in GGUF's files; 0 for
    others. Files of adapters have the first half of a head's rows, then the second."""
    parent, _, last = name.rpartition(".")
    holder = network.get_submodule(parent)
    if not isinstance(holder, Attention) or not holder.config.interleaved:
        return 0
    heads = dict(zip(holder.names, (holder.config.heads, holder.config.key_heads), strict=False))
    return heads.get(last, 0)


def _neighbours(rows: Tensor, heads: int) -> Tensor:
    parts = f.reshape(rows, (heads, 2, -1, rows.shape[1]))
    return f.reshape(f.permute_dims(parts, (0, 2, 1, 3)), rows.shape)


def _halves(rows: Tensor, heads: int) -> Tensor:
    parts = f.reshape(rows, (heads, -1, 2, rows.shape[1]))
    return f.reshape(f.permute_dims(parts, (0, 2, 1, 3)), rows.shape)
