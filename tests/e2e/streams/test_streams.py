"""Calls that stream and stop, through the page's client, its worker and Python."""

from __future__ import annotations

from playwright.sync_api import Page

# A thousand steps of a millisecond; another question at every hundredth report.
STREAM = """async () => {
  const events = [];
  const questions = [];
  const onProgress = ({ stage, done }) => {
    if (stage !== "count") return;
    events.push(done);
    const note = ({ steps }) => events.push(`${steps}`);
    if (done % 100 === 50) questions.push(rpc.call("told").then(note));
  };
  const before = (await rpc.call("told")).steps;
  const answer = await rpc.call("count", { total: 1000, milliseconds: 1 }, { onProgress });
  events.push("end");
  await Promise.all(questions);
  return { answer, events, before };
}"""

# Aborts a count at its fiftieth report.
ABORT = """async ({ twice }) => {
  const stop = new AbortController();
  const seen = [];
  const onProgress = ({ stage, done }) => {
    if (stage !== "count") return;
    seen.push(done);
    if (done === 50) {
      stop.abort();
      if (twice) stop.abort(new Error("again"));
    }
  };
  const before = await rpc.call("told");
  const options = { signal: stop.signal, onProgress };
  const args = { total: 100_000, milliseconds: 1 };
  const error = await rpc.call("count", args, options).catch((error) => error);
  const after = await rpc.call("told");
  stop.abort(); // after it ended
  const again = await rpc.call("count", { total: 3, milliseconds: 0 });
  return { error: error.name, before, after, seen, again };
}"""

EARLY = """async () => {
  const before = await rpc.call("told");
  const args = { total: 10, milliseconds: 0 };
  const signal = AbortSignal.abort();
  const unsent = await rpc.call("count", args, { signal }).catch(({ name }) => name);
  // Aborted in the worker, while it waits for its turn.
  const stop = new AbortController();
  const busy = rpc.call("busy", { milliseconds: 300 });
  const waiting = rpc.call("count", args, { signal: stop.signal }).catch(({ name }) => name);
  stop.abort();
  await busy;
  return { errors: [unsent, await waiting], before, after: await rpc.call("told") };
}"""

OTHER = """async () => {
  const onProgress = ({ stage, done }) => {
    if (stage === "count" && done === 50) void rpc.call("choose");
  };
  const args = { total: 100_000, milliseconds: 1 };
  const error = await rpc.call("count", args, { onProgress }).catch((error) => error);
  return { message: error.message, after: await rpc.call("told") };
}"""

RESTART = """async () => {
  const reports = [];
  let half;
  const middle = new Promise((resolve) => (half = resolve));
  const onProgress = ({ stage, done }) => {
    if (stage === "count" && reports.push(done) === 50) half();
  };
  const args = { total: 100_000, milliseconds: 1 };
  const open = rpc.call("count", args, { onProgress }).catch((error) => error);
  await middle;
  rpc.close({ entry: "startingAgain", about: [] });
  const error = await open;
  await started();
  const answer = await rpc.call("count", { total: 2, milliseconds: 0 });
  return { ours: error instanceof RemoteError, type: error.type, message: error.message, answer };
}"""


def test_a_thousand_reports_arrive_in_order_and_let_questions_in(toy: Page) -> None:
    told = toy.evaluate(STREAM)
    assert told["answer"] == {"counted": 1000}
    reports = [event for event in told["events"] if isinstance(event, int)]
    assert reports == list(range(1, 1001))
    answers = [event for event in told["events"] if isinstance(event, str)]
    assert answers.index("end") == len(answers) - 1 == 10  # all were answered in between
    steps = [int(each) - told["before"] for each in answers[:-1]]
    assert steps == sorted(steps)
    assert steps[0] >= 50 and steps[-1] < 1000


def test_an_aborted_call_ends_within_a_step_and_leaves_the_worker_as_after_one(toy: Page) -> None:
    for twice in (False, True):
        told = toy.evaluate(ABORT, {"twice": twice})
        before, after, seen = told["before"], told["after"], told["seen"]
        assert told["error"] == "AbortError"
        assert 0 <= after["steps"] - after["atAbort"] <= 1
        assert after["steps"] - before["steps"] == len(seen) < 100_000
        assert seen == list(range(1, len(seen) + 1))
        assert after["closed"] == after["begun"] == before["begun"] + 1
        assert told["again"] == {"counted": 3}


def test_a_call_that_is_aborted_before_it_begins_takes_no_step(toy: Page) -> None:
    told = toy.evaluate(EARLY)
    assert told["errors"] == ["AbortError", "AbortError"]
    before, after = told["before"], told["after"]
    assert (after["begun"], after["steps"]) == (before["begun"], before["steps"])


def test_a_device_that_is_chosen_meanwhile_ends_the_call_with_a_reason(toy: Page) -> None:
    told = toy.evaluate(OTHER)
    assert told["message"] == "another device was chosen meanwhile."
    assert told["after"]["closed"] == told["after"]["begun"]


def test_a_restart_in_the_middle_is_told_and_the_next_worker_counts(toy: Page) -> None:
    told = toy.evaluate(RESTART)
    assert told["ours"] and told["type"] == "WorkerClosed"
    assert told["message"] == "Starting again…"
    assert told["answer"] == {"counted": 2}
