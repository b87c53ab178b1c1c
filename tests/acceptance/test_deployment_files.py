"""The container image, the compose file, the systemd units and the workflow follow their rules. No
container engine runs them here."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PINNED = re.compile(r".+:v?\d+\.\d+(\.\d+)?(-[a-z-]+)?")
INSTRUCTIONS = [
    line.split(maxsplit=1)
    for line in (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    if line.strip() and not line.startswith("#")
]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def arguments(instruction: str) -> list[str]:
    return [rest for name, rest in INSTRUCTIONS if name == instruction]


def test_the_image_is_built_in_two_stages_from_pinned_images() -> None:
    images = [text.split()[0] for text in arguments("FROM")]
    assert len(images) == 2
    assert all(PINNED.fullmatch(image) for image in images)
    assert "--require-hashes" in " ".join(arguments("RUN"))


def test_the_image_runs_without_root_and_is_watched() -> None:
    last_stage = INSTRUCTIONS[
        max(i for i, (name, _) in enumerate(INSTRUCTIONS) if name == "FROM") :
    ]
    order = [name for name, _ in last_stage]
    assert order.index("USER") < order.index("ENTRYPOINT")
    assert arguments("USER") == ["10001:10001"]
    [check] = arguments("HEALTHCHECK")
    assert "/healthz" in check


def test_the_image_gets_all_that_the_build_needs_and_no_more() -> None:
    allowed = {
        line[1:]
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    copied = {
        name
        for text in arguments("COPY")
        if not text.startswith("--from")
        for name in text.split()[:-1]
    }
    assert copied == allowed
    assert all((ROOT / name).exists() for name in copied)


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_pinned_watched_and_confined(name: str) -> None:
    service = SERVICES[name]
    assert PINNED.fullmatch(service["image"])
    assert "build" in service or "healthcheck" in service
    assert "no-new-privileges:true" in service["security_opt"]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    files = [text.split(":")[0] for text in service["volumes"] if text.startswith("./")]
    assert all((ROOT / file).is_file() for file in files)
    named = {text.split(":")[0] for text in service["volumes"]} - set(files)
    assert named <= COMPOSE["volumes"].keys()
    assert set(service["networks"]) <= COMPOSE["networks"].keys()


def test_monitoring_is_optional_and_passwords_are_not() -> None:
    optional = {name for name, service in SERVICES.items() if service.get("profiles")}
    assert optional == {"prometheus", "grafana"}
    assert ":?" in SERVICES["database"]["environment"]["POSTGRES_PASSWORD"]
    assert SERVICES["database"]["networks"] == ["inside"]


@pytest.mark.skipif(
    subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode
    != 0
    if shutil.which("docker")
    else True,
    reason="the compose plug-in of docker is not installed",
)
def test_docker_accepts_the_compose_file() -> None:
    command = ["docker", "compose", "--profile", "monitoring", "config", "--quiet"]
    subprocess.run(
        command, cwd=ROOT, check=True, env={"POSTGRES_PASSWORD": "x", "PATH": "/usr/bin"}
    )


UNITS = sorted((ROOT / "deploy/systemd").iterdir())


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit.suffix == ".service"], ids=str)
def test_services_run_without_root_and_confined(unit: Path) -> None:
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(unit.read_text())
    service = parser["Service"]
    assert service["User"] == "jobmill"
    for option, expected in {
        "NoNewPrivileges": "yes",
        "ProtectSystem": "strict",
        "ProtectHome": "yes",
        "CapabilityBoundingSet": "",
        "UMask": "0077",
    }.items():
        assert service[option] == expected


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_accepts_the_units() -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", *map(str, UNITS)], check=False, capture_output=True, text=True
    )
    # The program is installed on the server, not here.
    complaints = [line for line in done.stderr.splitlines() if "is not executable" not in line]
    assert complaints == []


def test_the_workflow_covers_the_supported_versions_and_systems() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/check.yaml").read_text())
    jobs = workflow["jobs"]
    matrix = jobs["test"]["strategy"]["matrix"]
    assert [*matrix["python"], "3.11"] == ["3.12", "3.13", "3.14", "3.11"]
    assert {include["os"] for include in matrix["include"]} == {"ubuntu-24.04-arm", "macos-15"}
    assert workflow["permissions"] == {"contents": "read"}
    assert {"run": ".ci/run"} in jobs["check"]["steps"]
