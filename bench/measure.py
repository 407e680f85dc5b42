"""Measures one model on one device; runs inside the browser (see run.py).

`await measure(...)` gives a dict of plain values, so that it crosses to the page as JSON.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

from tallow import app


async def measure(name: str, device: str, rounds: int) -> dict[str, Any]:
    """Loads NAME.onnx with NAME.json, its card, and asks for answers.

    create_ms: from the file's bytes to a session. first_ms: the first answer. warm_ms, spread_ms:
    median, and half the distance between the quartiles, of `rounds` further ones.
    """
    content, card = Path(f"{name}.onnx").read_bytes(), Path(f"{name}.json").read_text("utf-8")
    await app.start(device)
    began = time.perf_counter()
    await app.load_model(name, content, card)
    created = time.perf_counter()
    session = app.session_of(name)
    pixels = bytes(session.plan.inputs[0].shape[0] * session.plan.inputs[0].shape[1] * 4)
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        await app.predict(name, pixels)
        times.append(1000 * (time.perf_counter() - start))
    first, *warm = times
    quartiles = statistics.quantiles(warm, n=4)
    plan, stats = session.plan, session.stats
    return {
        "model": name,
        "device": session.device,
        "adapter": session.adapter,
        "create_ms": 1000 * (created - began),
        "first_ms": first,
        "warm_ms": statistics.median(warm),
        "spread_ms": (quartiles[2] - quartiles[0]) / 2,
        "kernels": stats["kernels"],
        "dispatches": stats["dispatches"],
        "slots": stats["slots"],
        "held_bytes": stats["bytes"],
        "plan_bytes": plan.bytes_by_kind,
    }
