"""Runs cases of models on a device. Needs only NumPy and tallow, so it also runs in a browser.

    python worker.py DEVICE         reads names of request files from standard input, a line each

A request is a JSON list of cases (`encoded` of cases.py); each gives one line of JSON on standard
output as soon as it is done, so that whoever waits knows which case a crash belongs to.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import tallow as tl
from tallow.core.dtype import BY_NAME
from tallow.core.hostarray import HostArray, StringArray, from_words
from tallow.errors import DeviceMemoryError, DTypeError, OnnxUnsupportedError

# What Tallow says in one line that it does not have, before anything ran.
REFUSALS = (OnnxUnsupportedError, DTypeError, DeviceMemoryError)


def encode(value: Any) -> Any:
    """A host value as JSON: an array, a list of values (a sequence), or None."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return {"list": [encode(item) for item in value]}
    if isinstance(value, StringArray):
        return {"texts": value.values, "shape": value.shape}
    if isinstance(value, HostArray):
        data, shape, name = bytes(value.words()), value.shape, value.dtype.name
    else:
        array = np.asarray(value)
        if array.dtype.kind in "OUT":
            texts = [x.decode() if isinstance(x, bytes) else str(x) for x in array.ravel()]
            return {"texts": texts, "shape": array.shape}
        data, shape, name = array.tobytes(), array.shape, array.dtype.name
    return {"data": base64.b64encode(data).decode(), "shape": shape, "dtype": name}


def decode(value: Any) -> Any:
    """Decodes a value of `encode`. Types that NumPy lacks become Tallow's HostArray."""
    if value is None:
        return None
    if "list" in value:
        return [decode(item) for item in value["list"]]
    shape = tuple(value["shape"])
    if "texts" in value:
        return np.array(value["texts"], object).reshape(shape)
    data, name = bytearray(base64.b64decode(value["data"])), value["dtype"]
    try:
        return np.frombuffer(data, name).reshape(shape)
    except TypeError:
        if name not in BY_NAME:
            raise OnnxUnsupportedError(f"a feed of the type {name}") from None
        return from_words(memoryview(data), shape, BY_NAME[name])


async def run(case: dict[str, Any], device: str) -> dict[str, Any]:
    """The outcome of a case: its outputs for each set of inputs, or the error."""
    done: dict[str, Any] = {"id": case["id"], "error": None, "refused": False, "outputs": []}
    started = time.perf_counter()
    tl.manual_seed(0)  # a case must end the same way every time
    try:
        model = tl.onnx.load(base64.b64decode(case["model"]))
        with await model.session_async(device) as session:
            for encoded in case["feeds"]:
                feeds = {name: decode(value) for name, value in encoded.items()}
                outputs = await session.run_host_async(feeds)
                done["outputs"].append([encode(value) for value in outputs.values()])
            done |= {"device": session.device, "dispatches": session.stats["dispatches"]}
    except Exception as error:
        done["refused"] = isinstance(error, REFUSALS)
        done["error"] = f"{type(error).__name__}: {' '.join(str(error).split())}"
    done["seconds"] = time.perf_counter() - started
    return done


async def serve(request: str, device: str) -> None:
    """Runs the cases of a request file and prints the outcome of each."""
    for case in json.loads(Path(request).read_text("utf-8")):
        print(json.dumps(await run(case, device)), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        asyncio.run(serve(line.strip(), sys.argv[1]))
