"""The files of deploy/, read once."""

from __future__ import annotations

import json
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import yaml
from dockerfile_parse import DockerfileParser

from tallow_build.paths import ROOT

DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
KSERVE = DEPLOY / "kserve.yaml"
COMPOSE = DEPLOY / "compose.yaml"
CONTAINERFILES = {"serve": DEPLOY / "Containerfile", "page": DEPLOY / "page" / "Containerfile"}
PORTS = {"http": 8080, "grpc": 8081}

Record = dict[str, Any]


@cache
def read(path: Path) -> Any:
    """The only document of a file of YAML."""
    return yaml.safe_load(path.read_text("utf-8"))


@cache
def objects() -> list[Record]:
    """The objects of deploy/kubernetes/, in the order in which they are applied."""
    found: list[Record] = []
    for name in read(KUBERNETES / "kustomization.yaml")["resources"]:
        found += yaml.safe_load_all((KUBERNETES / name).read_text("utf-8"))
    return found


def named(record: Record) -> str:
    return f"{record['kind']} {record['metadata']['name']}"


def of_kind(kind: str) -> dict[str, Record]:
    """The objects of a kind, by their names."""
    return {each["metadata"]["name"]: each for each in objects() if each["kind"] == kind}


def pods() -> dict[str, Record]:
    """The pods' specifications: those of Deployments by their names, KServe's as "kserve"."""
    made = {name: each["spec"]["template"]["spec"] for name, each in of_kind("Deployment").items()}
    return made | {"kserve": predictor()[1]}


def predictor() -> tuple[Record, Record]:
    """Of KServe's predictor what is its own, and what is a pod's."""
    own = ("minReplicas", "maxReplicas", "scaleMetric", "scaleTarget", "timeout")
    whole = read(KSERVE)["spec"]["predictor"]
    return (
        {name: whole[name] for name in own},
        {name: value for name, value in whole.items() if name not in own},
    )


def parsed(name: str) -> DockerfileParser:
    return DockerfileParser(fileobj=BytesIO(CONTAINERFILES[name].read_bytes()))


def instructions(name: str, kind: str) -> list[str]:
    """The values of an instruction in the last stage of a Containerfile, in order."""
    steps = parsed(name).structure
    last = max(i for i, step in enumerate(steps) if step["instruction"] == "FROM")
    return [step["value"] for step in steps[last:] if step["instruction"] == kind]


def served() -> dict[str, list[str]]:
    """The arguments behind `python -m tallow serve`, by who gives them."""
    return {
        "Containerfile": json.loads(instructions("serve", "CMD")[-1]),
        "compose": read(COMPOSE)["services"]["serve"]["command"],
        "kubernetes": pods()["tallow-serve"]["containers"][0]["args"],
        "kserve": pods()["kserve"]["containers"][0]["args"],
    }


def options(arguments: list[str]) -> dict[str, str]:
    """--name=value and --name value, as a dict."""
    found: dict[str, str] = {}
    rest = iter(arguments)
    for each in rest:
        if each.startswith("--"):
            name, equals, value = each[2:].partition("=")
            found[name] = value if equals else next(rest)
    return found
