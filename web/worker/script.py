"""Runs Python code in the browser and reports how it ended; called by script.js."""

import json
import sys
import traceback
from types import TracebackType

from pyodide.code import eval_code_async

import __main__
import tallow


def set_device(device: str) -> None:
    """Sets Tallow's default device."""
    tallow.set_default_device(device)


async def run(code: str, filename: str) -> str:
    """Runs code in __main__, with top-level `await`. Prints errors, as Python itself does.

    Returns JSON: {"status": exit status, "result": the last expression's value, null if not JSON}.
    """
    __main__.__file__ = filename
    status, result = 0, "null"
    try:
        result = to_json(await eval_code_async(code, vars(__main__), filename=filename))
    except SystemExit as stop:
        status = exit_status(stop)
    except BaseException as error:
        trace = below(filename, error.__traceback__)
        traceback.print_exception(type(error), error, trace)
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return f'{{"status": {status}, "result": {result}}}'


def to_json(value: object) -> str:
    """The value as strict JSON, or null."""
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return "null"


def exit_status(stop: SystemExit) -> int:
    """As in the interpreter: no code means 0; a text is printed and means 1."""
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code
    print(stop.code, file=sys.stderr)
    return 1


def below(filename: str, trace: TracebackType | None) -> TracebackType | None:
    """The part of a traceback from this file on, without the code that ran it."""
    while trace and trace.tb_frame.f_code.co_filename != filename:
        trace = trace.tb_next
    return trace
