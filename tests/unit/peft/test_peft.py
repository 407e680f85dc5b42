"""Adapters: LoRA on networks of every kind of weights, its training, and PEFT's files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.hub import tiny

import tallow as tl
from tallow.errors import FormatError, OptionError, ShapeError

RANK, ALPHA = 3, 6.0
CONFIG: dict[str, Any] = {"peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA, "bias": "none"}
TOKENS = np.array([[1, 5, 9, 70, 3]], np.int32)
TARGETS = {"q_proj": (32, 32), "k_proj": (16, 32), "o_proj": (32, 32), "down_proj": (32, 64)}


def adapter() -> dict[str, np.ndarray]:
    """The tensors of an adapter for the tiny network, under PEFT's names."""
    rng = np.random.default_rng(3)
    found = {}
    for layer in range(tiny.LAYERS):
        for name, (outputs, inputs) in TARGETS.items():
            part = "mlp" if name == "down_proj" else "self_attn"
            start = f"base_model.model.model.layers.{layer}.{part}.{name}"
            found[f"{start}.lora_A.weight"] = rng.normal(size=(RANK, inputs)).astype("f4") / 4
            found[f"{start}.lora_B.weight"] = rng.normal(size=(outputs, RANK)).astype("f4") / 4
    return found


def written(folder: Path, tensors: Any = None, **config: Any) -> Path:
    """A folder as PEFT writes it."""
    folder.mkdir(exist_ok=True)
    (folder / "adapter_config.json").write_text(json.dumps(CONFIG | config))
    given = adapter() if tensors is None else tensors
    tl.save({n: tl.asarray(v) for n, v in given.items()}, folder / "adapter_model.safetensors")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.folder(tmp_path_factory.mktemp("tiny") / "folder")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return written(tmp_path / "adapter")


def scores(model: Any) -> np.ndarray:
    found: np.ndarray = model.scores(TOKENS[0].tolist()).numpy()
    return found


def reference(folder: Path) -> np.ndarray:
    """The scores with the adapter added to float weights, as its definition says."""
    model = tl.zoo.load(folder)
    tensors, state = adapter(), {}
    for name, value in tl.load(folder / "model.safetensors").items():
        start = "base_model.model." + name.removesuffix(".weight")
        value = value.numpy()
        if f"{start}.lora_A.weight" in tensors:
            value = value + (ALPHA / RANK) * (
                tensors[f"{start}.lora_B.weight"] @ tensors[f"{start}.lora_A.weight"]
            )
        state[name] = tl.asarray(value)
    tl.zoo.set_weights(model.network, state)
    fresh = tl.zoo.from_config(json.loads((folder / "config.json").read_text())).eval()
    assert not tl.zoo.set_weights(fresh, state)
    with tl.no_grad():
        found: np.ndarray = fresh(tl.asarray(TOKENS)).numpy()[0]
    return found


@pytest.mark.parametrize("packed", [True, False], ids=["blocks of 8 bits", "float32"])
def test_an_adapter_adds_what_its_definition_says(
    packed: bool, device: str, folder: Path, saved: Path
) -> None:
    wanted = reference(folder)
    model = tl.zoo.load(tiny.gguf_file() if packed else folder)
    before, text = scores(model), model.generate("abc", 8)
    assert np.abs(before - wanted).max() > 0.1
    assert tl.peft.load(model, saved) is model
    np.testing.assert_allclose(scores(model), wanted, atol=2e-4)
    assert model.generate("abc", 8) != text
    tl.peft.merge(model)
    assert "LoRA" not in repr(model.network)
    np.testing.assert_allclose(scores(model), wanted, atol=2e-4)


@pytest.mark.usefixtures("on_numpy")
def test_without_its_adapter_a_model_is_as_before(
    saved: Path, run_async: Callable[..., Any]
) -> None:
    model = tl.zoo.load(tiny.gguf_file())
    before = scores(model)
    files = {path.name: path.read_bytes() for path in saved.iterdir()}
    assert run_async(tl.peft.load_async(model, files)) is model
    assert np.abs(scores(model) - before).max() > 0.1
    with pytest.raises(OptionError, match="the model has adapters"):
        tl.peft.load(model, saved)
    with pytest.raises(OptionError, match="the model has adapters"):
        tl.peft.lora(model)
    tl.peft.unload(model)
    assert (scores(model) == before).all()
    stream = model.stream("abc", 5)
    next(stream)
    with pytest.raises(OptionError, match="while texts are written"):
        tl.peft.load(model, saved)
    stream.close()


@pytest.mark.usefixtures("on_numpy")
@pytest.mark.parametrize("packed", [True, False], ids=["blocks of 8 bits", "float32"])
def test_training_changes_the_adapter_alone(packed: bool, folder: Path, tmp_path: Path) -> None:
    model = tl.zoo.load(tiny.gguf_file())
    network = model.network if packed else tl.zoo.from_config(
        json.loads((folder / "config.json").read_text()))  # fmt: skip
    own = {name: value.numpy() for name, value in network.named_parameters()}
    start = scores(model)
    parameters = tl.peft.lora(model if packed else network, 2, 4, ["q_proj", "v_proj"], 0.1)
    network.train()
    assert len(parameters) == 2 * 2 * tiny.LAYERS
    trained = [name for name, value in network.named_parameters() if value.requires_grad]
    assert len(trained) == len(parameters) and all(".lora_" in name for name in trained)
    optimizer = tl.optim.Adam(parameters, lr=0.02)
    targets = tl.asarray(np.array([[5, 9, 70, 3, 8]], np.int64))
    losses = []
    for _ in range(12):
        loss = tl.nn.functional.cross_entropy(network(tl.asarray(TOKENS))[0], targets[0])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    assert losses[-1] < 0.8 * losses[0]
    left = {n.replace(".base_layer", ""): v.numpy() for n, v in network.named_parameters()}
    assert all((left[name] == value).all() for name, value in own.items())
    network.eval()
    tl.peft.save(network, tmp_path)
    with tl.no_grad():
        wanted = network(tl.asarray(TOKENS)).numpy()[0]
    other = tl.zoo.load(tiny.gguf_file())
    assert (scores(other) == start).all()
    if packed:
        tl.peft.load(other, tmp_path)
        np.testing.assert_allclose(scores(other), wanted, atol=1e-5)


@pytest.mark.usefixtures("on_numpy")
def test_gradients_of_a_function_go_to_the_adapter(folder: Path) -> None:
    network = tl.zoo.load(folder).network
    parameters = tl.peft.lora(network, 2, 4, r"model\.layers\.\d+\.mlp\.\w+_proj")
    assert len(parameters) == 2 * 3 * tiny.LAYERS
    state = {n: v for n, v in network.named_parameters() if v.requires_grad}
    targets = tl.asarray(np.array([5, 9, 70, 3, 8], np.int64))

    def loss(state: Any) -> Any:
        found = tl.func.functional_call(network, state, tl.asarray(TOKENS))
        return tl.nn.functional.cross_entropy(found[0], targets)

    value, gradient = tl.value_and_grad(loss)(state)
    assert gradient.keys() == state.keys()
    stepped = {n: v - 0.5 * gradient[n] for n, v in state.items()}
    assert float(loss(stepped)) < float(value)


@pytest.mark.usefixtures("on_numpy")
def test_files_are_pefts(folder: Path, saved: Path, tmp_path: Path) -> None:
    """What was read is written again, whatever the order of rows in the network."""
    for source in (tiny.gguf_file(), folder):
        model = tl.zoo.load(source)
        tl.peft.load(model, saved, trainable=True)
        assert {p.requires_grad for p in model.network.parameters()} == {True}
        tl.peft.save(model, tmp_path / "again")
        found = tl.load(tmp_path / "again" / "adapter_model.safetensors")
        wanted = adapter()
        assert found.keys() == wanted.keys()
        for name, value in wanted.items():
            assert (found[name].numpy() == value).all(), name
        config = json.loads((tmp_path / "again" / "adapter_config.json").read_text())
        assert config.items() >= CONFIG.items()
        assert config["target_modules"] == sorted(TARGETS) and config["fan_in_fan_out"] is False
    with pytest.raises(OptionError, match="has no adapters"):
        tl.peft.save(tl.zoo.load(folder), tmp_path)


@pytest.mark.usefixtures("on_numpy")
def test_scales_of_pefts_configuration(folder: Path, tmp_path: Path) -> None:
    model = tl.zoo.load(folder)
    patterns = {"k_proj": 9, "layers.0.mlp.down_proj": 1.5}
    tl.peft.load(model, written(tmp_path / "a", alpha_pattern=patterns, use_rslora=True))
    layers = model.network.model.layers
    root = RANK**0.5
    assert layers[0].self_attn.k_proj.scale == pytest.approx(9 / root)
    assert layers[0].mlp.down_proj.scale == pytest.approx(1.5 / root)
    assert layers[1].mlp.down_proj.scale == pytest.approx(ALPHA / root)
    tl.peft.save(model, tmp_path / "b")
    other = tl.zoo.load(folder)
    tl.peft.load(other, tmp_path / "b")
    assert (scores(other) == scores(model)).all()


@pytest.mark.usefixtures("on_numpy")
def test_layers_that_are_transposed(tmp_path: Path) -> None:
    sizes = {"model_type": "gpt2", "vocab_size": 40, "n_embd": 16, "n_layer": 1, "n_head": 2,
             "n_positions": 32}  # fmt: skip
    network = tl.zoo.from_config(sizes).eval()
    a, b = tl.peft.lora(network, 2, 2, ["c_attn"])
    assert a.shape == (2, 16) and b.shape == (48, 2)
    b.assign(tl.asarray(np.random.default_rng(0).normal(size=b.shape).astype("f4")))
    with tl.no_grad():
        wanted = network(tl.asarray(TOKENS % 40)).numpy()
    tl.peft.save(network, tmp_path)
    names = list(tl.load(tmp_path / "adapter_model.safetensors"))
    assert names[0].startswith("base_model.model.transformer.h.0.attn.c_attn.lora_")
    tl.peft.load(tl.peft.unload(network), tmp_path)
    tl.peft.merge(network)
    with tl.no_grad():
        np.testing.assert_allclose(network(tl.asarray(TOKENS % 40)).numpy(), wanted, atol=1e-5)


@pytest.mark.usefixtures("on_numpy")
@pytest.mark.parametrize(
    "options, said",
    [
        ({"rank": 0}, "rank is a whole number"), ({"rank": 1.5}, "rank is a whole number"),
        ({"dropout": 1}, "dropout is a number"), ({"targets": ["nope"]}, "no layers"),
        ({"targets": []}, "no layers"), ({"targets": "("}, "are no pattern"),
        ({"targets": ["embed_tokens"]}, "is a Embedding"), ({"targets": ["layers"]}, "ModuleList"),
    ],
    ids=str,
)  # fmt: skip
def test_adapters_that_do_not_fit(folder: Path, options: dict[str, Any], said: str) -> None:
    model = tl.zoo.load(folder)
    with pytest.raises(OptionError, match=said) as caught:
        tl.peft.lora(model, **options)
    assert len(str(caught.value).splitlines()) == 1 and "LoRA" not in repr(model.network)
    with pytest.raises(OptionError, match="a network or a language model"):
        tl.peft.lora(3)


Q = "base_model.model.model.layers.0.self_attn.q_proj.lora_"


@pytest.mark.usefixtures("on_numpy")
@pytest.mark.parametrize(
    "change, error, said",
    [
        ({"peft_type": "IA3"}, OptionError, "the kind 'IA3'"),
        ({"use_dora": True}, OptionError, "uses use_dora"),
        ({"modules_to_save": ["lm_head"]}, OptionError, "uses modules_to_save"),
        ({"bias": "all"}, OptionError, "has biases"), ({"lora_alpha": "x"}, FormatError, "alpha"),
        ({"tensors": {}}, FormatError, "has no tensors"),
        ({"tensors": {"x": (1, 2)}}, FormatError, "no part of a LoRA"),
        ({"tensors": {f"{Q}A.weight": (3, 32)}}, FormatError, "lora_A and lora_B alone"),
        ({"tensors": {f"{Q}A.weight": (3, 32), f"{Q}B.weight": (32, 4)}}, ShapeError, "expected"),
        ({"tensors": {f"{Q}A.weight": (3,), f"{Q}B.weight": (32, 3)}}, ShapeError, "expected"),
        ({"tensors": {"base_model.model.x.lora_A.weight": (1, 1),
                      "base_model.model.x.lora_B.weight": (1, 1)}}, FormatError, "lacks: x"),
    ],
    ids=lambda each: str(each)[:40],
)  # fmt: skip
def test_files_that_do_not_fit(
    folder: Path, tmp_path: Path, change: dict[str, Any], error: Any, said: str
) -> None:
    model = tl.zoo.load(folder)
    shapes = change.pop("tensors", None)
    given = None if shapes is None else {n: np.zeros(shape, "f4") for n, shape in shapes.items()}
    source = written(tmp_path / "wrong", given, **change)
    with pytest.raises(error, match=said) as caught:
        tl.peft.load(model, source)
    assert len(str(caught.value).splitlines()) == 1 and "LoRA" not in repr(model.network)


@pytest.mark.usefixtures("on_numpy")
def test_files_that_are_missing_or_damaged(folder: Path, saved: Path, tmp_path: Path) -> None:
    model = tl.zoo.load(folder)
    with pytest.raises(FormatError, match=r"no adapter_config\.json"):
        tl.peft.load(model, tmp_path)
    weights = saved / "adapter_model.safetensors"
    content = weights.read_bytes()
    for cut in (0, 4, 40, len(content) - 1):
        weights.write_bytes(content[:cut])
        with pytest.raises(FormatError):
            tl.peft.load(model, saved)
    weights.unlink()
    with pytest.raises(FormatError, match=r"no adapter_model\.safetensors"):
        tl.peft.load(model, saved)
    (saved / "adapter_config.json").write_text("{")
    with pytest.raises(FormatError, match="is not JSON"):
        tl.peft.load(model, saved)
