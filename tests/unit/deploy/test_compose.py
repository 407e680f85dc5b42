"""deploy/compose.yaml: by the Compose specification's schema, beside what it mounts and runs."""

from __future__ import annotations

import re
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from tests.unit.deploy.manifests import (
    COMPOSE,
    CONTAINERFILES,
    DEPLOY,
    PORTS,
    instructions,
    options,
    read,
)

SERVICES = read(COMPOSE)["services"]
COLLECTOR = read(DEPLOY / "collector.yaml")


def schema(path):
    command = ["check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(path)]
    return subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, timeout=60
    )


def test_schema(tmp_path):
    done = schema(COMPOSE)
    assert done.returncode == 0, done.stdout
    wrong = tmp_path / "compose.yaml"
    wrong.write_text(COMPOSE.read_text("utf-8").replace("cap_drop:", "cap_dorp:", 1), "utf-8")
    done = schema(wrong)
    assert done.returncode == 1
    assert "cap_dorp" in done.stdout


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_confined(name):
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert {"cpus", "mem_limit", "pids_limit", "stop_grace_period"} <= service.keys()
    for port in service.get("ports", ()):
        assert port.startswith("127.0.0.1:")  # neither encrypted nor, without a token, guarded


@pytest.mark.parametrize("name", SERVICES)
def test_what_it_names_is_there(name):
    service = SERVICES[name]
    for each in service.get("volumes", ()):
        source, target, *mode = each.split(":")
        if source.startswith("./"):
            assert (COMPOSE.parent / source).is_file()
            assert mode == ["ro"]
            assert any(option.endswith(f"={target}") for option in service["command"])
        else:
            assert source in read(COMPOSE)["volumes"]
    assert set(service.get("depends_on", ())) <= SERVICES.keys()
    if "build" in service:
        where = COMPOSE.parent / service["build"]["context"] / service["build"]["dockerfile"]
        assert where.resolve() == CONTAINERFILES[name.removesuffix("-2")]


def test_health_is_asked_as_in_the_images():
    for name in CONTAINERFILES:
        (health,) = instructions(name, "HEALTHCHECK")
        settings, _, command = health.partition("CMD ")
        test = SERVICES[name]["healthcheck"]
        assert [test["test"][0], *test["test"][1:]] == ["CMD", *eval(command)]
        asked = {
            "interval": test["interval"],
            "timeout": test["timeout"],
            "start-period": test["start_period"],
            "retries": str(test["retries"]),
        }
        assert dict(each[2:].split("=") for each in settings.split()) == asked


def test_ports_of_the_service():
    inside = {int(each.split(":")[-1]) for each in SERVICES["serve"]["ports"]}
    assert inside == set(PORTS.values())
    (page,) = SERVICES["page"]["ports"]
    assert page.endswith(f":{PORTS['http']}")


def test_the_balance_reaches_both_replicas():
    """Each is told to be unready for longer than the balance takes to see it."""
    replicas = SERVICES["balance"]["environment"]["TALLOW_REPLICAS"].split()
    assert replicas == [f"{name}:{PORTS['http']}" for name in ("serve", "serve-2")]
    assert SERVICES["balance"]["depends_on"] == ["serve", "serve-2"]
    text = (DEPLOY / "balance" / "Caddyfile").read_text("utf-8")
    (interval,) = map(int, re.findall(r"health_interval (\d+)s", text))
    (timeout,) = map(int, re.findall(r"health_timeout (\d+)s", text))
    for name in ("serve", "serve-2"):
        told = options(SERVICES[name]["command"])
        assert interval + timeout <= int(told["drain"])
        given = int(SERVICES[name]["stop_grace_period"].removesuffix("s"))
        assert int(told["drain"]) + 30 < given  # the time of --grace
    assert f"ARG CADDY={SERVICES['balance']['image']}\n" in CONTAINERFILES["page"].read_text(
        "utf-8"
    )
    assert SERVICES["serve-2"].keys() - SERVICES["serve"].keys() == {"profiles"}


def test_telemetry_arrives():
    """From the service to the collector, and from both to Prometheus."""
    endpoint = urlsplit(SERVICES["serve"]["environment"]["OTEL_EXPORTER_OTLP_ENDPOINT"])
    assert endpoint.hostname in SERVICES
    protocols = COLLECTOR["receivers"]["otlp"]["protocols"]
    assert port(protocols["http"]) == endpoint.port
    exposed = [port(one) for one in (*protocols.values(), COLLECTOR["exporters"]["prometheus"])]
    assert SERVICES["collector"]["expose"] == [str(one) for one in exposed]
    jobs = read(DEPLOY / "prometheus.yaml")["scrape_configs"]
    assert [
        target for job in jobs for one in job["static_configs"] for target in one["targets"]
    ] == [
        f"serve:{PORTS['http']}",
        f"collector:{exposed[-1]}",
    ]


def port(record):
    host, _, number = record["endpoint"].rpartition(":")
    assert host == "0.0.0.0"
    return int(number)


def test_the_collector_s_pipelines_have_their_parts():
    pipelines = COLLECTOR["service"]["pipelines"]
    assert set(pipelines) == {"metrics", "traces", "logs"}  # tl.telemetry sends all three
    for pipeline in pipelines.values():
        for kind, names in pipeline.items():
            assert names
            assert set(names) <= COLLECTOR[kind].keys()
    limit = int(SERVICES["collector"]["mem_limit"].removesuffix("m"))
    assert COLLECTOR["processors"]["memory_limiter"]["limit_mib"] < limit
