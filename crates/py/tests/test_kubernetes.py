"""The manifests of ``deploy/kubernetes``: they are valid, and a run on shards has what it needs."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

DEPLOY = Path(__file__).parents[3] / "deploy" / "kubernetes"
yaml = pytest.importorskip("yaml", reason="the manifests are read by PyYAML, which is not installed")


def documents(name: str) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all((DEPLOY / name).read_text()) if one]


def test_manifests_fit_the_schemas_of_kubernetes() -> None:
    try:
        validate = importlib.import_module("kubernetes_validate")
    except ImportError:
        pytest.skip("kubernetes-validate, which has the schemas, is not installed")
    version = validate.latest_version()
    for one in documents("party.yaml") + documents("kuberay.yaml")[:1]:
        validate.validate(one, version, strict=True)
    # The check finds a field that does not exist.
    wrong = documents("party.yaml")[-1]
    wrong["spec"]["completionsMode"] = "Indexed"
    with pytest.raises(validate.ValidationError):
        validate.validate(wrong, version, strict=True)


def test_the_job_is_as_many_shards_as_its_files() -> None:
    *_, job = documents("party.yaml")
    hosts = tomllib.loads((DEPLOY / "hosts.toml").read_text())
    spec = job["spec"]
    assert spec["completionMode"] == "Indexed"
    assert spec["completions"] == spec["parallelism"] == hosts["count"]
    pod = spec["template"]["spec"]
    # Kubernetes never restarts a process in a pod that took part in a run.
    assert pod["restartPolicy"] == "Never" and pod["subdomain"] == "party0"
    assert hosts["address"] == f"{job['metadata']['name']}-{{shard}}.{pod['subdomain']}:7100"
    ports = {port["containerPort"] for port in pod["containers"][0]["ports"]}
    assert ports == {int(hosts[key].rsplit(":", 1)[1]) for key in ("listen", "bind")}
    args = pod["containers"][0]["args"]
    assert args[args.index("--shard") + 1] == "$(SHARD)"
    assert pod["containers"][0]["env"][0]["name"] == "SHARD"
    for container in pod["containers"] + pod["initContainers"]:
        least = container["securityContext"]
        assert least["readOnlyRootFilesystem"] and not least["allowPrivilegeEscalation"]
        assert least["capabilities"] == {"drop": ["ALL"]}
    # Only the party's own pods dial its shards.
    policy = next(one for one in documents("party.yaml") if one["kind"] == "NetworkPolicy")
    inside = next(rule for rule in policy["spec"]["ingress"] if rule["ports"][0]["port"] == 7100)
    assert inside["from"][0]["podSelector"] == policy["spec"]["podSelector"]


def test_ray_repeats_nothing() -> None:
    driver, job = documents("kuberay.yaml")
    compile(driver["data"]["driver.py"], "driver.py", "exec")
    assert job["apiVersion"] == "ray.io/v1" and job["spec"]["backoffLimit"] == 0
    cluster = job["spec"]["rayClusterSpec"]
    groups = [group["groupName"] for group in cluster["workerGroupSpecs"]]
    assert groups == ["shard-0", "shard-1"]
    for group in cluster["workerGroupSpecs"]:
        assert group["replicas"] == group["minReplicas"] == group["maxReplicas"] == 1
        assert group["groupName"] in group["rayStartParams"]["resources"]
    from hushwire import ray

    assert ray.NEVER == {"max_restarts": 0, "max_task_retries": 0}


def test_the_recipe_of_the_image_runs_as_nobody() -> None:
    lines = (DEPLOY / "Containerfile").read_text().splitlines()
    words = [line.split(" ", 1) for line in lines if line and not line.startswith(("#", " "))]
    names = [word[0] for word in words]
    assert names.count("FROM") == 2 and ["USER", "10001:10001"] in words
    # Sources and keys stay in the build stage, which is discarded.
    last = words[len(names) - 1 - names[::-1].index("FROM") :]
    assert all("--from=build" in rest or "LICENSE" in rest for word, rest in last if word == "COPY")


def test_the_recipe_has_a_base_that_is_named_and_the_program_that_it_starts() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    lines = [line.strip() for line in text.splitlines() if line and not line.startswith("#")]
    bases = [line.split()[1] for line in lines if line.startswith("FROM")]
    # A registry, a name and a release, because `latest` can change every day.
    for base in bases:
        registry, _, rest = base.partition("/")
        assert "." in registry and ":" in rest and not rest.endswith(":latest"), base
    # The program has the features for a party on shards, and is in a directory of PATH.
    build = next(line for line in lines if "cargo build" in line)
    assert "--locked" in build and {"sql", "parquet"} <= set(build.split("--features ")[1].split()[0].split(","))
    entry = json.loads(next(line for line in lines if line.startswith("ENTRYPOINT")).split(" ", 1)[1])
    copied = [line.split()[-1] for line in lines if line.startswith("COPY --from=build")]
    assert copied == [f"/usr/local/bin/{entry[0]}"]
    # The build stage has all sources, but neither keys nor earlier build outputs.
    ignored = (DEPLOY.parents[1] / ".dockerignore").read_text().splitlines()
    assert {".git", "target*", "**/*.pem"} <= set(ignored)
    # The image has no part of a job or a key, and every stage ends with a numeric user.
    assert not [word for word in (".pem", "job.toml", "hosts.toml", "ADD ") if word in text]
    assert [line for line in lines if line.startswith("USER")] == ["USER 10001:10001"]
    assert lines.index("USER 10001:10001") > max(at for at, line in enumerate(lines) if line.startswith("COPY"))


def test_the_job_starts_a_command_that_exists() -> None:
    *_, job = documents("party.yaml")
    container = job["spec"]["template"]["spec"]["containers"][0]
    command, *words = container["args"]
    # The entry point is the program, so the arguments are those of `hushwire`.
    assert "command" not in container
    ran = subprocess.run([sys.executable, "-m", "hushwire", command, "--help"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    for word in words:
        if word.startswith("--"):
            assert word in ran.stdout, f"hushwire {command} has no {word}"
    # The pod runs as the image's user, and only this user can read the copy of the key.
    user = job["spec"]["template"]["spec"]["securityContext"]
    assert f"USER {user['runAsUser']}:{user['runAsGroup']}" in (DEPLOY / "Containerfile").read_text()
