"""deploy/kubernetes and deploy/kserve.yaml: by Kubernetes' own schemas, and by each other."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import kubernetes_validate
import pytest
from tests.unit.deploy.manifests import (
    KSERVE,
    KUBERNETES,
    PORTS,
    named,
    objects,
    of_kind,
    pods,
    predictor,
    read,
)

KUSTOMIZATION = read(KUBERNETES / "kustomization.yaml")
OLDEST, NEWEST = "1.30", "1.37"
"""1.30 is the first that has preStop's sleep without being asked for it."""


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("one", objects(), ids=named)
def test_schema(one, version):
    kubernetes_validate.validate(one, version, strict=True)


def test_the_schema_refuses_a_misspelt_field():
    wrong = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "a"},
        "spec": {"prots": []},
    }
    with pytest.raises(kubernetes_validate.ValidationError, match="prots"):
        kubernetes_validate.validate(wrong, NEWEST, strict=True)


def test_the_kustomization_applies_every_file():
    others = {path.name for path in KUBERNETES.glob("*.yaml")} - {"kustomization.yaml"}
    assert set(KUSTOMIZATION["resources"]) == others
    assert KUSTOMIZATION["namespace"] in of_kind("Namespace")


def test_the_predictor_of_kserve():
    """KServe's schema is not in a package; of its predictor all is a pod's but for five fields."""
    whole = read(KSERVE)
    assert (whole["apiVersion"], whole["kind"]) == (
        "serving.kserve.io/v1beta1",
        "InferenceService",
    )
    own, pod = predictor()
    assert 0 < own["minReplicas"] <= own["maxReplicas"]
    assert own["scaleMetric"] in ("concurrency", "cpu", "memory", "rps")
    assert own["scaleTarget"] > 0
    assert own["timeout"] > 0
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": pod}
    for version in (OLDEST, NEWEST):
        kubernetes_validate.validate(made, version, strict=True)
    (container,) = pod["containers"]
    assert container["name"] == "kserve-container"  # KServe looks for it
    variables = {each["name"]: each.get("value") for each in container["env"]}
    assert variables["PROTOCOL"] == "v2"
    assert re.match(r"(pvc|s3|gs|https|hf)://", variables["STORAGE_URI"])
    assert container["args"][0].startswith("/mnt/models/")  # where KServe puts them
    assert [each["name"] for each in container["ports"]] == ["http1", "grpc"]


@pytest.mark.parametrize("name", pods())
def test_pods_are_confined(name):
    """Pod Security Standards, "restricted", which the namespace enforces; and read-only."""
    pod = pods()[name]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] > 0
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in pod["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    labels = of_kind("Namespace")["tallow"]["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize("name", pods())
def test_pods_have_what_they_refer_to(name):
    pod = pods()[name]
    (container,) = pod["containers"]
    volumes = {each["name"] for each in pod["volumes"]}
    assert {each["name"] for each in container["volumeMounts"]} == volumes
    assert all("sizeLimit" in each["emptyDir"] for each in pod["volumes"])
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        asked = container[probe]["httpGet"]["port"]
        assert ports.get(asked, asked) == PORTS["http"]
    accounts = of_kind("ServiceAccount")
    assert pod.get("serviceAccountName", "tallow") in accounts
    for source in container.get("envFrom", ()):
        assert source["configMapRef"]["name"] in of_kind("ConfigMap")
    assert set(container["resources"]) == {"requests", "limits"}
    for resource in ("cpu", "memory"):
        assert amount(container["resources"]["requests"][resource]) <= amount(
            container["resources"]["limits"][resource]
        )


def amount(text: str) -> float:
    found = re.fullmatch(r"(\d+)(m|Mi|Gi|)", text)
    assert found, text
    return float(found[1]) * {"m": 1e-3, "": 1, "Mi": 2**20, "Gi": 2**30}[found[2]]


@pytest.mark.parametrize("name", ["tallow-serve", "kserve"])
def test_the_service_s_probes(name):
    (container,) = pods()[name]["containers"]
    paths = {
        probe: container[f"{probe}Probe"]["httpGet"]["path"]
        for probe in ("startup", "liveness", "readiness")
    }
    assert paths == {
        "startup": "/v2/health/ready",
        "liveness": "/v2/health/live",
        "readiness": "/v2/health/ready",
    }
    start = container["startupProbe"]
    assert start["periodSeconds"] * start["failureThreshold"] >= 120  # weights, and lavapipe


@pytest.mark.parametrize("name", pods())
def test_a_pod_has_time_to_end(name):
    """preStop, and what `serve` gives requests in hand (its --grace)."""
    pod = pods()[name]
    before = pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert before + (20 if name == "tallow-page" else 30) < pod["terminationGracePeriodSeconds"]


@pytest.mark.parametrize("name", of_kind("Deployment"))
def test_an_update_leaves_no_gap(name):
    update = of_kind("Deployment")[name]["spec"]["strategy"]
    assert update["type"] == "RollingUpdate"
    assert update["rollingUpdate"]["maxUnavailable"] == 0
    assert update["rollingUpdate"]["maxSurge"] > 0


def test_selectors_find_pods():
    labels = [
        each["spec"]["template"]["metadata"]["labels"] for each in of_kind("Deployment").values()
    ]

    def found(selector):
        return [one for one in labels if selector.items() <= one.items()]

    for name, each in of_kind("Deployment").items():
        assert found(each["spec"]["selector"]["matchLabels"]) == [
            each["spec"]["template"]["metadata"]["labels"]
        ], name
        for spread in each["spec"]["template"]["spec"]["topologySpreadConstraints"]:
            assert len(found(spread["labelSelector"]["matchLabels"])) == 1
    for each in of_kind("Service").values():
        assert len(found(each["spec"]["selector"])) == 1, named(each)
    for each in of_kind("PodDisruptionBudget").values():
        assert len(found(each["spec"]["selector"]["matchLabels"])) == 1, named(each)
    policies = [
        each["spec"]["podSelector"].get("matchLabels", {})
        for each in of_kind("NetworkPolicy").values()
    ]
    assert sorted(len(found(each)) for each in policies) == [1, 1, len(labels)]


def test_services_reach_ports_of_their_pods():
    ports = {}
    for each in of_kind("Deployment").values():
        template = each["spec"]["template"]
        name = template["metadata"]["labels"]["app.kubernetes.io/name"]
        ports[name] = {one["name"] for one in template["spec"]["containers"][0]["ports"]}
    for each in of_kind("Service").values():
        known = ports[each["spec"]["selector"]["app.kubernetes.io/name"]]
        assert {one["targetPort"] for one in each["spec"]["ports"]} <= known
    for each in of_kind("NetworkPolicy").values():
        chosen = each["spec"]["podSelector"].get("matchLabels", {})
        for rule in each["spec"].get("ingress", ()):
            asked = {one["port"] for one in rule["ports"]}
            assert asked <= ports[chosen["app.kubernetes.io/name"]]
    (ingress,) = of_kind("Ingress").values()
    for rule in ingress["spec"]["rules"]:
        assert rule["host"] in ingress["spec"]["tls"][0]["hosts"]
        for path in rule["http"]["paths"]:
            target = path["backend"]["service"]
            exposed = of_kind("Service")[target["name"]]["spec"]["ports"]
            assert target["port"]["name"] in {one["name"] for one in exposed}


def test_the_autoscaler():
    (scaler,) = of_kind("HorizontalPodAutoscaler").values()
    target = scaler["spec"]["scaleTargetRef"]
    deployment = of_kind(target["kind"])[target["name"]]
    assert deployment["apiVersion"] == target["apiVersion"]
    assert "replicas" not in deployment["spec"]  # applying would undo what it chose
    assert 1 < scaler["spec"]["minReplicas"] <= scaler["spec"]["maxReplicas"]
    budget = of_kind("PodDisruptionBudget")[target["name"]]["spec"]
    assert budget["maxUnavailable"] < scaler["spec"]["minReplicas"]
    assert "cpu" in pods()["tallow-serve"]["containers"][0]["resources"]["requests"]  # its base


def test_telemetry_gets_out():
    """The policy lets pods reach the collector that their settings name."""
    settings = of_kind("ConfigMap")["tallow-serve"]["data"]
    endpoint = urlsplit(settings["OTEL_EXPORTER_OTLP_ENDPOINT"])
    _, namespace, _ = endpoint.hostname.split(".")
    ways = [
        (way["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"], port["port"])
        for rule in of_kind("NetworkPolicy")["tallow-serve"]["spec"]["egress"]
        for way in rule["to"]
        for port in rule["ports"]
    ]
    assert (namespace, endpoint.port) in ways
    assert ("kube-system", 53) in ways  # whose address has to be looked up
