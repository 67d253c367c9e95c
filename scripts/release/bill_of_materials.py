"""The bill of materials of a release (SBOM), in the format of CycloneDX, and the checksums of its files.

moir's wheel contains no code of others. Listed is what pip installs with it on the day of the release: each package
with its version, the digest of its archive, its licence and its own requirements.

Source: https://cyclonedx.org/docs/1.6.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CHECKSUMS = "SHA256SUMS"


def resolved(python: str, wheel: Path) -> list[Mapping[str, Any]]:
    """What pip would install for a wheel in an empty environment: the items `install` of its report, without the wheel.

    Raises CalledProcessError if the requirements cannot be met.
    """
    options = ["--dry-run", "--ignore-installed", "--quiet", "--disable-pip-version-check", "--report", "-"]
    report = subprocess.run([python, "-m", "pip", "install", *options, str(wheel)], check=True, capture_output=True, text=True).stdout
    own = canonicalize_name("moir")
    return [each for each in json.loads(report)["install"] if canonicalize_name(each["metadata"]["name"]) != own]


def bill_of_materials(wheel: Path, installed: Sequence[Mapping[str, Any]], requirements: Sequence[str], version: str, epoch: int) -> str:
    """The bill of materials as JSON; the same for the same arguments.

    Args:
        wheel: the wheel.
        installed: the packages that are installed with it, as `resolved` returns them.
        requirements: the requirements of moir.
        version: the version of moir.
        epoch: the time of the release in seconds since 1970.
    """
    packages: dict[str, Mapping[str, Any]] = {canonicalize_name(each["metadata"]["name"]): each for each in installed}
    references = {name: f"pkg:pypi/{name}@{each['metadata']['version']}" for name, each in sorted(packages.items())}
    root = f"pkg:pypi/moir@{version}"
    needs = {root: requirements} | {references[name]: packages[name]["metadata"].get("requires_dist", []) for name in references}
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "library",
                "bom-ref": root,
                "name": "moir",
                "version": version,
                "purl": root,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "hashes": [{"alg": "SHA-256", "content": digest(wheel)}],
            },
        },
        "components": [_component(packages[name], reference) for name, reference in references.items()],
        "dependencies": [{"ref": each, "dependsOn": _references(needs[each], references)} for each in needs],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _component(package: Mapping[str, Any], reference: str) -> dict[str, Any]:
    metadata = package["metadata"]
    component: dict[str, Any] = {"type": "library", "bom-ref": reference, "name": metadata["name"], "version": metadata["version"]}
    component["purl"] = reference
    if expression := metadata.get("license_expression"):
        component["licenses"] = [{"expression": expression}]
    elif names := [each.rpartition(" :: ")[2] for each in metadata.get("classifier", []) if each.startswith("License ::")]:
        component["licenses"] = [{"license": {"name": each}} for each in names]
    elif text := metadata.get("license"):
        component["licenses"] = [{"license": {"name": text.splitlines()[0]}}]
    if sha256 := package.get("download_info", {}).get("archive_info", {}).get("hashes", {}).get("sha256"):
        component["hashes"] = [{"alg": "SHA-256", "content": sha256}]
    return component


def _references(requirements: Sequence[str], references: Mapping[str, str]) -> list[str]:
    """The packages that requirements without an extra name, as far as they are installed."""
    needed = [each for each in map(Requirement, requirements) if each.marker is None or each.marker.evaluate({"extra": ""})]
    return sorted({references[name] for each in needed if (name := canonicalize_name(each.name)) in references})


def digest(path: Path) -> str:
    """The SHA-256 of a file, as hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def checksums(files: Sequence[Path]) -> str:
    """The digests of files as `sha256sum --check` reads them."""
    return "".join(f"{digest(each)}  {each.name}\n" for each in sorted(files, key=lambda each: each.name))
