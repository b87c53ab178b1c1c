"""Prints a software bill of materials (CycloneDX 1.6, JSON) of the packages that a lock file pins."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
import uuid
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENT = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)(?:\s*;\s*([^\\]+?))?\s*\\?$")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def main() -> None:
    lock = ROOT / (sys.argv[1] if len(sys.argv) > 1 else "requirements.lock")
    sys.stdout.write(json.dumps(build_sbom(lock.read_text()), indent=2) + "\n")


def build_sbom(lock: str) -> dict[str, Any]:
    """The same lock file always gives the same document."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    components = list_components(lock)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.UUID(bytes=hashlib.sha256(lock.encode()).digest()[:16], version=4)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": project["name"],
                "name": project["name"],
                "version": project["version"],
            }
        },
        "components": components,
        "dependencies": [
            {"ref": project["name"], "dependsOn": [part["bom-ref"] for part in components]}
        ],
    }


def list_components(lock: str) -> list[dict[str, Any]]:
    components: list[dict[str, Any]] = []
    for line in lock.splitlines():
        if requirement := REQUIREMENT.match(line):
            components.append(_component(*requirement.groups()))
        elif digest := HASH.search(line):
            # Each hash is of one file: a wheel for a platform, or the source.
            components[-1].setdefault("externalReferences", []).append(
                {
                    "type": "distribution",
                    "url": components[-1]["purl"],
                    "hashes": [{"alg": "SHA-256", "content": digest[1]}],
                }
            )
        elif line.strip() and not line.lstrip().startswith("#"):
            raise SystemExit(f"cannot read this line of the lock file: {line!r}")
    return components


def _component(name: str, version: str, marker: str | None) -> dict[str, Any]:
    purl = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
    }
    if marker:
        component["properties"] = [{"name": "python:marker", "value": marker}]
    return component


if __name__ == "__main__":
    main()
