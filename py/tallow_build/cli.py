"""The commands of build.py and their arguments."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from . import checks, setup
from .content import training
from .errors import BuildError
from .paths import DIST, ROOT, shown
from .process import become
from .progress import say
from .serving import address
from .serving.devices import DEVICES

# A test file stays in one process, so that its fixtures are set up once (the op suite: a device's
# tests, tests/conftest.py). -n 0 runs serially.
_SIDE_BY_SIDE = (
    *("--numprocesses=auto", "--maxprocesses=4"),
    *("--dist=loadfile", "--no-loadscope-reorder"),  # in order, the quick tiers first
)
# Threads of NumPy's BLAS that wait for each other keep their cores busy, which the other processes
# need: with two of them an epoch's steps took four times as much processor time as with one.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
_PLUGINS = ("-p", "tests.second_try", "-p", "tests.processor_time")

Command = Callable[[argparse.Namespace], int]


def main(argv: Sequence[str]) -> int:
    """Runs one command and returns its exit status."""
    passes_on = argv[:1] in (["test"], ["bench"], ["conformance"], ["fuzz"])
    options = _parser().parse_args(argv[:1] if passes_on else argv)
    options.rest = list(argv[1:])
    command: Command = options.command
    try:
        return command(options)
    except BuildError as error:
        say(str(error))
    except OSError as error:
        say(f"build.py {argv[0]} failed: {error}\nWhat to do: fix that and try again")
    except KeyboardInterrupt:
        say("\nInterrupted. Nothing is left half done; run the same command to continue.")
        return 130
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="build.py", description="Builds, serves and tests Tallow."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, command: Command, words: str) -> argparse.ArgumentParser:
        one = commands.add_parser(name, help=words, description=words)
        one.set_defaults(command=command)
        return one

    serve = add("serve", _serve, "build dist/, serve it and print its address")
    serve.add_argument("--host", default="127.0.0.1", help="default: %(default)s, this machine")
    serve.add_argument(
        "--port", type=int, default=8000, help="default: %(default)s; 0: any free port"
    )
    add("test", _test, "run the tests; arguments go to pytest")
    build = add("build", _build, "build dist/, which any static web server can host")
    words = "compress less, as for tests: a minute faster, an eighth larger"
    build.add_argument("--quick", action="store_true", help=words)
    wheel = add(
        "wheel", _wheel, "build the wheel of tallow, which needs no Node, and print its path"
    )
    words = "put a copy into this folder, which is made if it is missing"
    wheel.add_argument("--into", type=Path, metavar="FOLDER", help=words)
    words = "build the images of deploy/ and run them: without a registry of images or a daemon"
    rehearse = add("rehearse", _rehearse, words)
    rehearse.add_argument("image", nargs="?", choices=("serve", "page"), help="default: both")
    check = add("check", _check, "check format, lint and types of Python and JavaScript")
    check.add_argument("--fix", action="store_true", help="first apply automatic fixes")
    add("bench", _bench, "measure the models; arguments go to bench/run.py")
    words = "run the official ONNX cases and write docs/onnx-support.md; see --help"
    add("conformance", _conformance, words)
    words = "compare random models with onnxruntime to find wrong answers; see --help"
    add("fuzz", _fuzz, words)
    run = add("run", _run, "run a Python file in headless Chromium's Pyodide, with tallow")
    run.add_argument("script", type=Path, metavar="FILE.py")
    words = "default: webgpu, or numpy if that is unavailable"
    run.add_argument("--device", choices=DEVICES, help=words)
    words = "has `import torch` find tallow.torch, as python -m tallow run --as-torch does"
    run.add_argument("--as-torch", action="store_true", help=words)
    words = "make this file available to the script, by its base name; may be repeated"
    run.add_argument("--file", type=Path, action="append", default=[], dest="files", help=words)
    words = "a variable of the script's environment, as NAME=VALUE; may be repeated"
    run.add_argument("--set", action="append", default=[], dest="variables", help=words)
    models = add("models", _models, "rebuild the models from their sources")
    models.add_argument("--train", action="store_true", help="also retrain the digit network")
    return parser


def _serve(options: argparse.Namespace) -> int:
    address.listen(
        options.host, options.port
    ).close()  # fail now rather than after minutes of setup
    setup.for_site()
    where = ("--host", options.host, "--port", str(options.port))
    become("-m", "tallow_build.serving.server", DIST, *where)


def _build(options: argparse.Namespace) -> int:
    setup.for_site(tight=not options.quick)
    print(f"{shown(DIST)} is up to date.")
    return 0


def _wheel(options: argparse.Namespace) -> int:
    wheel = setup.for_wheel()
    if options.into:
        options.into.mkdir(parents=True, exist_ok=True)
        wheel = shutil.copyfile(wheel, options.into / wheel.name)
    print(shown(wheel))
    return 0


def _rehearse(options: argparse.Namespace) -> int:
    setup.for_checks()
    if options.image != "serve":
        setup.for_site()
    become("-m", "tallow_build.rehearsal", *([options.image] if options.image else []))


def _test(options: argparse.Namespace) -> int:
    variables = _prepared(options, setup.for_tests) | _ONE_THREAD
    become("-m", "pytest", *_PLUGINS, *_SIDE_BY_SIDE, *options.rest, extra=variables, cwd=ROOT)


def _prepared(options: argparse.Namespace, prepare: Callable[[], dict[str, str]]) -> dict[str, str]:
    """The environment of a command whose arguments go on to another program. That program's help
    needs Python's packages only, and no build."""
    if "-h" in options.rest or "--help" in options.rest:
        setup.for_checks()
        return {}
    return prepare()


def _check(options: argparse.Namespace) -> int:
    setup.for_checks()
    return checks.run(fix=options.fix)


def _bench(options: argparse.Namespace) -> int:
    variables = _prepared(options, lambda: setup.for_browser(tight=True))  # it counts downloads
    become(ROOT / "bench" / "run.py", *options.rest, extra=variables)


def _conformance(options: argparse.Namespace) -> int:
    variables = _prepared(options, setup.for_browser)
    become("-m", "tests.onnx.conformance", *options.rest, extra=variables, cwd=ROOT)


def _fuzz(options: argparse.Namespace) -> int:
    variables = _prepared(options, setup.for_browser)
    become("-m", "tests.fuzz", *options.rest, extra=variables, cwd=ROOT)


def _run(options: argparse.Namespace) -> int:
    for path in (options.script, *options.files):
        if not path.is_file():
            why, remedy = f"{path} is not a file", "give the path of an existing file"
            raise BuildError("Running a script", why, remedy)
    if wrong := [each for each in options.variables if "=" not in each]:
        raise BuildError("Running a script", f"--set {wrong[0]} has no =", "say NAME=VALUE")
    variables = setup.for_browser()
    device = ["--device", options.device] if options.device else []
    files = [part for path in options.files for part in ("--file", path)]
    door = ["--as-torch"] if options.as_torch else []
    files += [part for each in options.variables for part in ("--set", each)]
    become(
        "-m", "tallow_build.serving.script", *device, *door, *files, options.script, extra=variables
    )


def _models(options: argparse.Namespace) -> int:
    setup.models_again(train=options.train)
    if options.train:
        training.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
