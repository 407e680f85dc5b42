"""Rehearses deploy/: builds the images by their Containerfiles, runs them under what compose.yaml
allows them, asks for their health as they say, and ends them with SIGTERM.

    python -m tallow_build.rehearsal [serve|page]
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import yaml
from dockerfile_parse import DockerfileParser

from ..errors import BuildError
from ..paths import DIST, ROOT
from ..progress import say
from . import bases, podman

_COMPOSE = ROOT / "deploy" / "compose.yaml"

_PATIENCE = 120
"""Seconds until a service has to be healthy."""

_ASK = """
import sys
from urllib.request import Request, urlopen
data = sys.argv[2].encode() if len(sys.argv) > 2 else None
headers = {"Content-Type": "application/json"}
request = Request("http://127.0.0.1:8080" + sys.argv[1], data, headers)
print(urlopen(request).read().decode())
"""

_IMAGE = {"name": "image", "datatype": "FP32", "shape": [1, 1, 28, 28], "data": [0.0] * 784}


def main(names: Sequence[str]) -> int:
    """Rehearses the images of these names, or all. Returns an exit status."""
    services = yaml.safe_load(_COMPOSE.read_text("utf-8"))["services"]
    try:
        podman.ensure()
        for name in names or _CHECKS:
            service = services[name]
            _build(name, service)
            _CHECKS[name](service)
            say(f"{service['image']}: built, and it does what deploy/ says.")
    except BuildError as error:
        say(str(error))
        return 1
    return 0


def _build(name: str, service: dict[str, Any]) -> None:
    file = _COMPOSE.parent / service["build"]["context"] / service["build"]["dockerfile"]
    with file.open("rb") as content:
        parents = DockerfileParser(fileobj=content).parent_images
    bases.ensure(parents[-1])
    # The page's first stage is `build.py build`, which has run; it isn't done again.
    ready = ("--build-context", f"dist={DIST}") if name == "page" else ()
    podman.build(file, service["image"], ROOT, *ready)


def _serve(service: dict[str, Any]) -> None:
    image = service["image"]
    _refuses_to_write(service)
    python = ("--entrypoint", "python")
    for device in ("webgpu", "wasm", "numpy"):
        bench = ("-m", "tallow", "bench", "/models/mnist.onnx", "--device", device, "--runs", "3")
        say(podman.podman("run", "--rm", *_confined(service), *python, image, *bench).strip())
    with _running(service) as ask:
        for path in ("/v2/health/live", "/v2/models/mnist", "/metrics"):
            say(f"{path}: {ask('python', '-c', _ASK, path).strip()[:200]}")
        path, body = "/v2/models/mnist/infer", json.dumps({"inputs": [_IMAGE]})
        answer = json.loads(ask("python", "-c", _ASK, path, body))
        (output,) = answer["outputs"]
        say(f"{path}: {output['name']} {output['shape']}")


def _page(service: dict[str, Any]) -> None:
    with _running(service) as ask:
        headers = ask("wget", "-S", "-q", "-O", "/dev/null", "http://127.0.0.1:8080/index.html")
        if "Cross-Origin-Embedder-Policy: require-corp" not in headers:
            raise BuildError("Asking for the page", f"its headers are {headers}", "see Caddyfile")


_CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {"serve": _serve, "page": _page}


def _confined(service: dict[str, Any]) -> list[str]:
    """What compose.yaml allows a service, as options of Podman. It has no network but its own."""
    given = ["--network", "none", "--memory", service["mem_limit"]]
    given += ["--pids-limit", str(service["pids_limit"]), "--no-healthcheck"]
    given += ["--read-only"] if service["read_only"] else []
    given += [f"--cap-drop={each}" for each in service["cap_drop"]]
    given += [f"--security-opt={each.partition(':')[0]}" for each in service["security_opt"]]
    given += [f"--tmpfs={each}" for each in service["tmpfs"]]
    variables = service.get("environment", {}).items()
    return given + [f"--env={name}={value}" for name, value in variables if "$" not in value]


def _refuses_to_write(service: dict[str, Any]) -> None:
    touch = "id -u; touch /models/one && echo written; touch /cache/one /tmp/one && echo kept"
    options = ("--rm", *_confined(service), "--entrypoint", "sh")
    words = podman.attempt("run", *options, service["image"], "-c", touch).stdout.split()
    user = podman.config(service["image"])["User"].partition(":")[0]
    if words != [user, "kept"]:
        raise BuildError("Writing in a container", f"it said {words}", "see USER and VOLUME")


@contextmanager
def _running(service: dict[str, Any]) -> Iterator[Callable[..., str]]:
    """Starts a service, waits until it is healthy, and ends it. Gives a function that runs a
    command in it and returns what that printed."""
    image = service["image"]
    health = podman.config(image)["Healthcheck"]["Test"]
    options = ("--detach", *_confined(service), image, *service.get("command", ()))
    name = podman.podman("run", *options, step=f"Starting {image}").strip().splitlines()[-1]

    def ask(*command: str) -> str:
        done = podman.attempt("exec", name, *command)
        if done.returncode:
            raise BuildError(f"Running {command[0]} in {image}", done.stderr, "see above")
        return done.stdout + done.stderr

    try:
        began = time.monotonic()
        while podman.attempt("exec", name, *health[1:]).returncode:
            alive = podman.podman("inspect", "--format", "{{.State.Running}}", name).strip()
            if alive != "true" or time.monotonic() - began > _PATIENCE:
                why = f"it is not healthy after {time.monotonic() - began:.0f} s"
                raise BuildError(f"Starting {image}", f"{why}: {_log(name)}", "see what it printed")
            time.sleep(0.5)
        say(f"{image}: healthy after {time.monotonic() - began:.1f} s")
        yield ask
        began = time.monotonic()
        grace = service["stop_grace_period"].removesuffix("s")
        podman.podman("stop", "--time", grace, name, step=f"Ending {image}")
        status = podman.podman("inspect", "--format", "{{.State.ExitCode}}", name).strip()
        say(f"{image}: ended after {time.monotonic() - began:.1f} s with status {status}")
        if status != "0":
            raise BuildError(f"Ending {image}", f"its status is {status}: {_log(name)}", "see it")
    finally:
        podman.attempt("rm", "--force", "--volumes", name)


def _log(name: str) -> str:
    done = podman.attempt("logs", name)
    return (done.stdout + done.stderr)[-2000:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
