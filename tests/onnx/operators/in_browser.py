"""Runs models on a device and compares, in the browser's Python. Needs only NumPy and tallow.

cases.npz has, for a case with the name N: N/model (the bytes of an ONNX file), N/feed/NAME and
N/want/NAME (arrays), N/tolerance (rtol, atol).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import tallow as tl


class Archive:
    """The cases in a file."""

    def __init__(self, path: str) -> None:
        self._arrays = np.load(path)
        self._names: dict[str, list[str]] = {}
        for key in self._arrays.files:
            self._names.setdefault(key.split("/")[0], []).append(key)

    def _part(self, case: str, part: str) -> dict[str, np.ndarray]:
        start = f"{case}/{part}/"
        keys = [key for key in self._names[case] if key.startswith(start)]
        return {key.removeprefix(start): self._arrays[key] for key in keys}

    async def run(self, case: str, device: str) -> dict[str, Any]:
        """{"wrong": text or None, "device", "adapter", "dispatches", "runs"} of a case."""
        model = tl.onnx.load(self._arrays[f"{case}/model"].tobytes())
        feeds = self._part(case, "feed")
        shapes = {name: array.shape for name, array in feeds.items()}
        with await model.session_async(device, shapes) as session:
            got = await session.run_async(feeds)
            return {
                "wrong": self._difference(case, got),
                "device": session.device,
                "adapter": session.adapter,
                "dispatches": session.stats["dispatches"],
                "runs": session.stats["runs"],
            }

    def _difference(self, case: str, got: dict[str, np.ndarray]) -> str | None:
        rtol, atol = self._arrays[f"{case}/tolerance"]
        for name, wanted in self._part(case, "want").items():
            mine = got[name]
            if (mine.shape, mine.dtype) != (wanted.shape, wanted.dtype):
                return f"{name}: {mine.dtype} {mine.shape}, expected {wanted.dtype} {wanted.shape}"
            if not np.allclose(mine, wanted, rtol, atol, equal_nan=True):
                return f"{name}: got {mine.ravel()[:8]}, expected {wanted.ravel()[:8]}"
        return None

    async def run_all(self, cases: Iterable[str], device: str) -> list[dict[str, Any]]:
        """The outcome of each case; for an exception, "wrong" is its message."""
        outcomes = []
        for case in cases:
            try:
                outcomes.append(await self.run(case, device))
            except Exception as error:
                outcomes.append({"wrong": f"{type(error).__name__}: {error}", "device": device})
        return outcomes
