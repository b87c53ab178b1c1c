"""The bill of materials names every pinned package with its hashes."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_the_bill_of_materials_holds_what_the_lock_pins(lock: str) -> None:
    output = subprocess.run(
        [ROOT / "scripts" / "sbom", lock], capture_output=True, text=True, check=True
    ).stdout
    document = json.loads(output)
    text = (ROOT / lock).read_text()
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    names = [f"{part['name']}=={part['version']}" for part in document["components"]]
    assert names == re.findall(r"^[\w.-]+==[^\s;]+", text, re.MULTILINE)
    references = [part["bom-ref"] for part in document["components"]]
    assert len(set(references)) == len(references)
    assert document["dependencies"][0]["dependsOn"] == references
    hashes = {
        file["hashes"][0]["content"]
        for part in document["components"]
        for file in part["externalReferences"]
    }
    assert hashes == set(re.findall(r"sha256:([0-9a-f]{64})", text))
