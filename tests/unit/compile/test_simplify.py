"""What simplifying leaves of a graph."""

import numpy as np

import tallow as tl
from tallow.compile.passes.simplify import simplify
from tallow.graph import Graph, input_node
from tallow.ops import movement
from tallow.tensor import Tensor


def data(*shape: int, seed: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def test_a_slice_within_a_part_of_a_join_is_one_of_that_part() -> None:
    x, y = (input_node(name, (3, 4), tl.float32) for name in "xy")
    joined = tl.concat([Tensor(x), Tensor(y)], axis=0)
    across = joined[2:4]
    graph = Graph(
        (x, y),
        {"whole": joined[3:].node, "part": joined[5:3:-1, 1:3].node, "across": across.node},
    )
    made = simplify(graph).outputs
    assert made["whole"] is y
    assert made["part"].op is movement.slice_
    assert made["part"].inputs == (y,)
    assert made["across"].inputs[0].op is movement.concat
    feeds = {"x": data(3, 4), "y": data(3, 4, seed=6)}
    with tl.compile_session(graph, "numpy") as session:
        found = session.run(feeds)
    all_rows = np.concatenate([feeds["x"], feeds["y"]])
    np.testing.assert_array_equal(found["part"], all_rows[5:3:-1, 1:3])
    np.testing.assert_array_equal(found["across"], all_rows[2:4])
