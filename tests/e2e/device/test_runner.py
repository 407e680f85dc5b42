"""The WebGPU runner (web/gpu/) on small hand-written plans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Module = Callable[..., Any]

MULTIPLY_ADD = """
struct Params { count: u32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> factor: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
override OFFSET: f32;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < params.count) { result[id.x] = x[id.x] * factor[id.x] + OFFSET; }
}
"""
DOUBLE = """
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) { result[id.x] = 2 * x[id.x]; }
"""


SCALE = {"constants": {"OFFSET": 10}, "params": [4]}


def step(name: str, module: int, bindings: list[int], **more: Any) -> dict[str, Any]:
    """A step of one workgroup."""
    kernel = {"module": module, "constants": {}, "params": [], "workgroups": [1, 1, 1], **more}
    return {"name": name, "bindings": bindings, "kernel": kernel}


def plan(**more: Any) -> dict[str, Any]:
    """y = x * (2 * weight) + 10 for four numbers; `prepare` doubles the weight."""
    kinds = ("weight", "prepared", "input", "output")
    last = step("scale", 0, [2, 1, 3], **SCALE)
    base = {
        "version": 1,
        "name": "tiny",
        "slots": [{"bytes": 16, "kind": kind, "offset": 0} for kind in kinds],
        "inputs": [{"name": "x", "slot": 2, "dtype": "float32", "shape": [4], "bytes": 16}],
        "outputs": [{"name": "y", "slot": 3, "dtype": "float32", "shape": [4], "bytes": 16}],
        "modules": [MULTIPLY_ADD, DOUBLE],
        "prepare": [step("double the weight", 1, [0, 1])],
        "run": [last],
        "states": [],
        "copies": [],
    }
    return {**base, **more}


@pytest.fixture
def run(module: Module) -> Module:
    """run(plan, code): the value of `code`, a function of `tools`, which has what it needs."""
    prelude = """async (gpu, plan) => {
      const { openDevice } = await import("./gpu/device.js");
      const { device, info } = await openDevice();
      const runner = new gpu.Runner(device, info);
      const progress = [];
      const weights = {
        ready: () => {},
        lend: (index, use) => use(new Uint8Array(new Float32Array([1, 2, 3, 4]).buffer)),
      };
      const tools = {
        device, info, runner, progress,
        load: () => runner.load(plan, weights, (done, total) => progress.push([done, total])),
        numbers: (buffers) => buffers.map((buffer) => [...new Float32Array(buffer)]),
        failure: async (promise) => {
          try { await promise; } catch ({ name, message }) { return [name, message]; }
          return null;
        },
      };
      const result = await (CODE)(tools);
      device.destroy();
      return result;
    }"""

    def run(plan: dict[str, Any], code: str) -> Any:
        return module("./gpu/runner.js", prelude.replace("CODE", code), plan)

    return run


def test_a_plan_runs(run: Module) -> None:
    code = """async ({ load, numbers, progress }) => {
      const program = await load();
      const answers = numbers(await program.run([new Float32Array([1, 1, 2, 0.5])]));
      return { answers, progress, stats: program.stats };
    }"""
    result = run(plan(), code)
    assert result["answers"] == [[12, 14, 22, 14]]
    assert result["progress"] == [[0, 2], [1, 2], [2, 2]]
    stats = result["stats"]
    assert (stats["kernels"], stats["dispatches"], stats["runs"]) == (2, 1, 1)
    assert stats["adapter"]
    # The doubled weight, x, y and its copy for the host, the params; the weight itself is freed.
    assert stats["bytes"] == 4 * 16 + 256


def test_the_device_describes_itself(run: Module) -> None:
    info = run(plan(), "({ info }) => info")
    assert info["name"]
    assert isinstance(info["features"], list)
    assert info["limits"]["maxStorageBuffersPerShaderStage"] >= 8
    assert info["limits"]["maxBufferSize"] >= 1 << 28


def test_steps_of_equal_text_and_constants_share_a_pipeline(run: Module) -> None:
    twice = [step("once", 1, [2, 1]), step("again", 1, [1, 3])]
    code = """async ({ load, numbers }) => {
      const program = await load();
      return [numbers(await program.run([new Float32Array([1, 2, 3, 4])])), program.stats];
    }"""
    answers, stats = run(plan(prepare=[], run=twice), code)
    assert answers == [[4, 8, 12, 16]]
    assert (stats["kernels"], stats["dispatches"]) == (1, 2)


def test_runs_may_overlap(run: Module) -> None:
    code = """async ({ load, numbers }) => {
      const program = await load();
      const runs = [0, 1, 2].map((x) => program.run([new Float32Array(4).fill(x)]));
      return (await Promise.all(runs)).map(numbers);
    }"""
    expected = [[[x * 2 * w + 10 for w in (1, 2, 3, 4)]] for x in (0, 1, 2)]
    assert run(plan(), code) == expected


def test_inputs_may_change_once_run_has_returned(run: Module) -> None:
    code = """async ({ load, numbers }) => {
      const program = await load();
      const input = new Float32Array(4);
      const runs = [0, 1, 2].map((x) => program.run([new Uint8Array(input.fill(x).buffer)]));
      input.fill(99);
      return (await Promise.all(runs)).map(numbers);
    }"""
    expected = [[[x * 2 * w + 10 for w in (1, 2, 3, 4)]] for x in (0, 1, 2)]
    assert run(plan(), code) == expected


IN_PLACE = """
@group(0) @binding(0) var<storage, read_write> result: array<f32>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) { result[id.x] = result[id.x] + 1; }
"""


def test_a_step_that_computes_in_place(run: Module) -> None:
    """The slot that it reads and writes is bound once; a profile sets the input again."""
    more = {
        "modules": [MULTIPLY_ADD, DOUBLE, IN_PLACE],
        "run": [step("add one", 2, [2, 2]), *plan()["run"]],
    }
    code = """async ({ load, numbers }) => {
      const program = await load();
      const input = [new Uint8Array(new Float32Array(4).fill(1).buffer)];
      const before = numbers(await program.run(input));
      await program.profile(input);
      return [before, numbers(await program.run(input))];
    }"""
    expected = [[2 * 2 * w + 10 for w in (1, 2, 3, 4)]]
    assert run(plan(**more), code) == [expected, expected]


@pytest.mark.parametrize("length", [0, 3, 5, 8])
def test_an_input_of_the_wrong_length_is_refused_by_name(run: Module, length: int) -> None:
    code = f"""async ({{ load, numbers, failure }}) => {{
      const program = await load();
      const failed = await failure(program.run([new Float32Array({length})]));
      return [failed, numbers(await program.run([new Float32Array(4).fill(1)]))];
    }}"""
    (name, message), answers = run(plan(), code)
    assert name == "DeviceError"
    assert "input x" in message
    assert f"{length * 4} bytes" in message
    assert answers[0] == [12, 14, 16, 18]  # the next good input works


def test_missing_inputs_are_refused(run: Module) -> None:
    code = "async ({ load, failure }) => failure((await load()).run([]))"
    name, message = run(plan(), code)
    assert name == "DeviceError"
    assert "0 inputs" in message


@pytest.mark.parametrize(
    "broken",
    [
        plan(modules=[MULTIPLY_ADD.replace("factor[id.x]", "factr[id.x]"), DOUBLE]),
        plan(run=[step("scale", 0, [2, 1, 3], params=[4])]),  # no value for OFFSET
        plan(run=[step("scale", 0, [2, 3], **SCALE)]),
        plan(run=[step("scale", 0, [2, 1, 3], **SCALE, workgroups=[1 << 20, 1, 1])]),
    ],
    ids=["text", "constant", "bindings", "workgroups"],
)
def test_a_step_that_is_wrong_is_named(run: Module, broken: dict[str, Any]) -> None:
    name, message = run(broken, "({ load, failure }) => failure(load())")
    assert name == "DeviceError"
    assert "tiny" in message
    assert "scale" in message


def test_closing_frees_everything(run: Module) -> None:
    code = """async ({ load, failure }) => {
      const program = await load();
      program.close();
      return [program.stats.bytes, await failure(program.run([new Float32Array(4)]))];
    }"""
    held, (name, message) = run(plan(), code)
    assert held == 0
    assert name == "DeviceError"
    assert "closed" in message


def test_runs_under_way_outlive_closing(run: Module) -> None:
    code = """async ({ load, failure, numbers }) => {
      const program = await load();
      const running = [1, 2].map((x) => program.run([new Float32Array(4).fill(x)]));
      program.close();
      const late = await failure(program.run([new Float32Array(4)]));
      return [(await Promise.all(running)).map(numbers), late[0], program.stats.bytes];
    }"""
    answers, late, held = run(plan(), code)
    assert answers == [[[x * 2 * w + 10 for w in (1, 2, 3, 4)]] for x in (1, 2)]
    assert late == "DeviceError"
    assert held == 0


def test_a_slot_beyond_all_memory_is_refused(run: Module) -> None:
    slots = plan()["slots"]
    slots[1]["bytes"] = 1 << 40
    name, message = run(plan(slots=slots), "({ load, failure }) => failure(load())")
    assert name in ("DeviceError", "OutOfMemoryError")
    assert "tiny" in message


def test_losing_the_device_rejects_current_and_later_runs(run: Module) -> None:
    code = """async ({ load, failure, device }) => {
      const program = await load();
      const running = [1, 2].map(() => failure(program.run([new Float32Array(4)])));
      await Promise.resolve();
      device.destroy();
      const failed = await Promise.all(running);
      return [...failed, await failure(program.run([new Float32Array(4)])), await failure(load())];
    }"""
    for name, message in run(plan(), code):
        assert name == "DeviceLostError", message
        assert "lost" in message
