"""Runs of the Train view: they report, pause, go on, and lose nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from tests.unit.tallow_page.train.lessons import LAYERS, SETTINGS, Page, at

import tallow as tl
from tallow.errors import CheckpointError, OptionError
from tallow_page.train import learning

STEPS = 20


@pytest.fixture
def page(run_async: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    # A look at each step, and none by the clock.
    monkeypatch.setattr("tallow.train.figures._LOOKS_APART", 0.0)
    tl.set_default_device("numpy")
    yield Page(run_async, monkeypatch)
    tl.set_default_device(None)


def weights(page: Page) -> list[Any]:
    parameters = learning.lesson().learner.model.parameters()
    return [each.numpy().tolist() for each in parameters]


def test_a_run_reports_and_is_kept(page: Page) -> None:
    reports, answer = page.run()
    stages = [each["stage"] for each in reports]
    assert stages[:2] == ["fetch", "begun"] and stages.count("record") == 2
    begun = reports[stages.index("begun")]
    assert (begun["steps"], begun["samples"]) == (STEPS, 80)
    assert begun["parameters"] == 4 * 9 + 4 + 64 * 10 + 10
    looks = [each for each in reports if each["stage"] == "look"]
    assert looks[0]["loss"] > 4 * looks[-1]["loss"]
    assert looks[-1]["accuracy"] == 1.0 and looks[-1]["step"] == STEPS
    assert all(each["rate"] > 0 and each["left"] >= 0 for each in looks)
    last = [each for each in reports if each["stage"] == "record"][-1]
    assert last["valid_accuracy"] == 1.0 and last["epoch"] == 2 and last["step"] == STEPS
    expected = {"state": "done", "step": STEPS, "epoch": 2, "kept": "step-00000020"}
    assert answer == expected | {"reason": None}
    about = page.kept.about()
    assert (about["state"], about["name"], about["settings"]) == ("done", "Run", SETTINGS)
    assert len(about["records"]) == 2 and about["curve"][-1][0] == STEPS
    assert about["source"] == {"published": "mnist"}
    files = page.kept.runs["r"]
    assert "step-00000020.safetensors" in files and "run.json" in files


@pytest.mark.parametrize(("pauses", "reloaded"), [(0, False), (4, False), (4, True)])
def test_the_loss_of_a_look_is_that_of_the_steps_since_the_one_before(
    page: Page, pauses: int, reloaded: bool
) -> None:
    reports = []
    for _ in range(pauses):
        reports += page.run(at("look"))[0]
        if reloaded:
            page.reload()
    reports += page.run()[0]
    looks = [each for each in reports if each["stage"] == "look" and each["step"] <= 10]
    record = next(each for each in reports if each["stage"] == "record")
    steps = [1, *(b["step"] - a["step"] for a, b in pairwise(looks))]
    assert sum(steps) == 10
    mean = sum(each["loss"] * n for each, n in zip(looks, steps, strict=True)) / 10
    assert mean == pytest.approx(record["train_loss"], rel=1e-4)
    whole = next(each for each in page.run(run="whole")[0] if each["stage"] == "record")
    assert record["train_loss"] == pytest.approx(whole["train_loss"], rel=1e-6)


@pytest.mark.parametrize("reloaded", [False, True])
def test_a_run_that_was_paused_ends_as_one_that_was_not(page: Page, reloaded: bool) -> None:
    page.run(run="whole")
    expected = weights(page)
    paused = 0
    for _ in range(STEPS):
        seen = len(page.kept.about()["curve"]) if "r" in page.kept.runs else 0
        reports, answer = page.run(at("look"))
        if answer:
            break
        paused += 1
        assert page.kept.about()["state"] == "paused"
        assert len(page.kept.about()["curve"]) >= seen
        assert reports[-1]["stage"] == "look"
        if reloaded:
            page.reload()
    assert paused > 5
    reports, answer = page.run()
    assert answer["state"] == "done"
    assert weights(page) == expected
    steps = [step for step, _, _ in page.kept.about()["curve"]]
    assert steps == sorted(set(steps)) and steps[-1] == STEPS


def test_one_step_at_a_time(page: Page) -> None:
    for number in (1, 2, 3):
        _, answer = page.run(one=True)
        assert (answer["state"], answer["step"]) == ("paused", number)
    assert page.opened == 1  # the data stay open
    _, answer = page.run()
    assert (answer["state"], answer["step"]) == ("done", STEPS)


def test_a_run_that_is_asked_to_pause_answers(page: Page) -> None:
    learning.pause_training()  # nothing learns: it does nothing

    def ask(report: Any) -> bool:
        if report["stage"] == "look" and report["step"] == 5:
            learning.pause_training()
        return False

    _, answer = page.run(ask)
    assert answer["state"] == "paused" and 5 < answer["step"] < STEPS
    assert answer["kept"] == f"step-{answer['step']:08}"
    assert page.kept.about()["step"] == answer["step"]
    assert page.run()[1]["state"] == "done"


def test_fewer_samples(page: Page) -> None:
    reports, answer = page.run(data={"name": "mnist", "count": 33}, epochs=1)
    assert answer["step"] == 4
    assert next(each for each in reports if each["stage"] == "begun")["samples"] == 32


def test_reports_wait_for_each_other(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "_TOLD", 1000.0)
    reports, answer = page.run()
    steps = [each["step"] for each in reports if each["stage"] == "look"]
    assert steps == list(range(1, STEPS + 1)) and answer["state"] == "done"
    # The first one at once; then an epoch's together, with the look that came meanwhile; the rest.
    measured = [each["step"] for each in reports if "norms" in each]
    assert measured == [1, STEPS // 2 + 1, STEPS]


def test_others_get_in_between_two_steps(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "_TICK", 0.0)
    monkeypatch.setattr("tallow.train.figures._LOOKS_APART", 1000.0)  # looks are rare
    page.run()
    assert page.breaks > STEPS / 2


def test_a_loss_that_is_not_finite_pauses_and_keeps_the_last_good_checkpoint(page: Page) -> None:
    page.run(at("record"), optimizer=SETTINGS["optimizer"] | {"lr": 0.1})
    good = page.kept.about()["step"]
    page.reload()
    hot = SETTINGS["optimizer"] | {"lr": 1e38}
    _, answer = page.run(optimizer=hot, run="hot")
    assert (answer["state"], answer["reason"]["code"]) == ("failed", "loss")
    assert f"the loss of step {answer['reason']['step']} is" in answer["reason"]["text"]
    assert page.kept.about("hot")["state"] == "failed"
    assert page.kept.about()["step"] == good  # the other run is as it was
    with pytest.raises(OptionError, match="not open"):  # it has no checkpoint to be asked about
        learning.lesson("hot")


def test_a_loss_that_is_not_finite_leaves_the_last_checkpoint_open(page: Page) -> None:
    grows = {"name": "sgd", "lr": 4, "momentum": 0, "weight_decay": 1}  # weights times -3
    _, answer = page.run(optimizer=grows, schedule="constant", epochs=40)
    assert (answer["state"], answer["reason"]["code"]) == ("failed", "loss")
    learner = learning.lesson("r").learner
    assert 0 < learner.steps == answer["step"] < answer["reason"]["step"]
    assert all(bool(each.isfinite().all()) for each in learner.model.parameters())


def test_without_space_nothing_is_lost(page: Page) -> None:
    page.kept.room = 100
    _, answer = page.run()
    assert (answer["state"], answer["reason"]["code"]) == ("failed", "full")
    assert "storage is full" in answer["reason"]["text"]
    step = answer["step"]
    assert step > 0
    page.kept.room = None
    reports, answer = page.run()
    assert answer["state"] == "done"
    assert next(each for each in reports if each["stage"] == "look")["step"] > step - 1


def test_a_file_is_written_before_the_list_that_names_it(page: Page) -> None:
    page.run()
    order = page.kept.order
    assert order.index("run.json") > order.index("step-00000010.safetensors")


def stored(page: Page) -> list[str]:
    """The checkpoints that the storage was given, in order."""
    return [name.partition(".")[0] for name in page.kept.order if name.startswith("step-")]


def test_the_checkpoints_of_short_epochs_are_not_all_stored(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert page.run(epochs=6)[1]["state"] == "done"
    first, *_, last = stored(page)
    assert (first, last) == ("step-00000010", "step-00000060")
    assert not {"step-00000020", "step-00000030", "step-00000040"} & set(stored(page))
    assert page.kept.about()["step"] == 60 and len(page.kept.about()["records"]) == 6
    page.kept.order.clear()
    monkeypatch.setattr(learning, "_KEPT", 0.0)
    page.run(run="each", epochs=3)
    assert {"step-00000010", "step-00000020", "step-00000030"} <= set(stored(page))


def test_what_fails_between_two_times_leaves_the_last_checkpoint(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = learning._Learner.train_batch

    def fails(learner: Any, batch: Any) -> None:
        if learner.steps == 34:
            raise OptionError("the device has gone")
        real(learner, batch)

    monkeypatch.setattr(learning._Learner, "train_batch", fails)
    with pytest.raises(OptionError, match="has gone"):
        page.run(epochs=6)
    assert stored(page)[-1] == "step-00000030"
    assert len(page.kept.about()["records"]) == 3


def test_a_damaged_checkpoint_is_told_and_an_older_one_taken(page: Page) -> None:
    page.run(lambda each: each["stage"] == "look" and each["step"] > 12)
    page.reload()
    files = page.kept.runs["r"]
    names = sorted(name for name in files if name.startswith("step-"))
    assert len(names) > 1
    files[names[-1]] = files[names[-1]][:100]
    reports, answer = page.run()
    (damaged,) = (each for each in reports if each["stage"] == "damaged")
    assert damaged["checkpoints"] == [names[-1].removesuffix(".safetensors")]
    assert answer["state"] == "done"


def test_a_damaged_list_of_checkpoints_is_made_again(page: Page) -> None:
    page.run(lambda each: each["stage"] == "look" and each["step"] > 12)
    page.reload()
    page.kept.runs["r"]["run.json"] = b"{"
    reports, answer = page.run()
    assert next(each for each in reports if each["stage"] == "look")["step"] > 12
    assert answer["state"] == "done"


def test_a_run_of_which_all_is_damaged(page: Page) -> None:
    page.run(at("record"))
    page.reload()
    for name in page.kept.runs["r"]:
        if name.startswith("step-"):
            page.kept.runs["r"][name] = b"none"
    with pytest.raises(CheckpointError, match="all checkpoints of this run are damaged"):
        page.run()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"batch": 81}, "a batch of 81 is larger than the data, which have 80"),
    ({"batch": 0}, "a batch of 0"),
    ({"epochs": 0}, "0 epochs"),
    ({"data": {"name": "mnist", "count": 0}}, "0 samples are too few"),
    ({"optimizer": {"name": "lion", "lr": 1}}, "the optimiser 'lion'"),
    ({"schedule": "weekly"}, "the schedule 'weekly'"),
    ({"augment": ["melt"]}, "melt: pictures are changed by"),
    ({"layers": [*LAYERS[:-1], {"kind": "warp"}]}, "there is no layer of the kind 'warp'"),
]


@pytest.mark.parametrize(("settings", "why"), WRONG)
def test_settings_that_do_not_fit(page: Page, settings: dict[str, Any], why: str) -> None:
    with pytest.raises(OptionError, match=why):
        page.run(**settings)
    assert "r" not in page.kept.runs
    assert page.run()[1]["state"] == "done"


@pytest.mark.parametrize("augment", ["mirror", "shift", "rotate"])
def test_pictures_change_while_it_learns_alone(page: Page, augment: str) -> None:
    page.run(augment=[augment], epochs=1)
    model = learning.lesson().learner.model
    x = learning.lesson().data.train.tensors[0]
    model.eval()
    assert model(x).numpy().tolist() == model(x).numpy().tolist()
    model.train()
    assert model(x).numpy().tolist() != model(x).numpy().tolist()


@pytest.mark.parametrize(
    ("optimizer", "schedule"), [("adam", "cosine"), ("adamw", "constant"), ("sgd", "cosine")]
)
def test_other_optimisers_and_schedules(page: Page, optimizer: str, schedule: str) -> None:
    given = {"name": optimizer, "lr": 0.02, "momentum": 0, "nesterov": True, "weight_decay": 0.01}
    reports, answer = page.run(optimizer=given, schedule=schedule)
    looks = [each for each in reports if each["stage"] == "look"]
    assert answer["state"] == "done" and looks[-1]["loss"] < looks[0]["loss"]
    assert (looks[-1]["lr"] == looks[0]["lr"]) == (schedule == "constant")


def test_a_run_that_another_tab_went_on_with_is_taken_from_there(page: Page) -> None:
    page.run(lambda each: each["stage"] == "look" and each["step"] > 3)
    files = dict(page.kept.runs["r"])
    page.run(lambda each: each["stage"] == "look" and each["step"] > 12)
    newer = page.kept.about()["step"]
    later = dict(page.kept.runs["r"])
    page.reload()
    page.kept.runs["r"] = files
    page.run(lambda each: each["stage"] == "look" and each["step"] > 5)
    page.kept.runs["r"] = later
    reports, _ = page.run()
    assert next(each for each in reports if each["stage"] == "look")["step"] > newer


def test_no_run_is_open_after_the_device_changed(page: Page) -> None:
    page.run(at("look"))
    assert learning.lesson("r").working.run == "r"
    with pytest.raises(OptionError, match="resume it"):
        learning.lesson("other")
    learning.close_lesson()
    with pytest.raises(OptionError, match="resume it"):
        learning.lesson()
    assert json.loads(page.kept.runs["r"]["about.json"])["state"] == "paused"
